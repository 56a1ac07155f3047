import Testing

@testable import NavigationCore
@testable import NavigationHub

/// What follows from the tables of members.
@Suite struct MemberTableTests {
  /// Values of all kinds; each member takes at least one of them.
  private static let values =
    ["true", "false", "3", "40", "[]", "{}", #"[["tap","pan"]]"#, #"["top"]"#]
    + [#""x""#, #"{"ref":"i","hasAlpha":true}"#, #"{"view":"v","height":3}"#, #"{"id":"b"}"#]
    + [#"[{"id":"b","title":"B"}]"#, #"{"title":"T","rightItems":[{"id":"b"}]}"#, #"{"de":"W"}"#]
    + [#"{"Bar":{"translucent":false}}"#, #"{"cause":"tap","toolbar":true}"#]
    + [#"{"supported":["portrait"],"preferred":"portrait"}"#, #"{"compact":{"a":1}}"#]
    + [#"{"compact":3}"#, #"{"any/compact":{"ref":"i"}}"#, #"{"color":"red"}"#]
    + [
      "black", "done", "never", "minimal", "none", "all", "off", "high", "pad", "small", "top",
      "editor", "leading", "interrupt", "inline",
    ].map {
      "\"\($0)\""
    } + ["landscapeLeft", "add", "fullScreen", "allow", "de"].map { "\"\($0)\"" }

  private func tape(_ text: String) throws -> JSONTape {
    var tape = JSONTape()
    try tape.read(Array(text.utf8))
    return tape
  }

  private func text<Record: TabledRecord>(_ record: Record) -> String {
    String(decoding: JSONWriter.value { $0.record(record) }, as: UTF8.self)
  }

  /// The members that only the daemon sets.
  private static let readonly = ["class", "hidden", "hid", "owner", "orientations", "proxy"]

  private func check<Record: TabledRecord>(_ type: Record.Type) throws {
    #expect(text(Record()) == "{}")
    let table = Record.table
    let names = table.names + Self.readonly.filter { table.isReadonly(Text($0)) }
    #expect(names.count >= 4)
    // A group is set by its members.
    for name in names where !names.contains(where: { $0.hasPrefix("\(name).") }) {
      let path = name.split(separator: ".").map(String.init)
      if path.count == 2 { #expect(try table.edits(tape("1"), name, 0, name) == nil) }
      var accepted = 0
      for value in Self.values {
        let whole = path.count == 2 ? "{\"\(path[1])\":\(value)}" : value
        guard
          let edits = try? table.edits(try tape(whole), path[0], 0, path[0])
        else { continue }
        let record = Record(edits)
        if record == Record() { continue }
        accepted += 1
        let written = text(record)
        let back: Record = try tape(written).storedRecord(0)
        #expect(back == record, "\(Record.self).\(name): \(written)")
        #expect(text(back) == written, "\(Record.self).\(name)")
        #expect(written.hasPrefix("{\"\(path[0])\":"), "\(written) is not \(name) alone")
        #expect(try tape(written).count(0) == 1, "\(written) is not \(name) alone")
        var reset = record
        reset.apply(try table.edits(try tape("null"), path[0], 0, path[0]) ?? [])
        #expect(reset == Record(), "\(Record.self).\(name): null is the default")
      }
      #expect(accepted > 0, "\(Record.self).\(name) takes none of the values")
    }
  }

  @Test func `every member set alone survives, with the same octets, and null resets it`() throws {
    try check(Settings.self)
    try check(Environment.self)
    try check(Toolbar.self)
    try check(Bar.self)
    try check(TitleTextAttributes.self)
    try check(AppearanceSet.self)
    try check(ButtonContent.self)
    try check(NavigationItem.self)
    try check(ScreenDetails.self)
  }

  @Test func `a member of a group has no name of its own, and a derived one is readonly`() throws {
    for (text, code) in [
      (#"{"veto.deadline":5}"#, ErrorCode.invalidArgument), (#"{"veto":{"ver":1}}"#, .readonly),
      (#"{"veto":5}"#, .invalidArgument), (#"{"proxy":{}}"#, .readonly),
    ] {
      let error = try #require(throws: ReadFailure.self) {
        try tape(text).settingsEdits(0)
      }
      #expect(error.code == code, "\(text)")
    }
  }
}
