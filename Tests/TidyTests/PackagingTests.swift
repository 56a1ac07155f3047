import ChildProcess
import Foundation
import Testing

/// What the packages say twice, and must say alike.
@Suite struct PackagingTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  /// The declarations of targets in a manifest, by name, without spaces and settings.
  private func targets(_ path: String) throws -> [String: String] {
    let code = try text(path).replacing(/\s+|\/\/.*/, with: "")
    var found: [String: String] = [:]
    for match in code.matches(of: /\.(target|systemLibrary)\(name:"(\w+)"([^()]*)/) {
      found[String(match.2)] = String(match.3.replacing(/,swiftSettings:[\w+]+/, with: ""))
    }
    return found
  }

  @Test func `the client's manifest has the targets that the library needs, as they are`() throws {
    let ours = try targets("Package.swift")
    let clients = try targets("debian/client/Package.swift")
    #expect(clients.keys.contains("NavigationClient"))
    for (name, declaration) in clients { #expect(ours[name] == declaration, "\(name)") }
  }

  @Test func `the client's package has the sources of its manifest's targets`() throws {
    let installed = try text("debian/libnavigationclient-dev.install").split(separator: "\n")
      .compactMap { $0.firstMatch(of: #/^Sources/(\w+)[/ ]/#)?.1 }.map(String.init)
    let targets = try targets("debian/client/Package.swift").keys
    #expect(Set(installed) == Set(targets))
  }

  @Test func `release programs seek no library beside themselves`() throws {
    let plan = try ChildOutput(
      of: "/usr/bin/make", ["-n", "-C", Repository.root.path, "release"],
      environment: ["PATH": "/usr/bin:/bin"], withErrors: true)
    #expect(plan.text.contains("--disable-local-rpath"), "\(plan.text)")
  }

  @Test(arguments: ["navd", "navd-cluster", "navd-web", "navd-exporter"])
  func `programs that run for long are bound at the start`(program: String) throws {
    let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let section = try ChildOutput(
      of: "/usr/bin/readelf", ["--dynamic", path.appending(path: program).path],
      environment: ["PATH": "/usr/bin:/bin"], withErrors: true)
    #expect(section.text.contains("BIND_NOW"), "\(section.text)")
  }

  @Test func `the demonstration installs what it builds and shows with, and no more`() throws {
    let plan = try ChildOutput(
      of: "/usr/bin/make", ["-n", "-C", Repository.root.path, "demo"],
      environment: ["PATH": "/usr/bin:/bin"], withErrors: true)
    let packages = Set(
      plan.text.split(separator: "\n").filter { $0.hasPrefix(".ci/deps ") }
        .flatMap { $0.split(separator: " ").dropFirst().map(String.init) })
    #expect(packages.contains("libzmq3-dev"), "\(plan.text)")
    #expect(packages.filter { !$0.hasSuffix("-dev") } == ["python3"])
  }

  @Test func `each package of PyPI is pinned by a hash`() throws {
    let packages = try text("Makefile").matches(of: /pypi:(\S+)/).map { $0.1 }
    #expect(!packages.isEmpty)
    for each in packages {
      #expect(each.wholeMatch(of: /[a-z-]+==[0-9.]+@sha256:[0-9a-f]{64}/) != nil, "\(each)")
    }
  }

  @Test func `the newest entry of the packages' changelog has the programs' version`() throws {
    let entry = try text("debian/changelog").prefix { $0 != "\n" }
    let version = try #require(entry.firstMatch(of: /^navd \(([0-9.]+)\)/)?.1)
    let source = try text("Sources/NavigationDaemon/Daemon.swift")
    let own = try #require(source.firstMatch(of: /static let version = "([^"]*)"/)?.1)
    #expect(version == own)
  }
}
