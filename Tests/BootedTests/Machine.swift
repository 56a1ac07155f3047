import ChildProcess
import Foundation
import Testing

/// One boot of the Debian root that `Tests/BootedTests/prepare` makes, and what was found in it.
struct Machine: Sendable {
  /// What one scenario left behind.
  struct Scenario: Sendable {
    let status: Int32
    /// The values of each fact, in the order in which they were found.
    let facts: [String: [String]]
    /// What it printed, and what the journal had.
    let transcript: String

    /// The median of a fact that is microseconds, in milliseconds; infinite if there is none.
    func milliseconds(_ name: String) -> Double {
      let values = (facts[name] ?? []).compactMap(Double.init).sorted()
      return values.isEmpty ? .infinity : values[values.count / 2] / 1000
    }
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let directory = root.appending(path: ".build/booted")

  /// Why nothing can be booted here; `nil` when it can.
  static let obstacle: String? = {
    let manager = FileManager.default
    if manager.fileExists(atPath: directory.appending(path: "ready").path) { return nil }
    let text = try? String(contentsOf: directory.appending(path: "unavailable"), encoding: .utf8)
    return text ?? "nothing is prepared, run `make booted`"
  }()

  /// Whether to run: where nothing may be left out, an obstacle is a failure.
  static let isWanted: Bool = {
    guard let obstacle else { return true }
    print("skipped: the booted tests cannot run: \(obstacle)")
    return ProcessInfo.processInfo.environment["CI"] != nil
  }()

  private let scenarios: [String: Scenario]
  private let console: String

  /// Boots, runs scenarios one after the other, and powers off.
  init(_ names: [String]) throws {
    if let obstacle = Self.obstacle { throw Failure(obstacle) }
    let out = Self.directory.appending(path: "out.\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: out) }
    let boot = Self.root.appending(path: "Tests/BootedTests/boot").path
    try ChildProcess("/usr/bin/timeout", ["--kill-after=10", "540", boot, out.path] + names)
      .awaitEnd()
    func text(_ name: String) -> String {
      (try? String(contentsOf: out.appending(path: name), encoding: .utf8)) ?? ""
    }
    console = text("console.log")
    scenarios = Dictionary(
      uniqueKeysWithValues: names.map { name in
        let words = text(name + ".facts").split(separator: "\n")
          .map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        let facts = Dictionary(grouping: words.filter { $0.count == 2 }, by: { $0[0] })
        let status = Int32(text(name + ".status").trimmingCharacters(in: .whitespacesAndNewlines))
        return (
          name,
          Scenario(
            status: status ?? -1, facts: facts.mapValues { $0.map { $0[1] } },
            transcript: text(name + ".log").suffix(6000) + "\n"
              + text(name + ".journal").suffix(6000)
          )
        )
      })
    print(text("durations"), terminator: "")
  }

  /// What a scenario found, which must have gone well; says its figures.
  func passed(_ name: String) throws -> Scenario {
    guard let scenario = scenarios[name], scenario.status == 0 else {
      throw Failure("\(name): \(scenarios[name]?.transcript ?? "")\n\(console.suffix(2000))")
    }
    for (fact, values) in scenario.facts.sorted(by: { $0.key < $1.key }) {
      print("\(name): \(fact) \(values.joined(separator: " "))")
    }
    return scenario
  }
}

/// Why a machine cannot be used, or what went wrong in it.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
