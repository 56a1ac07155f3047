import Foundation
import Testing

/// Who may import whom.
///
/// One more line here is a decision: its reason belongs into the commit.
enum ImportRules {
  /// By module, or by folder of a module whose folders differ.
  static let allowed: [String: Set<String>] = [
    // The pure core, of both sides and of the server; `layers` has what their folders may use of
    // each other.
    "NavigationCore": ["CZlib"],
    "NavigationHub": ["NavigationCore"],
    "NavigationClient/Replica": ["NavigationCore"],
    // The world of the simulation is a shell of navd's loop, without sockets and files.
    "Simulation": [
      "Journal", "NavigationCore", "NavigationDaemon", "NavigationHub", "NavigationClient",
    ],
    "Conformance": ["NavigationCore", "NavigationHub"],
    "ZeroMQ/Sockets": system.union(["CZeroMQ", "CLinux"]),
    // Keys and their files, which the daemon, its clients and navctl read.
    "ZeroMQ/Keys": system.union(["CZeroMQ", "RuntimePaths"]),
    "Journal": system.union([
      "NavigationCore", "NavigationHub", "RuntimePaths", "CJournal", "CLinux",
    ]),
    // The only module that knows libpq, so that the daemon of one machine does not load it.
    "PostgresJournal": system.union([
      "NavigationCore", "NavigationHub", "Journal", "RuntimePaths", "CPostgreSQL",
    ]),
    "CommandLineOptions": system.union(["RuntimePaths", "CLinux"]),
    "RuntimePaths": system.union(["CLinux"]),
    // The service manager, for the programs that it starts by a socket.
    "Systemd": system.union(["RuntimePaths", "CSystemd", "CLinux"]),
    // All that libzmq does not do by itself, see docs/security.md.
    "TransportGuard": system.union([
      "NavigationCore", "NavigationHub", "ZeroMQ", "RuntimePaths", "CLinux",
    ]),
    "NavigationDaemon": system.union([
      "NavigationCore", "NavigationHub", "ZeroMQ", "Journal", "RuntimePaths", "TransportGuard",
      "Systemd", "CommandLineOptions", "CLinux",
    ]),
    // Observation is the standard library's, for the model that interfaces observe.
    "NavigationClient": system.union([
      "NavigationCore", "ZeroMQ", "RuntimePaths", "CLinux", "Observation",
    ]),
    // The library for C, a layer over the client's connection.
    "NavdC": system.union([
      "CNavd", "NavigationClient", "NavigationCore", "RuntimePaths",
      "ZeroMQ", "CLinux",
    ]),
    "navd": system.union(["NavigationDaemon"]),
    "navd-cluster": system.union([
      "NavigationDaemon", "Journal", "NavigationCore", "NavigationHub", "PostgresJournal",
    ]),
    // navctl sends the operations of the library, and has none of its own.
    "navctl": system.union([
      "NavigationClient", "NavigationCore", "NavigationHub",
      "CommandLineOptions", "RuntimePaths", "ZeroMQ", "CNCurses", "CLinux",
    ]),
    // HTTP for both programs; it knows nothing of navigation.
    "Web/Server": system.union(["RuntimePaths", "CMicroHTTPD", "CLinux"]),
    // It knows the daemon as any client does.
    "Web/Exporter": system.union([
      "NavigationClient", "NavigationCore", "NavigationHub", "ZeroMQ", "RuntimePaths", "CLinux",
    ]),
    // The gateway passes messages on. It needs their form and the socket, and not the client, which has
    // the writers of operations.
    "Web/Gateway": system.union([
      "NavigationCore", "NavigationHub", "RuntimePaths", "ZeroMQ", "CLinux",
    ]),
    "navd-exporter": system.union(["Web", "CommandLineOptions", "RuntimePaths", "CLinux"]),
    "navd-web": system.union(["Web", "Systemd", "CommandLineOptions", "RuntimePaths", "CLinux"]),
    "ConsistencyWorker": system.union([
      "NavigationClient", "NavigationCore", "CLinux",
    ]),
  ]

  /// The layers of a module, the lowest first: none knows a type of those behind it.
  ///
  /// They are folders because a call across modules costs instructions (docs/decisions/017), and each
  /// border costs lines. Folders of one layer know each other.
  static let layers = [
    "NavigationCore": [["Navigation"], ["JSON"], ["Protocol"]],
    "NavigationHub": [["Navigation"], ["Protocol"], ["Hub"], ["Recording"]],
    "NavigationClient": [["Replica"], ["Connection"], ["Operations", "Delegates", "Client"]],
    "Web": [["Server"], ["Gateway"], ["Exporter"]],
  ]

  /// Those that take of the client what computes, and no more.
  static let withoutConnections = [
    "Tests/Simulation", "Tests/ConformanceSupport", "Tests/NavigationHubTests",
  ]

