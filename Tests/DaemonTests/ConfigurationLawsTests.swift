import Foundation
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// Files of any lines, against a dictionary of the last value of each key.
@Suite struct ConfigurationLawsTests {
  /// A line of a file, and what it sets.
  private struct Line {
    var section: String
    var text: String
    var set: (inout Configuration) -> Void
  }

  private static func spelled(
    _ number: Int, _ unit: ConfigurationKey.Unit, _ random: inout SeededGenerator
  ) -> String {
    let factors: [(String, Int)] =
      switch unit {
      case .bytes: [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]
      case .milliseconds: [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)]
      case .seconds: [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)]
      case .days: [("d", 1)]
      case .count, .perSecond: []
      }
    let exact = factors.filter { number % $0.1 == 0 }
    guard let (suffix, factor) = exact.randomElement(using: &random), Bool.random(using: &random)
    else { return String(number) }
    return String(number / factor) + (Bool.random(using: &random) ? " " : "") + suffix
  }

  private static let words: [String: [String]] = [
    "durability": ["sync", "relaxed"], "level": LogLevel.allCases.map(\.rawValue),
    "socket-mode": ["auto", "0600", "0660", "600", "660"], "socket-group": ["", "users", "1000"],
    "state": ["", "/srv/navd", "/a b"], "keys": ["/srv/keys", "/k"],
    "secret-key": ["", "/srv/navd.key"],
    "listen": ["", "ipc:///a", "ipc:///b ipc:///c", "tcp://192.0.2.7:5719"],
    "role": ["", "a uid:1", "b  gid:2 key:c"],
    "grant": ["", "uid:1 * read", "role:a kiosk-? push pop"],
  ]

  /// Keys that must not be above others stay as they are.
  private static let ordered: Set<String> = [
    "inflight", "remembered-ops", "connections", "connections-per-principal",
    "remembered-clients", "remembered-clients-per-principal", "resume-bytes",
    "resume-total-bytes",
  ]

  private static func line(_ random: inout SeededGenerator) -> Line? {
    guard let key = ConfigurationKey.all.randomElement(using: &random) else { return nil }
    let spaces = ["", " ", "  ", "\t"]
    func space() -> String { spaces.randomElement(using: &random) ?? "" }
    func text(_ value: String) -> String {
      let remark = Bool.random(using: &random) ? " ; a remark = 1" : ""
      return space() + key.name + space() + "=" + space() + value + remark
    }
    if let (path, unit, range) = key.value.number {
      guard !ordered.contains(key.name) else { return nil }
      let shift = Int.random(in: 0..<40, using: &random)
      let most = min(range.upperBound, max(range.lowerBound, 1 << shift))
      // Half of them can be written with a suffix.
      let factor = [1, 1, 60, 1_000, 3_600, 60_000, 1 << 10, 1 << 20].randomElement(using: &random)
      let any = Int.random(in: range.lowerBound...most, using: &random)
      let rounded = any / (factor ?? 1) * (factor ?? 1)
      let number = range.contains(rounded) ? rounded : any
      return Line(section: key.section, text: text(spelled(number, unit, &random))) {
        $0[keyPath: path] = number
      }
    }
    guard let word = words[key.name]?.randomElement(using: &random) else { return nil }
    return Line(section: key.section, text: text(word)) { _ = key.value.store(&$0, word) }
  }

  /// A file, and what it means.
  private static func file(_ random: inout SeededGenerator) -> (String, [Line]) {
    var lines: [Line] = []
    var text = "# a comment\n\n"
    var section = ""
    for _ in 0..<Int.random(in: 0..<60, using: &random) {
      guard let line = line(&random) else { continue }
      if line.section != section { text += "[\(line.section)]\n" }
      section = line.section
      text += line.text + (Bool.random(using: &random) ? "\n" : "\n; nothing\n\n")
      lines.append(line)
    }
    return (text, lines)
  }

  @Test(arguments: 0..<25 as Range<UInt64>)
  func `a later line wins, in whatever order sections come, and drop-ins after the file`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var builder = ConfigurationBuilder()
    var twin = Configuration()
    for number in 0..<3 {
      let (text, lines) = Self.file(&random)
      builder.add([UInt8](text.utf8), of: "f\(number)")
      for line in lines { line.set(&twin) }
    }
    let (loaded, faults) = builder.finish()
    #expect(faults.isEmpty, "seed \(seed)")
    #expect(loaded.configuration == twin, "seed \(seed)")
    // What is printed means the same, where no rule decides.
    let rules = PathRules(environment: ProcessEnvironment([:]), userID: 7)
    var printed = try Configuration.parse(loaded.text(rules), file: "f")
    if twin.daemon.endpoints.isEmpty { printed.daemon.endpoints = [] }
    if twin.daemon.stateDirectory == nil { printed.daemon.stateDirectory = nil }
    #expect(printed == twin, "seed \(seed)")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `two configurations differ by the keys that changes name`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (one, other) = (Configuration(), Configuration())
    for line in Self.file(&random).1 { line.set(&one) }
    for line in Self.file(&random).1 { line.set(&other) }
    #expect(one.changes(to: one).isEmpty)
    #expect(one.changes(to: other).isEmpty == (one == other))
    let there = one.changes(to: other)
    let back = other.changes(to: one)
    #expect(there.map(\.key) == back.map(\.key))
    #expect(there.map(\.before) == back.map(\.after))
    // navd(8) lists the keys that need a restart; those of a cluster need one too.
    let listed: Set = [
      "daemon.listen", "daemon.state", "daemon.durability", "daemon.socket-mode",
      "daemon.socket-group", "access.secret-key", "cluster.lease",
    ]
    let late = there.map(\.key).filter { key in
      key == "limits.message-to-daemon-bytes"
        ? other.hub.maximumRequestBytes > one.hub.maximumRequestBytes
        : listed.contains(key)
    }
    let reason = one.reasonAgainstReload(other, startedWith: one)
    #expect((reason == nil) == late.isEmpty)
    if let first = late.first?.split(separator: ".") {
      #expect(reason?.hasPrefix("[\(first[0])] \(first[1]) is ") == true)
    }
  }
}

