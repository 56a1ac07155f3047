import NavigationCore
import NavigationHub

/// Replays a recording revision by revision, and verifies the digest of each.
///
/// With each revision the player also reads the following entries that change nothing. So it has
/// verified the whole recording when it reaches the last revision.
struct RecordingPlayer: ~Copyable {
  private let path: String
  let header: RecordingHeader
  private var input: RecordingInput
  private var verifier: RecordingVerifier
  private var nextEntry: [UInt8]?
  private(set) var currentEntry: [UInt8] = []
  private(set) var isAtEnd = false

  init(_ path: String) throws {
    var input = try RecordingInput(path)
    header = try input.header()
    self.path = path
    self.input = input
    verifier = RecordingVerifier(header)
  }

  var revision: Revision { verifier.replay.revision }

  var digest: Digest { verifier.replay.digest }

  var state: [UInt8] { verifier.replay.state(of: header.nav) }

  func hasReached(_ last: Revision) -> Bool { nextEntry == nil || revision >= last }

  func contains(_ revision: Revision) -> Bool { revision >= header.from && revision <= header.to }

  /// The time of the next entry, in milliseconds since 1970; nil at the end.
  var nextEntryMilliseconds: UInt64? { nextEntry.flatMap { Self.milliseconds(of: $0) } }

  mutating func advance() throws {
    try readAhead()
    while let next = nextEntry.take() {
      currentEntry = next
      let step = try verifier.check(next, line: input.lineNumber)
      try readAhead()
      // An entry without contents leads to a state.
      if step.changesState { return }
    }
  }

  mutating func seek(_ target: Revision) throws {
    if target < revision { self = try RecordingPlayer(path) }
    while !verifier.replay.isBegun || !hasReached(target) { try advance() }
  }

  private mutating func readAhead() throws {
    while nextEntry == nil, !isAtEnd {
      switch try input.next() {
      case .entry(let entry):
        let kind = (try? JSONValue(entry))?["kind"]?.string
        guard let kind, ["state", "created", "changed"].contains(kind) else {
          try verifier.check(entry, line: input.lineNumber)
          continue
        }
        nextEntry = entry
      case .end(let end):
        try verifier.finish(end)
        _ = try input.next()
        isAtEnd = true
      case nil: isAtEnd = true
      }
    }
  }

  static func milliseconds(of entry: [UInt8]) -> UInt64? { (try? JSONValue(entry))?["t"]?.integer }
}
