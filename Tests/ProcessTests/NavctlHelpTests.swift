import Foundation
import NavigationCore
import Testing

extension ProcessTests {
  /// What navctl says about itself, and what the manual says about navctl.
  @Suite struct NavctlHelpTests {
    private let manual: String
    /// The commands that the help lists.
    private let commands: [String]

    init() throws {
      let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      manual = try String(
        contentsOf: repository.appendingPathComponent("man/navctl.1.scd"), encoding: .utf8)
      let help = try Self.navctl(["help", "all"])
      let list = help.prefix { !$0.hasPrefix("      --") }
      // An example stands behind four spaces.
      commands = list.filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// The lines that a run prints which needs no daemon.
    private static func navctl(_ words: [String]) throws -> [String] {
      let child = try Child(Binaries.path("navctl"), words)
      #expect(try child.ended() == 0, "\(child.transcript)")
      #expect(child.standardError == "", "\(child.transcript)")
      return child.standardOutput.split(separator: "\n").map(String.init)
    }

    /// The part of the manual under a heading.
    private func section(_ heading: String) -> Substring {
      let start = manual.range(of: "\n# \(heading)\n")?.upperBound ?? manual.endIndex
      let end = manual[start...].range(of: "\n# ")?.lowerBound ?? manual.endIndex
      return manual[start..<end]
    }

    /// The options that a text of ours names, without their hyphens.
    private func options(_ text: some StringProtocol) -> Set<String> {
      Set(String(text).matches(of: /--([a-z][a-z-]+)/).map { String($0.1) })
    }

    @Test func `the manual has every command of the help, and no other`() {
      #expect(commands.count > 40)
      // A term begins with the command in bold; a line may have several.
      let terms = section("COMMANDS").split(separator: "\n").filter { $0.hasPrefix("*") }
      let named = terms.flatMap { line in
        line.matches(of: /(?:^|, )\*([a-z][a-z-]*)\*/).map { String($0.1) }
      }
      #expect(Set(named) == Set(commands))
    }

    @Test func `the manual has every option of every command, and no other`() throws {
      var told: Set<String> = []
      for command in commands {
        let help = try Self.navctl([command, "--help"])
        #expect(help.first?.hasPrefix("Usage: navctl \(command) [OPTION...]") == true)
        #expect(try Self.navctl(["help", command]) == help)
        // What an example pipes into another program is that program's.
        told.formUnion(options(help.filter { $0.contains("  --") || $0.contains(", --") }.joined()))
        let example = help.drop { !$0.hasPrefix("Example: navctl \(command)") }
        #expect(!example.isEmpty, "\(command) has no example")
      }
      told.formUnion(options(try Self.navctl(["help", "all"]).joined(separator: "\n")))
      let text = section("WHAT YOU SAW") + section("OPTIONS") + section("COMMANDS")
      #expect(told.subtracting(options(text)) == [])
      #expect(options(text).subtracting(told) == [])
    }

    @Test func `the first help is one screen, with every command under its task`() throws {
      let help = try Self.navctl(["--help"])
      // The lines with nothing on them are not in the list.
      #expect(help.count <= 22, "\(help)")
      let words = help.dropFirst(2).prefix { !$0.hasPrefix("See also") }
        .flatMap { $0.split(separator: " ").map(String.init) }
      #expect(Set(commands).subtracting(words) == [])
      #expect(help.contains { $0.hasPrefix("See also:  navctl help COMMAND") })
      #expect(try Self.navctl(["help"]) == help && Self.navctl(["-?"]) == help)
    }

    @Test func `help all has the example of every help`() throws {
      let examples = try Self.navctl(["help", "all"]).filter { $0.hasPrefix("    navctl ") }
      #expect(examples.count == commands.count)
      for (command, line) in zip(commands, examples) {
        #expect(line.hasPrefix("    navctl \(command)"), "\(line)")
      }
    }

    @Test func `nothing that navctl says of itself is wider than a terminal`() throws {
      for words in [["--help"], ["help", "all"], ["--usage"]] + commands.map({ [$0, "--help"] }) {
        for line in try Self.navctl(words) {
          #expect(line.count <= 80, "\(words): \(line)")
        }
      }
    }

    @Test func `every exit status is in the manual and in the help, and every error has one`()
      throws
    {
      let text = section("EXIT STATUS")
      let documented = Set(text.matches(of: /\*([0-9])\*/).compactMap { Int32($0.1) })
      #expect(documented == Set(0...9))
      #expect(Set(ErrorCode.allCases.map(\.exitStatus)).isSubset(of: documented))
      // Those of a command that cannot be started.
      #expect(text.contains("*126*") && text.contains("*127*"))
      let help = try Self.navctl(["help", "all"]).joined(separator: " ")
      for status in documented {
        #expect(help.contains(" \(status) "), "\(status)")
      }
    }

    @Test(arguments: ErrorCode.allCases)
    func `explain says what to do about every error, for people and for programs`(
      code: ErrorCode
    ) throws {
      let text = try Self.navctl(["explain", code.rawValue])
      #expect(text.first == "\(code.rawValue)  exit status \(code.exitStatus)")
      #expect(text.last?.hasPrefix("  try: ") == true)
      let json = try JSON(try Self.navctl(["explain", code.rawValue, "-o", "json"]).joined().utf8)
      #expect(json["exit"]?.integer == UInt64(code.exitStatus))
      #expect(json["try"]?.string.map { text.last == "  try: \($0)" } == true)
    }
  }
}