/// Values that are no values, for each key of the manual.
@Suite struct ConfigurationAttackTests {
  /// The values that navd.conf(5) states for each key.
  private static func manual() throws -> [String: String] {
    let text = try String(
      contentsOf: packageRoot.appendingPathComponent("man/navd.conf.5.scd"), encoding: .utf8)
    var values: [String: String] = [:]
    var (section, name) = ("", "")
    for line in text.split(separator: "\n") {
      if let found = line.wholeMatch(of: /## \[(.+)\]/) { section = String(found.1) }
      if let found = line.wholeMatch(of: /\*(.+)\* = _VALUE_/) { name = String(found.1) }
      guard let found = line.wholeMatch(of: /\tValue: (.+)\./) else { continue }
      values["\(section).\(name)"] = found.1.replacingOccurrences(of: "\\", with: "")
    }
    return values
  }

  private func faults(_ text: String) -> [String] {
    var builder = ConfigurationBuilder()
    builder.add([UInt8](text.utf8), of: "f")
    let (loaded, faults) = builder.finish()
    if faults.count == 1 { #expect(loaded.configuration == Configuration(), "\(text)") }
    return faults.map(\.description)
  }

  @Test func `the manual has the value of each key, and no others`() throws {
    let expected = Dictionary(
      uniqueKeysWithValues: ConfigurationKey.all.map {
        ("\($0.section).\($0.name)", $0.expectation)
      })
    #expect(try Self.manual() == expected)
  }

  private static let nonsense = [
    "-1", "+1", "0x10", "1e3", "1_000", "1.5", "1,000", "1 000", "K", "1KB", "1k", "1KiB", "1 K K",
    "ms", "1 week", "1 S", "1s1", "\u{FF11}", "\"1\"", "one", "18446744073709551616",
    "9223372036854775808", "9223372036854775807G", "1  K", "1\u{A0}K", "\u{2212}1", "1#", "$1",
  ]

  @Test(arguments: ConfigurationKey.all.map { "\($0.section).\($0.name)" })
  func `what is no number is refused with its place and what the manual accepts`(
    _ name: String
  ) throws {
    let key = try #require(ConfigurationKey.all.first { "\($0.section).\($0.name)" == name })
    guard let (_, unit, range) = key.value.number else { return }
    let accepted = try #require(try Self.manual()[name])
    for value in Self.nonsense {
      #expect(
        faults("\n[\(key.section)]\n# x\n\(key.name) = \(value)\n")
          == ["f:4: [\(key.section)] \(key.name) = \(value): expected \(accepted)"])
    }
    #expect(
      faults("[\(key.section)]\n\(key.name) =\n")
        == ["f:2: [\(key.section)] \(key.name) is empty: expected \(accepted)"])
    // The limit in its own unit, one beyond it, and the wrong suffix for it.
    for text in [unit.text(of: range.lowerBound - 1), unit.text(of: range.upperBound + 1)] {
      #expect(faults("[\(key.section)]\n\(key.name) = \(text)\n").count == 1, "\(text)")
    }
    let other = unit == .bytes ? "1s" : "1K"
    #expect(faults("[\(key.section)]\n\(key.name) = \(other)\n").count == 1)
  }

