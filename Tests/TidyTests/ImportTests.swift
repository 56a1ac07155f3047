import Foundation
import Testing

/// Who may import whom.
///
/// One more line here is a decision: its reason belongs into the commit.
enum ImportRules {
  static let allowed: [String: Set<String>] = [
    "Navigation": [],
    "NavigationProtocol": ["Navigation", "CZlib"],
    // The server and the client know the protocol, and not each other.
    "NavigationHub": ["Navigation", "NavigationProtocol"],
    "NavigationReplica": ["Navigation", "NavigationProtocol"],
    "Simulation": ["Navigation", "NavigationProtocol", "NavigationHub", "NavigationReplica"],
    "Conformance": ["NavigationProtocol", "NavigationHub"],
    "ZeroMQ": system.union(["CZeroMQ", "CLinux"]),
    "Journal": system.union([
      "NavigationHub", "NavigationProtocol", "CSQLite", "CLZ4", "CXXHash", "CLinux",
    ]),
    "CommandLineOptions": system.union(["CArgp"]),
    "RuntimePaths": system.union(["CLinux"]),
    // Key files, which the daemon, its clients and navctl read.
    "CurveKeys": system.union(["ZeroMQ", "RuntimePaths"]),
    // All that libzmq does not do by itself, see docs/transport-guard.md.
    "TransportGuard": system.union([
      "NavigationHub", "NavigationProtocol", "ZeroMQ", "RuntimePaths", "CLinux",
    ]),
    "NavigationDaemon": system.union([
      "Navigation", "NavigationHub", "NavigationProtocol", "ZeroMQ", "Journal", "RuntimePaths",
      "CurveKeys",
      "TransportGuard", "CInih", "CSystemd", "CLinux",
    ]),
    "NavigationClient": system.union([
      "Navigation", "NavigationProtocol", "NavigationReplica", "ZeroMQ", "RuntimePaths",
      "CurveKeys", "CLinux",
    ]),
    "navd": system.union(["NavigationDaemon", "CommandLineOptions", "RuntimePaths"]),
    // navctl sends the operations of the library, and has none of its own.
    "NavctlSupport": system.union([
      "NavigationClient", "Navigation", "NavigationProtocol", "NavigationReplica",
      "CommandLineOptions", "RuntimePaths", "CLinux",
    ]),
    "navctl": system.union([
      "NavctlSupport", "NavigationClient", "Navigation", "NavigationProtocol",
      "NavigationReplica", "CommandLineOptions", "RuntimePaths", "CurveKeys", "CLinux",
    ]),
    // One server over HTTP, in a process of its own; it knows the daemon as any client does.
    "NavigationExporter": system.union([
      "NavigationClient", "Navigation", "NavigationProtocol", "RuntimePaths", "CMicroHTTPD",
      "CLinux",
    ]),
    "navd-exporter": system.union([
      "NavigationExporter", "CommandLineOptions", "RuntimePaths", "CLinux",
    ]),
    "ConsistencyWorker": system.union([
      "NavigationClient", "NavigationProtocol", "NavigationReplica", "Navigation", "CLinux",
    ]),
  ]

  /// What the shells may use of the toolchain; the pure targets have the standard library alone.
  private static let system: Set<String> = ["Glibc", "Synchronization", "Dispatch"]

  /// Reports each import of a target that the table does not name.
  static func check(_ file: SourceFile) -> [Violation] {
    guard file.isSwift, let target = file.sourceTarget else { return [] }
    guard let modules = allowed[target] else {
      return [
        Violation(
          path: file.path, line: 1,
          advice: "the target \(target) is not in the table of imports: add it to ImportRules")
      ]
    }
    return imports(of: file).filter { !modules.contains($0.module) }.map { line, module in
      let names = modules.sorted().joined(separator: ", ")
      return Violation(
        path: file.path, line: line,
        advice: "\(target) must not import \(module); it may import "
          + (names.isEmpty ? "nothing but the standard library" : names))
    }
  }

