package import NavigationCore

/// A nav rebuilt from the entries of `get` `diffs`, by the rules of this version.
///
/// It has what the entries have: the stack, the presented screens and the parts. It drops detached
/// records, which entries lack and no digest covers. Law: after `take`, the checksum in `digest` is
/// computed from the state, and the chain is the entry's. `resolvedBar` is what `get` `bar` answers
/// for the state.
package struct HistoryReplay: Sendable {
  /// The version of the rules that compute the resolved bar.
  package static let rulesVersion: UInt64 = 4

  /// The effect of one entry.
  package struct Step: Sendable {
    /// The kind of the entry; nil for a kind of a later version.
    package var kind: Kind?
    package var revision: Revision
    /// The digest that the entry names; nil if it names none.
    package var recordedDigest: Digest?
    /// The digest before the revision that the entry names; nil if it names none.
    package var digestBefore: Digest?
    /// Whether the entry changed the state.
    package var changesState = false
    /// Whether the entry lacks its contents, so that the next entry must be a complete state.
    package var lacksContents = false
    /// The resolved bar after the entry, as computed; nil if the entry does not change it.
    package var bar: [UInt8]?
    /// The resolved bar that the entry names; nil if it names none.
    package var recordedBar: [UInt8]?
  }

  /// The kinds of entries.
  package enum Kind: String, Sendable {
    /// The kinds of `get` `diffs`, and `state`: the complete state at a revision.
    case state, created, changed, epoch, report, closed
  }

  private var reader = JournalBodyReader()
  package private(set) var controller = NavigationController(revision: Revision(0))
  /// The epoch of the state; zeros if no entry named it.
  package private(set) var epoch = Epoch(bits: 0)
  /// The digest of the state: the checksum as computed, the chain as the entries name it.
  package private(set) var digest = Digest(checksum: 0, chain: 0)
  private var running = RunningDigest()
  private var followed = FollowedBar()
  /// Whether a state was taken.
  package private(set) var isBegun = false

  package init() {}

  package var revision: Revision { controller.revision }

  /// The resolved bar of the state, as JSON.
  package var resolvedBar: [UInt8] { controller.encodedBar }

  /// The complete state as JSON with the members of `get` `state`, under the given name of a nav.
  package func state(of nav: String) -> [UInt8] {
    Snapshot(
      nav: nav, kind: controller.kindName, epoch: epoch, revision: revision, why: "join",
      digest: digest, content: .controller(controller)
    ).part(from: 0, limit: Int.max / 4).body
  }

  /// Takes the next entry; after an error the replay is of no use.
  package mutating func take(_ entry: [UInt8]) throws(StoredDataError) -> Step {
    try reader.loadEntry(entry)
    let tape = reader.tape
    guard let kind = reader.text("kind") else {
      throw StoredDataError(what: "an entry without kind")
    }
    guard let revision = reader.integer("rev") else {
      throw StoredDataError(what: "an entry without rev")
    }
    var step = Step(kind: Kind(rawValue: kind), revision: Revision(revision))
    step.recordedDigest = tape.member(short: "dig", of: 0).flatMap { tape.digest($0) }
    step.digestBefore = reader.digestBefore()
    step.lacksContents = reader.flag("omitted")
    step.recordedBar = tape.member(short: "resolved", of: 0).map { tape.raw($0) }
    if let epoch = tape.member(short: "epoch", of: 0).flatMap({ tape.hex64($0) }) {
      self.epoch = Epoch(bits: epoch)
    }
    switch step.kind {
    case .state, .created:
      if let state = tape.member(short: "state", of: 0) {
        try begin(with: tape.raw(state), &step)
      } else if !step.lacksContents {
        throw StoredDataError(what: "a state without contents")
      }
    case .changed: if !step.lacksContents { try applyChange(&step) }
    case .epoch: digest = Digest(checksum: digest.checksum, chain: epoch.bits)
    case .report, .closed, nil: break
    }
    return step
  }

  private mutating func applyChange(_ step: inout Step) throws(StoredDataError) {
    guard isBegun else { throw StoredDataError(what: "a change without a state before it") }
    let change = try reader.change().change
    try controller.replay(change)
    let lowest = change.splices.map(\.at).min() ?? Int.max
    let edited = change.changedScreens.compactMap { controller.index(of: $0.id) }.min() ?? Int.max
    digest = Digest(
      checksum: running.update(controller, from: min(lowest, edited)),
      chain: step.recordedDigest?.chain ?? digest.chain)
    controller.forgetDetached()
    var json = JSONWriter(reserving: 768)
    if followed.write(controller, &json) { step.bar = json.bytes }
    step.changesState = true
  }

  /// Begins with a complete state.
  private mutating func begin(with state: [UInt8], _ step: inout Step) throws(StoredDataError) {
    let body = try Self.body(state, epoch, step.revision)
    var inner = JournalBodyReader()
    try inner.load(body)
    let whole = try inner.state()
    controller = whole.controller
    running = RunningDigest()
    digest = Digest(checksum: running.update(controller, from: 0), chain: whole.digest.chain)
    if step.recordedDigest == nil { step.recordedDigest = whole.digest }
    guard whole.digest == step.recordedDigest else {
      throw StoredDataError(what: "a state with two digests")
    }
    followed = FollowedBar()
    followed.follow(controller)
    step.bar = resolvedBar
    (step.changesState, isBegun) = (true, true)
  }

  /// Makes the body of a row from a state, with placeholders for members that a recording lacks.
  private static func body(
    _ state: [UInt8], _ epoch: Epoch, _ revision: Revision
  ) throws(StoredDataError) -> [UInt8] {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(state, maximumDepth: 48) } catch {
      throw StoredDataError(what: "a state: \(error.reason.rawValue)")
    }
    guard tape.kind(0) == .object else { throw StoredDataError(what: "a state that is no object") }
    return JSONWriter.object(reserving: state.count + 128) { json in
      json.member("nav", "-")
      json.member("epoch", hex: epoch.bits)
      json.member("owner", "-")
      json.member("rev", revision.number)
      json.member("detached", raw: Array("[]".utf8))
      json.copyStateMembers(of: tape)
    }
  }
}

extension NavigationController {
  /// Forgets all detached records.
  mutating func forgetDetached() {
    for record in detached.all { _ = deleteDetached(record) }
    assert(detached.count == 0, "\(detached.count) records are detached still")
  }
}

extension JSONWriter {
  /// Copies the members of a state that clients see, without those of the journal only.
  package mutating func copyStateMembers(of tape: borrowing JSONTape) {
    tape.forEachMember(of: 0) { name, value in
      guard Self.stateMemberNames.contains(Text(name)) else { return }
      dynamicName(name)
      raw(tape.raw(value))
    }
  }

  private static let stateMemberNames: Set<Text> = [
    "kind", "screens", "bar", "toolbar", "presented", "transition", "environment", "settings",
    "dig",
  ]
}
