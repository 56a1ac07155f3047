package import NavigationCore

/// One row of the journal: one event in the life of one nav.
///
/// Rows are appended in the order of `sequence`, which numbers the rows of the whole daemon from 1
/// without a gap. The rows of one nav form a chain: `previous` names the row before. So a reader
/// follows a nav's history back from the newest row, and commits maintain no index.
@dynamicMemberLookup
package struct JournalRow: Hashable, Sendable {
  /// The kinds of rows.
  package enum Kind: UInt8, Sendable {
    /// The nav was created; the body carries its complete state at revision 1.
    case created = 1
    /// The nav went from `revision - 1` to `revision`.
    case changed = 2
    /// The nav was closed; `revision` is its last.
    case closed = 3
    /// The nav was given a new epoch; the body carries the epoch, the state is unchanged.
    case epoch = 4
    /// A client reported a divergence; the state is unchanged.
    case report = 5
  }

  package var header: RowHeader
  /// The encoded change, opaque to the journal.
  package var body: [UInt8]

  package init(_ header: RowHeader, body: [UInt8]) {
    self.header = header
    self.body = body
  }

  package subscript<Value>(dynamicMember column: WritableKeyPath<RowHeader, Value>) -> Value {
    get { header[keyPath: column] }
    set { header[keyPath: column] = newValue }
  }
}

/// The op that caused a row, and its author.
package struct RowAuthor: Hashable, Sendable {
  package var author: Author
  package var client: ClientID
  /// The id of the op, which `author.principal` and `client` make unique.
  package var op: UInt64

  package init(_ author: Author, client: ClientID, op: UInt64) {
    self.author = author
    self.client = client
    self.op = op
  }
}

/// The columns of one row without its body.
package struct RowHeader: Hashable, Sendable {
  /// The number of the row, 1 and up, which is also its key in the journal.
  package var sequence: UInt64
  /// The number of the nav, 1 and up; no other nav in the journal has it.
  package var nav: UInt64
  /// The revision after this row.
  package var revision: UInt64
  /// The `sequence` of the nav's row before this one, 0 for none.
  package var previous: UInt64
  /// Wall-clock time of the commit in milliseconds since 1970; for people, never for order.
  package var time: UInt64
  package var kind: JournalRow.Kind
  /// The number of screens on the nav's stack after the row.
  package var depth: Int
  /// The top screen after the row; nil if the stack is empty.
  package var top: ScreenID?
  /// Whether a restart after this row would have to end a transition, gesture or lease of the nav.
  package var needsRecovery: Bool
  /// The op that caused the row; nil if none did.
  package var author: RowAuthor?

  package init(
    sequence: UInt64, nav: UInt64, revision: UInt64, previous: UInt64, time: UInt64,
    kind: JournalRow.Kind, depth: Int, top: ScreenID?, needsRecovery: Bool = false,
    author: RowAuthor? = nil
  ) {
    assert((depth == 0) == (top == nil), "a stack of \(depth) with the top \(top?.text ?? "none")")
    self.sequence = sequence
    self.nav = nav
    self.revision = revision
    self.previous = previous
    self.time = time
    self.kind = kind
    self.depth = depth
    self.top = top
    self.needsRecovery = needsRecovery
    self.author = author
  }
}

/// The complete state of one nav at one revision, so that replay need not start at revision 1.
package struct SnapshotRow: Hashable, Sendable {
  package var nav: UInt64
  package var revision: UInt64
  /// The `sequence` of the nav's row that led to this state.
  package var sequence: UInt64
  /// Wall-clock time in milliseconds since 1970.
  package var time: UInt64
  /// The encoded state, opaque to the journal.
  package var body: [UInt8]

  package init(nav: UInt64, revision: UInt64, sequence: UInt64, time: UInt64, body: [UInt8]) {
    self.nav = nav
    self.revision = revision
    self.sequence = sequence
    self.time = time
    self.body = body
  }
}