  /// The modules of the client; they share the protocol with the server, and nothing else.
  static let clients = [
    "NavigationClient", "NavdC", "navctl", "Web",
  ]

  /// Those that read keys, and leave the sockets to the library.
  static let withoutSockets = ["NavdC", "navctl", "Web/Exporter"]

  /// What the shells may use of the toolchain; the pure targets have the standard library alone.
  private static let system: Set<String> = ["Glibc", "Synchronization", "Dispatch"]

  /// Reports each import of a target that the table does not name.
  static func check(_ file: SourceFile) -> [Violation] {
    guard file.isSwift, let module = file.sourceTarget else { return [] }
    let target = allowed.keys.first { $0.contains("/") && file.isIn("Sources/" + $0) } ?? module
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

  /// Reports each import of a module of the package that the manifest does not name for the target.
  ///
  /// Such an import compiles only as long as another dependency needs the module.
  static func checkDependencies(_ manifest: String, _ files: [SourceFile]) -> [Violation] {
    let modules = Set(manifest.matches(of: /name: "([\w-]+)"/).map { String($0.1) })
    let target =
      /arget\(\s*name: "([\w-]+)"(?:,\s*dependencies: \[([^\]]*)\])?(?:,\s*path: "([^"]+)")?/
    return manifest.matches(of: target).flatMap { match in
      let name = String(match.1)
      let folder =
        match.3.map(String.init) ?? (name.hasSuffix("Tests") ? "Tests/" : "Sources/") + name
      let named = Set((match.2 ?? "").matches(of: /"([\w-]+)"/).map { String($0.1) })
      return files.filter { $0.isSwift && $0.isIn(folder) }.flatMap { file in
        imports(of: file).filter { modules.contains($0.module) && !named.contains($0.module) }
          .map { line, module in
            Violation(
              path: file.path, line: line,
              advice: "name \(module) in the dependencies of \(name) in Package.swift")
          }
      }
    }
  }

