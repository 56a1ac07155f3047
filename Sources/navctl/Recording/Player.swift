import NavctlSupport
import NavigationClient
import NavigationCore
import NavigationRecording

/// Carries a recording to a daemon by `publish`, revision by revision, and proves each on the way.
struct Player: ~Copyable {
  private let path: String
  /// The first line of the recording.
  let header: RecordingHeader
  private var input: RecordingInput
  private var verifier: RecordingVerifier
  private var connection: NavigationConnection
  /// The entries read ahead: up to the next one that changes the nav.
  private var ahead: [UInt8]?
  /// What the daemon has; nil if it does not have the nav.
  private var position: NavPosition?
  /// The revision that is shown; nil before the first.
  var revision: Revision? { position?.revision }
  /// The entry that led to it.
  private(set) var entry: [UInt8] = []
  /// Whether the last line was read, and was right.
  private(set) var isAtEnd = false

  /// Opens a recording for a daemon.
  static func open(_ path: String, _ connection: consuming NavigationConnection) throws -> Player {
    var input = try RecordingInput(path)
    let header = try input.header()
    return Player(path, header, input, connection)
  }

  private init(
    _ path: String, _ header: RecordingHeader, _ input: consuming RecordingInput,
    _ connection: consuming NavigationConnection
  ) {
    (self.path, self.header) = (path, header)
    self.input = input
    verifier = RecordingVerifier(header)
    self.connection = connection
  }

  /// Whether nothing is left to show up to a revision.
  func isDone(at last: Revision) -> Bool {
    isAtEnd && ahead == nil || last < header.to && revision.map { $0 >= last } ?? false
  }

  /// Whether the recording has a revision.
  func has(_ revision: Revision) -> Bool { revision >= header.from && revision <= header.to }

  /// The digest of the revision that is shown, computed.
  var digest: Digest { verifier.replay.digest }

  /// The time of the next entry in milliseconds since 1970; nil without one.
  mutating func nextTime() throws -> UInt64? {
    try fill()
    return ahead.flatMap { Self.time(of: $0) }
  }

  /// Shows the next revision; returns false at the end.
  mutating func advance() throws -> Bool {
    while let entry = try take() {
      let step = try verifier.take(entry, line: input.number)
      let isRow = step.kind != .report && step.kind != .closed
      guard isRow, let row = verifier.replay.row(of: step, time: Self.time(of: entry) ?? 0) else {
        continue
      }
      try publish([row])
      self.entry = entry
      if step.isChange { return true }
    }
    return false
  }

  /// Shows revisions as fast as the daemon takes them, up to one; many share a message.
  mutating func advance(to last: Revision, while goesOn: () -> Bool) throws {
    var rows: [PublishedRow] = []
    var size = 0
    while try hasNext(upTo: last), let entry = try take() {
      let step = try verifier.take(entry, line: input.number)
      self.entry = entry
      guard let row = verifier.replay.row(of: step, time: Self.time(of: entry) ?? 0) else {
        continue
      }
      // A state stands first in its message.
      if row.kind == .state || size > PublishedRow.bytesPerMessage {
        try publish(rows)
        (rows, size) = ([], 0)
        guard goesOn() else {
          try publish([row])
          return
        }
      }
      rows.append(row)
      if case .whole(let body) = row.body { size += body.count }
    }
    try publish(rows)
    try fill()
  }

  /// Whether the next entry is one of a revision up to `last`.
  private mutating func hasNext(upTo last: Revision) throws -> Bool {
    if !verifier.replay.isBegun || verifier.replay.revision < last { return true }
    try fill()
    guard let ahead, let revision = try JSONValue(ahead)["rev"]?.integer else { return false }
    return revision <= last.number
  }

  /// Shows a revision, without those between.
  mutating func seek(_ target: Revision) throws {
    guard target >= header.from, target <= header.to else {
      throw UsageError(
        "the recording has the revisions \(header.from.number) to \(header.to.number)")
    }
    if let position, target < position.revision {
      input = try RecordingInput(path)
      _ = try input.header()
      verifier = RecordingVerifier(header)
      (ahead, isAtEnd) = (nil, false)
      // A daemon goes forward only, so the nav begins anew.
      try send(PublishRequest(id: 0, nav: header.nav, content: .closed), nil)
      self.position = nil
    }
    while !verifier.replay.isBegun || verifier.replay.revision < target, let entry = try take() {
      try verifier.take(entry, line: input.number)
      self.entry = entry
    }
    guard position?.revision != verifier.replay.revision else { return }
    try publish([verifier.replay.stateRow(time: Self.time(of: entry) ?? 0)])
    try fill()
  }

  private mutating func take() throws -> [UInt8]? {
    try fill()
    return ahead.take()
  }

  /// Reads one entry ahead, or the end.
  private mutating func fill() throws {
    guard ahead == nil, !isAtEnd else { return }
    switch try input.next() {
    case .entry(let entry): ahead = entry
    case .end(let end):
      try verifier.finish(end)
      _ = try input.next()
      isAtEnd = true
    case nil: isAtEnd = true
    }
  }

  private mutating func publish(_ rows: [PublishedRow]) throws {
    for message in PublishedRow.messages(rows) {
      try send(PublishRequest(id: 0, nav: header.nav, from: position, content: .rows([])), message)
    }
  }

  private mutating func send(_ request: PublishRequest, _ rows: [UInt8]?) throws {
    let reply = try connection.publish(request, rows: rows)
    guard case .failure(let error) = reply.result else {
      guard case .success(let answer) = reply.result, let epoch = answer.epoch,
        let revision = answer.revision
      else { return }
      position = NavPosition(epoch: epoch, revision: revision)
      return
    }
    throw Refusal(error: error, nav: header.nav, seen: nil)
  }

  static func time(of entry: [UInt8]) -> UInt64? { (try? JSONValue(entry))?["t"]?.integer }
}
