/// A record whose members an ``Edit`` can set one at a time.
package protocol EditableRecord: Hashable, Sendable, SendableMetatype {
  /// Makes the record with all members at their defaults.
  init()
}

/// A change that sets one member of a record.
package struct Edit<Record: EditableRecord>: Sendable {
  package typealias Path<Value> = any WritableKeyPath<Record, Value> & Sendable

  private let path: any PartialKeyPath<Record> & Sendable
  /// A record that has the new value in this member, and defaults in all others.
  package let value: Record
  private let copyMember: @Sendable (Record, inout Record) -> Void

  package init<Value>(_ path: Path<Value>, _ value: Value) {
    var record = Record()
    record[keyPath: path] = value
    self.path = path
    self.value = record
    copyMember = { $1[keyPath: path] = $0[keyPath: path] }
  }

  package static func set<Value>(_ path: Path<Value>, _ value: Value) -> Edit { Edit(path, value) }

  fileprivate func apply(to record: inout Record) { copyMember(value, &record) }
}

extension Edit: Hashable {
  package static func == (left: Edit, right: Edit) -> Bool {
    left.path == right.path && left.value == right.value
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(value)
  }
}

extension EditableRecord {
  package init(_ edits: [Edit<Self>]) {
    self.init()
    apply(edits)
  }

  package mutating func apply(_ edit: Edit<Self>) { edit.apply(to: &self) }

  package mutating func apply(_ edits: [Edit<Self>]) { for edit in edits { apply(edit) } }
}
