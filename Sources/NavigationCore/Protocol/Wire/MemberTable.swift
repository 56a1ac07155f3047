/// A record whose JSON members a table lists.
///
/// The table serves to read clients' messages and journal rows, and to write both. Null sets a
/// member to its default. Operations read and write frequent members of screens without the table.
package protocol TabledRecord: EditableRecord {
  static var table: MemberTable<Self> { get }
}

/// The members of a record in the order of writing; the writer omits members at their defaults.
package struct MemberTable<Record: TabledRecord>: Sendable {
  /// The name of the record in error messages, such as `a bar`.
  private let recordName: String
  let members: [Member<Record>]
  /// The indices in `members` of each group, or of each member without a group, in order.
  let memberRanges: [Range<Int>]
  private let byName: [Text: Range<Int>]

  package init(_ recordName: String, _ lists: [Member<Record>]...) {
    let members = lists.flatMap { $0 }
    var memberRanges: [Range<Int>] = []
    for index in members.indices {
      let group = members[index].group?.description
      let isInner = group != nil && index > 0 && group == members[index - 1].group?.description
      memberRanges.append((isInner ? memberRanges.removeLast().lowerBound : index)..<index + 1)
    }
    self.recordName = recordName
    self.members = members
    self.memberRanges = memberRanges
    byName = Dictionary(
      uniqueKeysWithValues: memberRanges.map { range in
        let member = members[range.lowerBound]
        return (Text((member.group ?? member.name).description), range)
      })
  }

  /// The names of all members that clients can set, such as `veto` and `veto.policy` for a group.
  package var names: [String] {
    memberRanges.flatMap { range in
      let settable = members[range].filter { !$0.isReadonly }
      return (settable.first?.group.map { [$0.description] } ?? []) + settable.map(\.path)
    }
  }

  /// Whether only the daemon can set the member with this name.
  package func isReadonly(_ name: Text) -> Bool {
    byName[name].map { members[$0.lowerBound].isReadonly } ?? false
  }

  /// Writes the members that are not at their defaults, and all members of a group if one is not.
  package func write(_ record: Record, _ json: inout JSONWriter) {
    for range in memberRanges where members[range].contains(where: { !$0.isDefault(record) }) {
      let group = members[range.lowerBound].group
      if let group {
        json.name(group)
        json.beginObject()
      }
      for member in members[range] {
        json.name(member.name)
        member.write(record, &json)
      }
      if group != nil { json.endObject() }
    }
  }

  /// Reads the member `name`, which errors call `path`; returns nil if the table lacks the name.
  package func edits(
    _ tape: JSONTape, _ name: String, _ at: Int, _ path: String
  ) throws(ReadFailure) -> [Edit<Record>]? {
    guard let range = byName[Text(name)] else { return nil }
    let inner = members[range]
    // Null sets the default of each member of a group.
    if members[range.lowerBound].group == nil || tape.kind(at) == .null {
      return try inner.map { member throws(ReadFailure) in
        try member.read(tape, at, member.group == nil ? path : member.path)
      }
    }
    let names = inner.map(\.name.description)
    try tape.needObject(at, "\(name) is {\(names.joined(separator: ", "))}")
    return try tape.members(of: at) { name, value throws(ReadFailure) in
      guard let member = inner.first(where: { $0.name.description == name }) else {
        throw tape.unknownMember(name, of: path)
      }
      return [try member.read(tape, value, member.path)]
    }
  }

  /// Reads a message, its required members first; null counts as missing.
  ///
  /// The function ignores members that are not in the table.
  package func read(_ tape: JSONTape, without skipped: Set<Text> = []) throws(ReadFailure) -> Record
  {
    var record = Record()
    let needed = members.filter { $0.errorIfMissing != nil }
    let others = members.filter { $0.errorIfMissing == nil }
    for member in needed + others where !skipped.contains(Text(member.path)) {
      if let at = tape.member(member.path, of: tape.root), tape.kind(at) != .null {
        record.apply(try member.read(tape, at, member.path))
      } else if let errorIfMissing = member.errorIfMissing {
        throw ReadFailure(errorIfMissing)
      }
    }
    return record
  }

  /// Reads a member; throws if the table does not have it.
  package func editsOfKnownMember(
    _ tape: JSONTape, _ name: String, _ at: Int
  ) throws(ReadFailure) -> [Edit<Record>] {
    guard let edits = try edits(tape, name, at, name) else {
      throw tape.unknownMember(name, of: recordName)
    }
    return edits
  }
}

extension JSONWriter {
  package mutating func record<Record: TabledRecord>(_ record: Record) {
    beginObject()
    Record.table.write(record, &self)
    endObject()
  }

  /// Writes a dictionary as an object, with its names in byte order.
  package mutating func sortedObject<Value>(
    _ members: [Text: Value], _ write: (Value, inout JSONWriter) -> Void
  ) {
    beginObject()
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      dynamicName(name.string)
      write(value, &self)
    }
    endObject()
  }
}

extension JSONTape {
  /// Reads members that a client sets; `own` gets each one first, and returns true if it read it.
  package func edits<Record: TabledRecord>(
    _ at: Int,
    own: (String, Int) throws(ReadFailure) -> Bool = { _, _ in false }
  ) throws(ReadFailure) -> [Edit<Record>] {
    try members(of: at) { name, value throws(ReadFailure) in
      try own(name, value) ? [] : try Record.table.editsOfKnownMember(self, name, value)
    }
  }

