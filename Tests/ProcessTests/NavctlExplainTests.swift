import Foundation
import NavigationCore
import NavigationHub
import Testing

extension ProcessTests {
  /// What navctl explains, compared with what the sources can print.
  @Suite struct NavctlExplainTests {
    /// The codes that navctl lists, as it prints them in JSON.
    private let listed: [JSON]

    init() throws {
      let list = try Self.navctl(["explain", "-o", "json"])
      #expect(list.status == 0, "\(list.errors)")
      listed = try JSON(list.output.utf8)["codes"]?.array ?? []
    }

    private static func navctl(_ words: [String]) throws -> (
      status: Int32, output: String, errors: String
    ) {
      let child = try Child(Binaries.path("navctl"), words)
      child.closeInput()
      return (try child.ended(), child.standardOutput, child.standardError)
    }

    /// What a pattern's groups match in the sources of a module.
    private static func matches(_ pattern: String, in module: String) throws -> Set<String> {
      let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let directory = repository.appendingPathComponent("Sources/\(module)")
      let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
      let expression = try NSRegularExpression(pattern: pattern)
      var found: Set<String> = []
      for file in files?.allObjects as? [URL] ?? [] where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8) as NSString
        let whole = NSRange(location: 0, length: text.length)
        for match in expression.matches(in: text as String, range: whole) {
          for group in 1..<match.numberOfRanges where match.range(at: group).length > 0 {
            found.insert(text.substring(with: match.range(at: group)))
          }
        }
      }
      return found
    }

    /// The codes that the sources print, by where they are found.
    private static func printed() throws -> [String: Set<String>] {
      let word = "([a-z]+(?:-[a-z]+)*)"
      // An error begins with its code and a colon; these words begin other lines, the last four
      // those of the keyboard in `navctl ui`.
      let error = #""(?:navctl: )?"# + word + ": "
      let others: Set = [
        "navctl", "try", "why", "example", "filter", "push", "read-only", "disconnected",
      ]
      let maker = #"(?:code(?: =|:) (?:\w+ \? )?|why: |revocationCode = )""#
      let note = maker + word + #""(?: : ""# + word + #"")?"#
      return [
        "navctl": try matches(error, in: "navctl").subtracting(others),
        "hub": try matches(note, in: "NavigationHub/Hub").subtracting(Self.watchReasons),
        "TransportGuard": try matches(note, in: "TransportGuard"),
        "ErrorCode": Set(ErrorCode.allCases.map(\.rawValue)),
        "SessionEndReason": Set(SessionEndReason.allCases.map(\.rawValue)),
      ]
    }

    /// Why a watch begins with a snapshot or ends, which is no code of an error.
    private static let watchReasons: Set = [
      "join", "epoch", "ahead", "lag", "digest", "size", "closed",
    ]

    @Test func `every code that the sources can print is explained`() throws {
      let known = Set(listed.compactMap { $0["code"]?.string })
      let printed = try Self.printed()
      for (place, codes) in printed {
        #expect(!codes.isEmpty, "\(place)")
        #expect(codes.subtracting(known) == [], "\(place)")
      }
      // No explanation outlives its code, but for those that are printed as a constant.
      let all = printed.values.reduce(into: Set()) { $0.formUnion($1) }
      #expect(known.subtracting(all) == [])
      #expect(known.count == listed.count)
      for code in ["no-daemon", "timeout", "usage", "key", "revoked", "not-admitted", "override"] {
        #expect(known.contains(code), "\(code)")
      }
    }

    @Test func `each explanation has a meaning, a cause, a remedy and an example`() throws {
      for record in listed {
        let code = try #require(record["code"]?.string)
        for member in ["meaning", "why", "try"] {
          let text = try #require(record[member]?.string)
          #expect(text.count > 10 && text.count <= 240, "\(code) \(member)")
          #expect(!text.contains("\n"), "\(code) \(member)")
        }
        #expect(record["example"]?.string?.contains(#/navctl|journalctl/#) == true, "\(code)")
      }
    }

    @Test func `without a code all are listed, a line each`() throws {
      let list = try Self.navctl(["explain"])
      #expect(list.status == 0)
      let lines = list.output.split(separator: "\n")
      #expect(lines.count == listed.count + 1)
      #expect(lines.first?.hasPrefix("CODE") == true)
      for (line, record) in zip(lines.dropFirst(), listed) {
        #expect(record["code"]?.string.map { line.hasPrefix($0 + " ") } == true, "\(line)")
      }
    }

    @Test(arguments: ["no-daemon", "timeout", "usage", "desync", "revoked", "forbidden"])
    func `a code is explained for people`(code: String) throws {
      let text = try Self.navctl(["explain", code])
      #expect(text.status == 0)
      for part in ["\(code)  exit status ", "  why: ", "  example: ", "  try: "] {
        #expect(text.output.contains(part), "\(text.output)")
      }
    }

    @Test(arguments: [("desnyc", "desync"), ("timout", "timeout"), ("DESYNC", "desync")])
    func `an unknown code is a usage error that names the nearest`(typed: String, code: String)
      throws
    {
      let result = try Self.navctl(["explain", typed])
      #expect(result.status == 2 && result.output == "")
      #expect(result.errors.hasPrefix("navctl: usage: "), "\(result.errors)")
      #expect(result.errors.contains("'\(code)'"), "\(result.errors)")
      #expect(result.errors.contains("try: navctl explain"), "\(result.errors)")
      let stranger = try Self.navctl(["explain", "xyzzyxyzzy"])
      #expect(stranger.status == 2 && !stranger.errors.contains("is it"), "\(stranger.errors)")
    }
  }
}
