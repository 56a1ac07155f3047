import NavigationCore

/// The rules for mirrors as the protocol states them, written down a second time and slowly.
///
/// It stands beside the client under test, sees the same messages, and says what should follow.
struct NaiveMirrors: Sendable {
  /// The state of one nav.
  struct State: Sendable, Equatable {
    var kind: String
    var epoch: Epoch
    var revision: Revision
    var digest: Digest
    var screens: [MirrorRecord]
    var parts: [MirrorRecord]
    var resolved: [UInt8]?

    /// The body of `get state`, made from what the mirror has.
    func text(nav: String) -> String {
      var bytes = Array(
        """
        {"nav":"\(nav)","kind":"\(kind)","epoch":"\(epoch.text)","rev":\(revision.number),\
        "i":0,"last":true,"why":"join","screens":[
        """.utf8)
      for (index, screen) in screens.enumerated() {
        if index > 0 { bytes.append(0x2C) }
        bytes.append(contentsOf: screen.json.bytes)
      }
      bytes.append(0x5D)
      for part in parts {
        bytes.append(contentsOf: ",\"\(part.id)\":".utf8)
        bytes.append(contentsOf: part.json.bytes)
      }
      if let resolved {
        bytes.append(contentsOf: ",\"resolved\":".utf8)
        bytes.append(contentsOf: resolved)
      }
      bytes.append(contentsOf: ",\"dig\":\"\(digest.text)\"}".utf8)
      return bytes.text
    }
  }

  private var states: [String: State] = [:]
  /// The state of each nav when it was watched last.
  private var starts: [String: State] = [:]
  private var partials: [String: [MirrorRecord]] = [:]
  /// The navs that are watched on this connection.
  private var watched: Set<String> = []
  /// The unanswered watch of each nav, by its id.
  private var pending: [String: UInt64] = [:]

  /// The state of a nav while it is known and no watch is pending.
  func state(of nav: String) -> State? { pending[nav] == nil ? states[nav] : nil }

  mutating func restore(_ nav: String, _ state: State) { states[nav] = state }

  mutating func sent(_ verb: ClientVerb, _ body: [UInt8], nav: String?) {
    guard verb == .watch, let nav, body.position(of: "\"view\":") == nil else { return }
    if let start = starts[nav], body.epoch == start.epoch,
      body.number(behind: "\"rev\":") == start.revision.number,
      body.position(of: Array(start.digest.text.utf8)) != nil
    {
      // What came since was for a watch that the session had taken away from its daemon.
      states[nav] = start
    }
    starts[nav] = states[nav]
    watched.insert(nav)
    pending[nav] = body.number(behind: "\"id\":")
  }

  mutating func forget(_ nav: String) {
    states[nav] = nil
    partials[nav] = nil
    pending[nav] = nil
    watched.remove(nav)
  }

  mutating func disconnect() {
    pending = [:]
    partials = [:]
    watched = []
  }

  /// Takes a message; returns what is wrong with it.
  mutating func receive(_ message: ServerMessage) -> String? {
    switch message {
    case .ok(let reply): return answered(reply.id)
    case .err(let refusal):
      let isElsewhere = refusal.knownCode == .moved || refusal.reason == "no-owner"
      if let id = refusal.id,
        refusal.knownCode == .noNav || refusal.knownCode == .forbidden || isElsewhere,
        let nav = pending.first(where: { $0.value == id })?.key
      {
        if !isElsewhere { states[nav] = nil }
        watched.remove(nav)
      }
      return refusal.id.flatMap { answered($0) }
    case .snap(let part): return receive(part)
    case .diffs(let diffs):
      for diff in diffs { if let wrong = receive(diff) { return wrong } }
      return nil
    case .mark(let mark):
      for position in mark.positions
      where pending[position.nav] == nil && watched.contains(position.nav) {
        guard let state = states[position.nav] else { return "a mark of \(position.nav)" }
        if position.revision > state.revision
          || position.revision == state.revision && position.digest != state.digest
        {
          return "mark of \(position.nav) at \(position.revision.number), mirror at "
            + "\(state.revision.number)"
        }
      }
      return nil
    case .end(let end):
      if end.view == "full" {
        // What moves is resumed at its next daemon.
        if end.why != "moved" { states[end.nav] = nil }
        partials[end.nav] = nil
        if pending[end.nav] == nil { watched.remove(end.nav) }
      }
      return nil
    case .welcome, .queued, .latest, .event, .ask, .settled, .lost, .traced, .bye, .pong, .unknown:
      return nil
    }
  }

  private mutating func answered(_ id: UInt64) -> String? {
    if let nav = pending.first(where: { $0.value == id })?.key {
      pending[nav] = nil
      partials[nav] = nil
    }
    return nil
  }

  private mutating func receive(_ part: SnapshotPart) -> String? {
    guard pending[part.nav] == nil, watched.contains(part.nav) else { return nil }
    let before = part.first == 0 ? [] : partials[part.nav] ?? []
    guard before.count == Int(part.first) else { return "part of a snapshot is missing" }
    partials[part.nav] = before + part.screens
    guard part.isLast, let digest = part.digest else { return nil }
    let labels = ["join", "lag", "epoch", "digest", "ahead", "size"]
    guard let why = part.why, labels.contains(why) else { return "a snapshot without a label" }
    let state = State(
      kind: part.kind, epoch: part.epoch, revision: part.revision, digest: digest,
      screens: before + part.screens, parts: part.parts, resolved: part.resolved?.bytes)
    partials[part.nav] = nil
    guard Self.checksum(of: state) == digest.checksum else {
      return "a snapshot with a wrong digest"
    }
    states[part.nav] = state
    return nil
  }

  private mutating func receive(_ diff: Diff) -> String? {
    guard pending[diff.nav] == nil, watched.contains(diff.nav) else { return nil }
    guard var state = states[diff.nav], partials[diff.nav] == nil else {
      return "a diff before the snapshot of \(diff.nav)"
    }
    // One connection is first in, first out: neither a gap nor a repetition can be the network's.
    guard diff.epoch == state.epoch, diff.base == state.revision,
      diff.revision == diff.base.next
    else {
      return "diff \(diff.base.number)→\(diff.revision.number) of \(diff.nav), mirror at "
        + "\(state.revision.number)"
    }
    for change in diff.changes {
      switch change {
      case .splice(let at, let removed, let inserted):
        let end = Int(at) + removed.count
        guard end <= state.screens.count,
          state.screens[Int(at)..<end].map(\.id) == removed
        else { return "a splice does not fit" }
        state.screens.replaceSubrange(Int(at)..<end, with: inserted)
      case .setScreen(let record):
        let places = state.screens.indices.filter { state.screens[$0].id == record.id }
        guard places.count == 1 else { return "a screen to set is not there" }
        state.screens[places[0]] = record
      case .setPart(let record):
        guard let place = state.parts.firstIndex(where: { $0.id == record.id }) else {
          return "a part to set is not there"
        }
        state.parts[place] = record
      }
    }
    state.revision = diff.revision
    state.digest = diff.digest
    if let resolved = diff.resolved { state.resolved = resolved.bytes }
    guard diff.depth == UInt64(state.screens.count) else { return "a wrong depth" }
    guard Self.checksum(of: state) == diff.digest.checksum else {
      return "a diff with a wrong digest"
    }
    states[diff.nav] = state
    return nil
  }

  private static func checksum(of state: State) -> UInt32 {
    Digest.checksum(
      screens: state.screens.map { ($0.id, $0.version.number) },
      parts: state.parts.map { ($0.id, $0.version.number) })
  }
}