  /// Throws `readonly` if the object has a member that no client can set.
  package func refuseReadonly<Record>(
    _ table: MemberTable<Record>, _ names: Set<Text> = [], _ at: Int
  ) throws(ReadFailure) {
    try forEachMember(of: at) { name, _ throws(ReadFailure) in
      let key = Text(name)
      if names.contains(key) || table.isReadonly(key) || Self.readonly.contains(key) {
        throw ReadFailure(.readonly, "\(name) is derived or fixed and cannot be set")
      }
    }
  }

  /// Reads a record from the journal; `own` gets each member first, and returns true if it read it.
  package func storedRecord<Record: TabledRecord>(
    _ at: Int,
    own: (String, Int) throws(ReadFailure) -> Bool = { _, _ in false }
  ) throws(ReadFailure) -> Record {
    var record = Record()
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      guard name != "ver", try !own(name, value) else { return }
      record.apply(try Record.table.editsOfKnownMember(self, name, value))
    }
    return record
  }
}

/// One JSON member of a record: its name, its key path, and the functions that read and write it.
package struct Member<Record: EditableRecord>: Sendable {
  package typealias Path<Value> = Edit<Record>.Path<Value>
  /// Returns the function that reads a value of the tape other than null.
  package typealias Read<Value> = @Sendable (JSONTape) -> ReadValue<Value>

  let name: StaticString
  /// The name of the inner object that has the member; nil if the record itself has it.
  private(set) var group: StaticString?
  private(set) var isReadonly = false
  /// The error message if a message lacks the member; nil if the member is optional.
  private(set) var errorIfMissing: String?
  /// The documentation of the library function that sets the member; empty if there is no function.
  private(set) var documentation: StaticString = ""
  let type: any Sendable.Type
  private(set) var isDefault: @Sendable (Record) -> Bool
  private(set) var read: @Sendable (JSONTape, Int, String) throws(ReadFailure) -> Edit<Record>
  let write: @Sendable (Record, inout JSONWriter) -> Void

  var path: String { group.map { "\($0).\(name)" } ?? name.description }

  /// A member with its own functions to read and write it, and its own test for the default.
  package init<Value: Sendable>(
    _ name: StaticString, _ path: Path<Value>, isDefault: @escaping @Sendable (Value) -> Bool,
    read: @escaping Read<Value>, write: @escaping @Sendable (Value, inout JSONWriter) -> Void
  ) {
    self.name = name
    type = Value.self
    self.isDefault = { isDefault($0[keyPath: path]) }
    self.read = { tape, at, name throws(ReadFailure) in
      Edit(path, tape.kind(at) == .null ? Record()[keyPath: path] : try read(tape)(at, name))
    }
    self.write = { write($0[keyPath: path], &$1) }
  }

  /// A member that its type writes, and reads unless `read` replaces the type's function.
  package init<Value: WireValue>(
    _ name: StaticString, _ path: Path<Value>, _ read: Read<Value>? = nil
  ) {
    let standard = Record()[keyPath: path]
    self.init(name, path, isDefault: { $0.equals(standard) }, read: read ?? { Value.read($0) }) {
      $0.write(&$1)
    }
    guard read == nil else { return }
    // The optimiser can inline this call, and then makes no closure for each value that is read.
    self.read = { tape, at, name throws(ReadFailure) in
      Edit(path, tape.kind(at) == .null ? standard : try Value.read(tape)(at, name))
    }
  }

  package init(_ name: StaticString, _ path: Path<UInt64>, in range: ClosedRange<UInt64>) {
    self.init(name, path) { tape in
      { at, name throws(ReadFailure) in try tape.integer(at, name, in: range) }
    }
  }

  /// A Boolean member with the words `on` and `off` as its JSON strings for true and false.
  package init(_ name: StaticString, _ path: Path<Bool>, on: String, off: String) {
    let standard = Record()[keyPath: path]
    let words = standard ? "\(on) or \(off)" : "\(off) or \(on)"
    self.init(
      name, path, isDefault: { $0 == standard },
      read: { tape in
        { at, name throws(ReadFailure) in
          let word = tape.string(at)
          guard word == on || word == off else {
            throw ReadFailure("\(name) is \(words)")
          }
          return word == on
        }
      }
    ) { $1.word($0 ? on : off) }
  }

  /// A copy of this member that only the daemon can set.
  package var readonly: Member {
    var member = self
    member.isReadonly = true
    return member
  }

  /// A copy of this member that the writer does not omit at its default.
  package var alwaysWritten: Member {
    var member = self
    member.isDefault = { _ in false }
    return member
  }

  /// A copy of this member that is required: the reader throws this text if a message lacks it.
  package func required(_ errorText: String) -> Member {
    var member = alwaysWritten
    member.errorIfMissing = errorText
    return member
  }

  /// A copy of this member with documentation for the generated library function that sets it.
  package func documented(_ text: StaticString) -> Member {
    var member = self
    member.documentation = text
    return member
  }

  /// The members of an inner object; one generated library function sets all of them.
  package static func group(
    _ name: StaticString, _ documentation: StaticString, _ members: Member...
  ) -> [Member] {
    members.map {
      var member = $0.documented(documentation)
      member.group = name
      return member
    }
  }
}