  /// Reports each C module that more than one target imports; CLinux is for all.
  static func checkSingleImporters(_ files: [SourceFile], modules: [String]) -> [Violation] {
    var violations: [Violation] = []
    for module in modules where module != "CLinux" {
      var first: String?
      for file in files where file.isSwift {
        let folder = file.path.split(separator: "/").prefix(2).joined(separator: "/")
        guard let found = imports(of: file).first(where: { $0.module == module }) else { continue }
        if let first, first != folder {
          violations.append(
            Violation(
              path: file.path, line: found.line,
              advice: "\(first) imports \(module) already: use what \(first) offers"))
        } else {
          first = folder
        }
      }
    }
    return violations
  }

  /// Reports each use of a type that is declared outside `folder` by a file in it.
  ///
  /// For a layer that is a folder and not a module of its own.
  static func checkFolder(_ folder: String, of module: String, _ files: [SourceFile]) -> [Violation]
  {
    let swift = files.filter { $0.isSwift && $0.path.hasPrefix(module) }
    let (inside, outside) = (
      swift.filter { $0.path.hasPrefix(folder) }, swift.filter { !$0.path.hasPrefix(folder) }
    )
    let declaration = #"^(?:package |final )*(?:struct|enum|class|protocol) (\w+)"#
    let names = Set(outside.flatMap { $0.matches(of: declaration, in: .code).map(\.capture) })
    return inside.flatMap { file in
      file.matches(of: #"\b([A-Z]\w*)"#, in: .code).filter { names.contains($0.capture) }.map {
        Violation(
          path: file.path, line: $0.line,
          advice: "\(folder) must not know \($0.capture), which is declared outside it")
      }
    }
  }

  /// The modules that a file imports, with the lines.
  static func imports(of file: SourceFile) -> [(line: Int, module: String)] {
    let kinds = "typealias|struct|class|enum|protocol|let|var|func"
    return file.matches(of: #"(?:^|[\s;])import\s+(?:(?:\#(kinds))\s+)?(\w+)"#, in: .code)
      .map { (line: $0.line, module: $0.capture) }
  }
}

@Suite struct ImportTests {
  @Test func `every target imports only what the table allows`() {
    report(Repository.files.flatMap(ImportRules.check))
  }

  @Test func `the folder JSON knows nothing of messages`() {
    report(
      ImportRules.checkFolder(
        "Sources/NavigationProtocol/JSON/", of: "Sources/NavigationProtocol/", Repository.files))
  }

  @Test func `a use of an upper layer by a folder is found`() {
    let files = [
      SourceFile("Sources/A/Low/B.swift", "struct B {}\nlet c: C? = nil // C"),
      SourceFile("Sources/A/C.swift", "package struct C { var b: B }"),
    ]
    let found = ImportRules.checkFolder("Sources/A/Low/", of: "Sources/A/", files)
    #expect(found.map(\.line) == [2])
  }

  @Test func `each C library has one importer`() {
    let modules = Repository.files.filter { $0.path.hasSuffix("/module.modulemap") }
      .compactMap(\.sourceTarget)
    #expect(modules.contains("CZeroMQ"))
    report(ImportRules.checkSingleImporters(Repository.files, modules: modules))
  }

  @Test(arguments: [
    ("Navigation", "package import Glibc"), ("Simulation", "import Dispatch"),
    ("NavigationHub", "private import CSQLite"), ("navctl", "@preconcurrency import ZeroMQ"),
    ("NavigationDaemon", "import struct Foundation.Date"), ("Unknown", "let a = 1"),
    ("NavigationClient", "import NavigationHub"), ("Journal", "import Glibc; import Foundation"),
  ])
  func `an import outside the table is found`(target: String, line: String) {
    let found = ImportRules.check(SourceFile("Sources/\(target)/A.swift", line))
    #expect(found.map(\.line) == [1])
  }

  @Test func `an allowed import, a comment and a string are not found`() {
    let text = "// import Foundation\nimport CZlib\npackage import Navigation\nlet a = \"import B\""
    #expect(ImportRules.check(SourceFile("Sources/NavigationProtocol/A.swift", text)) == [])
  }

  @Test func `a second importer is found`() {
    let files = [
      "Sources/Journal/A.swift", "Sources/Journal/B.swift", "Tests/JournalTests/C.swift",
    ]
    .map { SourceFile($0, "\nimport CSQLite\nimport CLinux") }
    let found = ImportRules.checkSingleImporters(files, modules: ["CSQLite", "CLinux"])
    #expect(found.map(\.path) == ["Tests/JournalTests/C.swift"])
    #expect(found.map(\.line) == [2])
  }
}
