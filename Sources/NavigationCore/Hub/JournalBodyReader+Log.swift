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
    writeScreens(&json)
    json.flag("override", flag("override"))
    json.flag("vetoSkipped", flag("vetoSkipped"))
    json.optional("before", text("before"))
    json.optional("dig", diff.flatMap { text("dig", of: $0) } ?? text("dig"))
    json.endObject()
    return json.bytes
  }

  /// Writes the screens that the revision put on the stack (`ins`), took off it (`del`), or shows in
  /// presentations now (`presented`).
  private func writeScreens(_ json: inout JSONWriter) {
    if let screens = tape.member(short: "screens", of: 0) { json.screens("ins", screens, tape) }
    guard let diff, let changes = tape.member(short: "ch", of: diff) else { return }
    tape.forEachElement(of: changes) { change in
      if let inserted = tape.member(short: "ins", of: change), tape.count(inserted) > 0 {
        json.screens("ins", inserted, tape)
      }
      if let removed = tape.member(short: "del", of: change), tape.count(removed) > 0 {
        json.member("del", raw: tape.raw(removed))
      }
      guard let part = tape.member(short: "set", of: change), tape.string(part) == "presented",
        let state = tape.member(short: "to", of: change)
      else { return }
      json.name("presented")
      json.beginArray()
      if let chain = tape.member(short: "chain", of: state) {
        tape.forEachElement(of: chain) { link in
          if let screen = tape.member(short: "screen", of: link) { json.screen(screen, tape) }
        }
      }
      json.endArray()
    }
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

  /// Writes ids and routes of screens, as a member.
  fileprivate mutating func screens(_ name: StaticString, _ list: Int, _ tape: borrowing JSONTape) {
    self.name(name)
    beginArray()
    tape.forEachElement(of: list) { screen($0, tape) }
    endArray()
  }

  fileprivate mutating func screen(_ record: Int, _ tape: borrowing JSONTape) {
    beginObject()
    for member in ["id", "route"] {
      guard let index = tape.member(member, of: record) else { continue }
      dynamicName(member)
      raw(tape.raw(index))
    }
    endObject()
  }
}
