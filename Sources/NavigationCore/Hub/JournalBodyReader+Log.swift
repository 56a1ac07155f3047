// The log of a nav, as clients read it.

extension JournalBodyReader {
  /// The log entry of the loaded row, as `get log` shows it.
  func logEntry(_ row: JournalRow) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("rev", row.revision)
    json.member("t", row.time)
    if let bad = tape.member(short: "bad", of: 0) {
      json.member("bad", raw: tape.raw(bad))
    }
    if let gap = tape.member(short: "gap", of: 0) {
      json.member("gap", raw: tape.raw(gap))
    }
    if row.kind == .changed || row.kind == .created {
      json.optional("cause", diff.flatMap { text("cause", of: $0) } ?? "api")
    }
    if row.kind == .epoch || row.kind == .replaced {
      json.optional("cause", text("cause"))
      json.optional("epoch", text("epoch"))
    }
    if let by = tape.member(short: "by", of: 0) { json.author(by, tape) }
    if let ops = tape.member(short: "ops", of: 0) {
      json.member("do", raw: tape.raw(ops))
    }
    if let sender = tape.member(short: "sender", of: 0) {
      json.member("sender", raw: tape.raw(sender))
    }
    json.flag("override", flag("override"))
    json.flag("vetoSkipped", flag("vetoSkipped"))
    json.optional("before", text("before"))
    json.optional("dig", diff.flatMap { text("dig", of: $0) } ?? text("dig"))
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  /// Writes the author without the client's id, which only serves to recognise repeated ops.
  fileprivate mutating func author(_ by: Int, _ tape: borrowing JSONTape) {
    name("by")
    beginObject()
    for member in ["name", "op", "principal", "pid"] {
      guard let index = tape.member(member, of: by) else { continue }
      dynamicName(member)
      raw(tape.raw(index))
    }
    endObject()
  }
}
