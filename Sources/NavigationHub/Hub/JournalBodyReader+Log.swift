import NavigationCore

// The log of a nav, as clients read it.

extension JournalBodyReader {
  /// The log entry of the loaded row, as `get log` shows it.
  func logEntry(_ row: JournalRow) -> [UInt8] {
    JSONWriter.object { writeEntry(row, &$0) }
  }

  /// The answer to `get diffs`: the entries of rows with their changes or states, up to a number of
  /// octets.
  ///
  /// The list ends at a revision: rows of one revision stay together. An entry of half of `bytes` or
  /// more is listed without its contents. `next` is the revision at which the next list begins; nil
  /// if there is no more.
  mutating func page(
    of rows: [JournalRow], bytes: Int
  ) throws(StoredDataError) -> (list: [UInt8], next: Revision?) {
    var json = JSONWriter(reserving: 4096)
    json.beginArray()
    var next: Revision?
    var rest = rows[...]
    while let first = rest.first {
      let group = rest.prefix { $0.revision == first.revision }
      var entries: [[UInt8]] = []
      var size = 0
      for row in group {
        try load(row)
        var entry = entry(row, hasContents: true)
        if entry.count >= bytes / 2 { entry = self.entry(row, hasContents: false) }
        // A client that diverges again and again at one revision must not end the list there.
        if row.kind == .report, size + entry.count > bytes * 3 / 4 { continue }
        size += entry.count + 1
        entries.append(entry)
      }
      if json.count > 1, json.count + size > bytes {
        next = Revision(first.revision)
        break
      }
      for entry in entries { json.raw(entry) }
      rest = rest.dropFirst(group.count)
    }
    json.endArray()
    return (json.bytes, next)
  }

  /// The log entry of the loaded row with its contents: the changes of a revision, or the state with
  /// which it begins.
  private func entry(_ row: JournalRow, hasContents: Bool) -> [UInt8] {
    JSONWriter.object { json in
      json.member("kind", "\(row.kind)")
      writeEntry(row, &json)
      if !hasContents {
        json.member("omitted", true)
      } else if row.kind == .created {
        json.member("state", raw: contents)
      } else if let diffIndex {
        json.copy(["depth", "ch", "ev"], of: diffIndex, tape)
      }
    }
  }

  /// The loaded state, with the members that clients see.
  private var contents: [UInt8] { JSONWriter.object { $0.copyStateMembers(of: tape) } }

  private func writeEntry(_ row: JournalRow, _ json: inout JSONWriter) {
    json.member("rev", row.revision)
    json.member("t", row.time)
    json.copy(["bad"], of: 0, tape)
    if row.kind == .changed || row.kind == .created {
      // Only `$appearance` is created without a client.
      let other = tape.member(short: "by", of: 0) == nil ? "appearance" : "api"
      json.optional("cause", diffIndex.flatMap { text("cause", of: $0) } ?? other)
    }
    if row.kind == .epoch {
      json.optional("cause", text("cause"))
      json.optional("epoch", text("epoch"))
    }
    if let by = tape.member(short: "by", of: 0) {
      json.name("by")
      json.beginObject()
      json.copy(["name", "op", "principal", "pid"], of: by, tape)
      json.endObject()
    }
    if let ops = tape.member(short: "ops", of: 0) { json.member("do", raw: tape.raw(ops)) }
    json.copy(["sender"], of: 0, tape)
    writeScreens(of: row.kind, &json)
    json.memberIfTrue("override", flag("override"))
    json.memberIfTrue("vetoSkipped", flag("vetoSkipped"))
    json.optional("before", text("before"))
    json.optional("dig", diffIndex.flatMap { text("dig", of: $0) } ?? text("dig"))
  }

  /// Writes the screens that the revision put on the stack (`ins`), took off it (`del`), or shows in
  /// presentations now (`presented`), each at most once.
  private func writeScreens(of kind: JournalRow.Kind, _ json: inout JSONWriter) {
    var (inserted, removed): ([Int], [Int]) = ([], [])
    var presented: [Int]?
    if kind == .created, let screens = tape.member(short: "screens", of: 0) {
      inserted += elements(of: screens)
    }
    if let diffIndex, let changes = tape.member(short: "ch", of: diffIndex) {
      for change in elements(of: changes) {
        if let list = tape.member(short: "ins", of: change) { inserted += elements(of: list) }
        if let list = tape.member(short: "del", of: change) { removed += elements(of: list) }
        guard let part = tape.member(short: "set", of: change),
          tape.string(part) == PartName.presented.text,
          let state = tape.member(short: "to", of: change)
        else { continue }
        let chain = tape.member(short: "chain", of: state).map { elements(of: $0) } ?? []
        presented = chain.compactMap { tape.member(short: "screen", of: $0) }
      }
    }
    if !inserted.isEmpty { json.screens("ins", inserted, tape) }
    if !removed.isEmpty { json.array("del", removed) { $0.raw(tape.raw($1)) } }
    if let presented { json.screens("presented", presented, tape) }
  }

  /// The places of an array's elements; none if the value is not an array.
  private func elements(of index: Int) -> [Int] {
    tape.kind(index) == .array ? tape.elements(of: index) { $0 } : []
  }
}

extension JSONWriter {
  /// Writes the ids and routes of the screens at some places of the tape, as a member.
  fileprivate mutating func screens(
    _ name: StaticString, _ records: [Int], _ tape: borrowing JSONTape
  ) {
    self.name(name)
    beginArray()
    for record in records {
      beginObject()
      copy(["id", "route"], of: record, tape)
      endObject()
    }
    endArray()
  }

  /// Copies members from an object on the tape, except members that the object lacks.
  fileprivate mutating func copy(_ members: [String], of record: Int, _ tape: borrowing JSONTape) {
    for member in members {
      guard let value = tape.member(member, of: record) else { continue }
      dynamicName(member)
      raw(tape.raw(value))
    }
  }
}
