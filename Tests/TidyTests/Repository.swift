import Foundation
import Testing

/// A text file of the repository, or a sample that a check is tested with.
struct SourceFile: Sendable {
  /// The path from the repository's root, like `Sources/NavigationHub/Navigation/Screen.swift`.
  let path: String
  let text: SwiftText

  init(_ path: String, _ text: String) {
    self.path = path
    self.text = SwiftText(text)
  }

  var isSwift: Bool { path.hasSuffix(".swift") }

  func isIn(_ folders: String...) -> Bool { folders.contains { path.hasPrefix($0 + "/") } }

  /// The name of the target, when the file is in `Sources` or in a module of the tests.
  var sourceTarget: String? {
    if let module = Repository.testModules.first(where: { isIn($0.folder) }) { return module.name }
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }
}

/// A place that breaks a rule, and what to do about it.
struct Violation: Hashable, Sendable, CustomStringConvertible {
  var path: String
  /// Counts from 1.
  var line: Int
  var advice: String

  var description: String { "\(path):\(line): \(advice)" }
}

/// The files that the checks look at.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Every text file, in the order of the paths, without what is built or hidden.
  static let files: [SourceFile] = {
    var paths: [String] = []
    for name in (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    where !name.hasPrefix(".") || [".ci", ".editorconfig", ".gitignore"].contains(name) {
      paths += regularFiles(under: name)
    }
    return paths.filter { !isStaged($0) }.sorted().compactMap { path in
      (try? String(contentsOf: root.appending(path: path), encoding: .utf8))
        .map { SourceFile(path, $0) }
    }
  }()

  /// Whether a file belongs to a package that is being built beside the tests, as in
  /// `debian/navd/usr/bin/navd`.
  static func isStaged(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.count > 3 && parts[0] == "debian"
      && ["DEBIAN", "etc", "lib", "usr", "var"].contains(parts[2])
  }

  /// The modules that only tests use and that keep the rules of `Sources`.
  static let testModules = [
    (name: "Simulation", folder: "Tests/Simulation"),
    (name: "Conformance", folder: "Tests/Conformance/Runner"),
    (name: "ConsistencyWorker", folder: "Tests/ConsistencyWorker"),
  ]

  /// Where the rules of `Sources` hold.
  static let sourceFolders = ["Sources"] + testModules.map(\.folder)

  static var swiftFiles: [SourceFile] { files.filter(\.isSwift) }

  private static func regularFiles(under path: String) -> [String] {
    let url = root.appending(path: path)
    let values = try? url.resourceValues(forKeys: [.isDirectoryKey, .isRegularFileKey])
    if values?.isRegularFile == true { return [path] }
    guard values?.isDirectory == true, !["__pycache__", "bench-results"].contains(path) else {
      return []
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.filter { !$0.hasPrefix(".") && $0 != "__pycache__" }
      .flatMap { regularFiles(under: "\(path)/\($0)") }
  }
}

/// Fails the running test once for each violation.
func report(_ violations: [Violation]) {
  for violation in violations { Issue.record("\(violation.description)") }
}

@Suite struct RepositoryTests {
  @Test func `the walk finds this file and the manifest`() {
    let paths = Repository.files.map(\.path)
    #expect(paths.contains("Package.swift"))
    #expect(paths.contains("Tests/TidyTests/Repository.swift"))
    #expect(paths.contains("Sources/CLinux/shim.h"))
  }
}