  @Test(arguments: ConfigurationKey.all.map { "\($0.section).\($0.name)" })
  func `a key in another section, doubled with a fault, or misspelled is one fault`(
    _ name: String
  ) throws {
    let key = try #require(ConfigurationKey.all.first { "\($0.section).\($0.name)" == name })
    let wrong = key.section == "log" ? "session" : "log"
    #expect(
      faults("[\(wrong)]\n\(key.name) = 1\n").first?.hasPrefix(
        "f:2: [\(wrong)] has no key \(key.name): expected ") == true)
    for misspelled in [key.name.uppercased(), key.name + "s", "x" + key.name] {
      let message = try #require(faults("[\(key.section)]\n\(misspelled) = 1\n").first)
      #expect(message.hasPrefix("f:2: [\(key.section)] has no key \(misspelled): expected "))
      // The remedy names every key of the section.
      #expect(message.contains(key.name))
    }
    // A faulty line does not take back the good one before it.
    let good = key.isRepeatable ? "" : key.defaultText
    let text = "[\(key.section)]\n\(key.name) = \(good)\n\(key.name) = \u{1}\n"
    guard key.name != "socket-group" else { return }
    #expect(faults(text).count == 1, "\(faults(text))")
    #expect(faults(text).first?.hasPrefix("f:3: [\(key.section)] \(key.name) = ") == true)
  }

  @Test func `sections are case-sensitive, and each unknown one is told once`() {
    for section in ConfigurationKey.sections {
      let upper = section.uppercased()
      let found = faults("[\(upper)]\na = 1\nb = 2\n[\(upper)]\nc = 3\n")
      #expect(found.count == 1)
      #expect(
        found.first?.hasPrefix("f:2: there is no section [\(upper)]: expected [daemon] ") == true)
    }
  }
}

/// Numbers with units, against a reading by regular expressions.
@Suite struct ConfigurationUnitTests {
  private static let units: [ConfigurationKey.Unit] = [
    .bytes, .milliseconds, .seconds, .days, .count, .perSecond,
  ]

  /// What navd.conf(5) says: bytes take K, M and G, times take ms, s, min, h and d.
  private func reading(_ text: String, _ unit: ConfigurationKey.Unit) -> Int? {
    guard let match = text.wholeMatch(of: /([0-9]+) ?([A-Za-z]*)/), let number = Int(match.1)
    else { return nil }
    if match.2.isEmpty { return text.hasSuffix(" ") ? nil : number }
    let bytes = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let times = ["ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000]
    let (table, one): ([String: Int], Int) =
      switch unit {
      case .bytes: (bytes, 1)
      case .milliseconds: (times, 1)
      case .seconds: (times, 1_000)
      case .days: (times, 86_400_000)
      case .count, .perSecond: ([:], 1)
      }
    guard let factor = table[String(match.2)] else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow || product % one != 0 ? nil : product / one
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `a number is read as the manual says, or not at all`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces = ["0", "1", "9", "60", "1000", "86400", "1024", " ", "K", "M", "G", "ms", "s"]
    let more = ["min", "h", "d", "-", ".", "99999999999", "m", "in"]
    for _ in 0..<400 {
      let text = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        (pieces + more).randomElement(using: &random) ?? ""
      }.joined()
      for unit in Self.units {
        #expect(unit.parse(text) == reading(text, unit), "\(unit): '\(text)'")
      }
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `what is written is read`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let shift = Int.random(in: 0..<62, using: &random)
      let number =
        Int.random(in: 0...(1 << shift), using: &random) << Int.random(in: 0...1, using: &random)
      for unit in Self.units { #expect(unit.parse(unit.text(of: number)) == number) }
    }
    #expect(ConfigurationKey.Unit.bytes.text(of: 65_536) == "64K")
    #expect(ConfigurationKey.Unit.bytes.text(of: 1_025) == "1025")
    #expect(ConfigurationKey.Unit.seconds.text(of: 3_600) == "3600")
  }
}