  /// Reports each use of a type of the folder `upper` by a file of the folder `lower`.
  ///
  /// A name that `lower` declares too does not count, nor one behind a dot.
  static func checkLayers(_ lower: String, under upper: String, _ files: [SourceFile])
    -> [Violation]
  {
    let inside = files.filter { $0.isSwift && $0.path.hasPrefix(lower) }
    let outside = files.filter { $0.isSwift && $0.path.hasPrefix(upper) }
    let names = declarations("^", in: outside).subtracting(declarations("^ *", in: inside))
    return inside.flatMap { file in
      file.matches(of: #"(?<![\w.])([A-Z]\w*)"#, in: .code).filter { names.contains($0.capture) }
        .map {
          Violation(
            path: file.path, line: $0.line,
            advice: "\(lower) must not know \($0.capture), which \(upper) declares")
        }
    }
  }

  private static func declarations(_ start: String, in files: [SourceFile]) -> Set<String> {
    let words =
      "(?:package |public |private |final |indirect )*(?:struct|enum|class|protocol|typealias)"
    return Set(
      files.flatMap { $0.matches(of: start + words + #" (\w+)"#, in: .code).map(\.capture) })
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

  @Test func `the manifest names every module that a target imports`() throws {
    let manifest = try #require(Repository.files.first { $0.path == "Package.swift" })
    let text = manifest.text.lines.joined(separator: "\n")
    report(ImportRules.checkDependencies(text, Repository.files))
  }

  @Test func `an import that the manifest does not name is found`() {
    let manifest = """
      .systemLibrary(name: "C"),
      .target(name: "A", dependencies: ["C"], path: "Tests/A"),
      .testTarget(
        name: "BTests", dependencies: [
          "A"
        ], swiftSettings: strict),
      """
    let files = ["Tests/A/A.swift", "Tests/BTests/B.swift"]
      .map { SourceFile($0, "import Testing\nimport C\n@testable import A") }
    let found = ImportRules.checkDependencies(manifest, files)
    #expect(found.map(\.path) == ["Tests/A/A.swift", "Tests/BTests/B.swift"])
    #expect(found.map(\.line) == [3, 2])
  }

  @Test(arguments: ImportRules.layers) func `no layer of a module knows those above it`(
    module: String, layers: [[String]]
  ) {
    let folders = layers.map { $0.map { "Sources/\(module)/\($0)/" } }
    let all = folders.flatMap(\.self)
    for folder in all {
      #expect(Repository.files.contains { $0.path.hasPrefix(folder) }, "\(folder) is empty")
    }
    let elsewhere = Repository.files.filter { file in
      file.isSwift && file.isIn("Sources/" + module) && !all.contains { file.path.hasPrefix($0) }
    }
    #expect(elsewhere.map(\.path) == [])
    for (index, layer) in folders.enumerated() {
      for lower in layer {
        for upper in folders[(index + 1)...].joined() {
          report(ImportRules.checkLayers(lower, under: upper, Repository.files))
        }
      }
    }
  }

  @Test(arguments: ["JSON", "Protocol"]) func `the model knows no form of a message`(folder: String)
  {
    report(
      ImportRules.checkLayers(
        "Sources/NavigationHub/Navigation/", under: "Sources/NavigationCore/\(folder)/",
        Repository.files))
  }

  @Test(arguments: ImportRules.clients) func `the client knows nothing of the hub`(client: String) {
    let hub = "Sources/NavigationHub/Hub/"
    report(ImportRules.checkLayers("Sources/\(client)/", under: hub, Repository.files))
  }

  @Test(arguments: ImportRules.withoutConnections)
  func `what needs the replica alone knows no more`(
    folder: String
  ) {
    let upper = "Sources/NavigationClient/Connection/"
    let planted = SourceFile("\(folder)/A.swift", "let a = NavigationConnection(b)")
    let found = ImportRules.checkLayers(
      folder + "/", under: upper, Repository.files + [planted])
    #expect(found.map(\.path) == [planted.path])
  }

  @Test(arguments: ImportRules.withoutSockets) func `what needs keys alone knows no socket`(
    folder: String
  ) {
    let sockets = "Sources/ZeroMQ/Sockets/"
    let planted = SourceFile("Sources/\(folder)/A.swift", "let a = try Socket(b, .dealer)")
    let found = ImportRules.checkLayers(
      "Sources/\(folder)/", under: sockets, Repository.files + [planted])
    #expect(found.map(\.path) == [planted.path])
  }

  @Test func `a use of an upper layer is found`() {
    let files = [
      SourceFile("Sources/A/Low/B.swift", "struct B {}\nlet c: C? = nil // C"),
      SourceFile("Sources/A/High/C.swift", "package struct C { var b: B }\nstruct B {}"),
    ]
    let found = ImportRules.checkLayers("Sources/A/Low/", under: "Sources/A/High/", files)
    #expect(found.map(\.line) == [2])
    #expect(ImportRules.checkLayers("Sources/A/High/", under: "Sources/A/Low/", files) == [])
  }

  @Test func `each C library has one importer`() {
    let modules = Repository.files.filter { $0.path.hasSuffix("/module.modulemap") }
      .compactMap { $0.path.split(separator: "/").dropLast().last.map(String.init) }
    #expect(modules.contains("CZeroMQ") && modules.contains("CPostgreSQL"))
    report(ImportRules.checkSingleImporters(Repository.files, modules: modules))
  }

  @Test func `a package that is being built beside the tests is no part of the repository`() {
    #expect(Repository.isStaged("debian/libnavigationclient-dev/usr/share/swift/A.swift"))
    #expect(!Repository.isStaged("debian/client/Package.swift"))
    #expect(Repository.files.contains { $0.path == "debian/rules" })
  }

  @Test(arguments: [
    ("NavigationCore", "package import Glibc"), ("Simulation", "import Dispatch"),
    ("NavigationClient/Replica", "import RuntimePaths"),
    ("NavigationClient/Connection", "private import CJournal"),
    ("NavigationClient", "import NavigationHub"), ("NavdC", "import NavigationHub"),
    ("navctl", "@preconcurrency import Journal"),
    ("ZeroMQ/Sockets", "import RuntimePaths"),
    ("NavigationDaemon", "import struct Foundation.Date"), ("Unknown", "let a = 1"),
    ("NavigationClient", "import Journal"), ("Web/Gateway", "import NavigationClient"),
    ("Web/Server", "import NavigationCore"), ("Web", "import Glibc"),
    ("Journal", "import Glibc; import Foundation"),
  ])
  func `an import outside the table is found`(target: String, line: String) {
    let found = ImportRules.check(SourceFile("Sources/\(target)/A.swift", line))
    #expect(found.map(\.line) == [1])
  }

  @Test func `an allowed import, a comment and a string are not found`() {
    let text = "// import Foundation\npackage import NavigationCore\nlet a = \"import B\""
    #expect(ImportRules.check(SourceFile("Sources/NavigationClient/Replica/A.swift", text)) == [])
  }

  @Test func `a second importer is found`() {
    let files = [
      "Sources/Journal/A.swift", "Sources/Journal/B.swift", "Tests/JournalTests/C.swift",
    ]
    .map { SourceFile($0, "\nimport CJournal\nimport CLinux") }
    let found = ImportRules.checkSingleImporters(files, modules: ["CJournal", "CLinux"])
    #expect(found.map(\.path) == ["Tests/JournalTests/C.swift"])
    #expect(found.map(\.line) == [2])
  }
}
