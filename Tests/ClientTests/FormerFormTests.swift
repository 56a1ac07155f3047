import ChildProcess
import Foundation
import Testing

/// The compiler refuses the former forms of docs/migration.md, and accepts the new ones.
@Suite(.timeLimit(.minutes(5))) struct FormerFormTests {
  /// A former form and the new one, as statements of `use` below.
  private static let forms: [(former: String, now: String)] = [
    (
      "_ = try await client.perform([.pop()], on: nav)",
      "_ = try await client.perform([.pop()], on: nav, guardedBy: .top(of: state))"
    ),
    (
      "_ = try await client.perform([.attach()], on: nav, guardedBy: .none)",
      "_ = try await client.perform([.attach()], on: nav, guardedBy: .unguarded)"
    ),
    ("take(.setBar([.standard(.tintColor)]))", "take(.setBar([.reset(.tintColor)]))"),
    ("take(.setBar([.reset(.translucent)]))", "take(.setBar([.reset(.isTranslucent)]))"),
    (
      "take(.itemSet(nav, ItemDescription(prompt: nav)))",
      "take(.setItem(of: nav, ItemDescription(prompt: nav)))"
    ),
    (
      "_ = ItemDescription(clearing: [.prompt])", "_ = ItemDescription(resetting: [.prompt])"
    ),
    (
      #"take(.setScreen(nav, ["title": "T"]))"#, #"take(.setScreen(nav, [.title("T")]))"#
    ),
    (#"take(.configure(["queue": 1]))"#, "take(.configure([.queue(1)]))"),
    (
      #"take(.setEnvironment([.barPosition("top")]))"#,
      "take(.setEnvironment([.barPosition(.top)]))"
    ),
    (#"_ = ButtonDescription(.systemItem("done"))"#, "_ = ButtonDescription(.systemItem(.done))"),
    (
      #"_ = try await client.read("log", of: nav)"#, "_ = try await client.read(.log, of: nav)"
    ),
    (#"_ = state.part("settings")"#, "_ = state.part(.settings)"),
    (
      #"_ = state.events.first?.name == "didPop""#, "_ = state.events.first?.name == .didPop"
    ),
    (#"_ = state.cause == "gesture""#, "_ = state.cause == .gesture"),
    (#"_ = error.reason == "top""#, "_ = error.reason == .top"),
    (#"_ = question.operation == "push""#, "_ = question.operation == .push"),
  ]

  /// The numbers of the statements that do not compile, from 0, and what the compiler printed.
  private static func refused(_ statements: [String]) throws -> (Set<Int>, text: String) {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let built = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "use.swift").path
    let head = [
      "import NavigationClient", "func take(_ operation: NavigationOperation) {}",
      "func use(_ client: NavigationClient, _ nav: String, _ state: NavigationState,",
      "  _ error: NavigationClientError, _ question: NavigationAnimatorQuestion) async throws {",
    ]
    try (head + statements + ["}"]).joined(separator: "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    var arguments = ["swiftc", "-typecheck", "-swift-version", "6", file]
    arguments += ["-I", built.appending(path: "Modules").path]
    arguments += ["-module-cache-path", built.appending(path: "ModuleCache").path]
    let sources = root.appending(path: "Sources")
    for name in try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted() {
      let map = sources.appending(path: name).appending(path: "module.modulemap").path
      guard FileManager.default.fileExists(atPath: map) else { continue }
      arguments += ["-Xcc", "-fmodule-map-file=" + map]
    }
    let output = try ChildOutput(of: "/usr/bin/env", arguments, withErrors: true)
    let lines = output.text.split(separator: "\n").compactMap { line -> Int? in
      guard line.hasPrefix(file + ":"), line.contains(": error: ") else { return nil }
      return line.dropFirst(file.count + 1).split(separator: ":").first.flatMap { Int($0) }
    }
    #expect((output.status == 0) == lines.isEmpty, "\(output.text)")
    return (Set(lines.map { $0 - head.count - 1 }), output.text)
  }

  @Test func `no former form compiles, and every new one does`() throws {
    let (refused, text) = try Self.refused(Self.forms.map(\.former))
    for (index, form) in Self.forms.enumerated() {
      #expect(refused.contains(index), "\(form.former) compiles: \(text)")
    }
    let (faults, errors) = try Self.refused(Self.forms.map(\.now))
    #expect(faults.isEmpty, "\(errors)")
  }
}
