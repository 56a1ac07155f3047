package import NavigationCore

/// An encoded diff, and the place of `resolved` in it.
package struct EncodedDiff: Sendable {
  /// The encoded diff; empty after `clear`.
  package private(set) var bytes: [UInt8]
  // 32-bit numbers, because a ring keeps hundreds of diffs.
  private let resolvedPlace: Int32
  private var resolvedByteCount: Int32

  /// Takes an encoded diff, and the byte range of the member `resolved` with the comma before it,
  /// empty at its place if the diff has none.
  package init(bytes: [UInt8], resolved: Range<Int>) {
    self.bytes = bytes
    (resolvedPlace, resolvedByteCount) = (Int32(resolved.lowerBound), Int32(resolved.count))
  }

  /// The byte range of the member `resolved` with the comma before it; empty if the diff has none.
  fileprivate var resolvedMember: Range<Int> {
    Int(resolvedPlace)..<Int(resolvedPlace + resolvedByteCount)
  }

  package var hasResolved: Bool { resolvedByteCount > 0 }

  /// The number of bytes with or without the member `resolved`.
  package func byteCount(hasResolved: Bool) -> Int {
    hasResolved ? bytes.count : bytes.count - Int(resolvedByteCount)
  }

  package func body(hasResolved: Bool) -> [UInt8] {
    hasResolved || !self.hasResolved
      ? bytes : Array(bytes[..<resolvedMember.lowerBound]) + bytes[resolvedMember.upperBound...]
  }

  /// Inserts the member `resolved`, which the diff must not have yet.
  mutating func insertResolved(_ bar: [UInt8]) {
    precondition(!hasResolved, "a diff with two bars")
    let member = Array(#","resolved":"#.utf8) + bar
    bytes.insert(contentsOf: member, at: Int(resolvedPlace))
    resolvedByteCount = Int32(member.count)
  }

  package mutating func clear() { bytes = [] }
}

extension JSONWriter {
  mutating func diff(_ diff: borrowing EncodedDiff, hasResolved: Bool) {
    let bytes = diff.bytes.span
    let member = hasResolved ? bytes.count..<bytes.count : diff.resolvedMember
    raw(
      bytes.extracting(first: member.lowerBound),
      and: bytes.extracting(droppingFirst: member.upperBound))
  }
}

/// The members of a diff that are the same for all watches, apart from the changes themselves.
package struct DiffEnvelope: ~Copyable {
  var nav: String
  var epoch: Epoch
  var base: Revision
  var revision: Revision
  var sequence: UInt64
  var cause: Cause
  var by: (name: String, op: UInt64)?

  /// Encodes the diff in the memory of `json`, with the resolved bar if it changed and
  /// `mayIncludeBar`.
  ///
  /// `checksum` is that of the new revision; `digest` becomes the new revision's. Returns also the byte
  /// range of the value of `ch`. The method is never inlined, so that a profiler counts its
  /// instructions by its name.
  @inline(never)
  package func encode(
    _ commit: Commit, of controller: borrowing NavigationController,
    followed: inout FollowedBar, mayIncludeBar: Bool,
    checksum: UInt32, digest: inout Digest, _ json: inout JSONWriter
  ) -> (diff: EncodedDiff, changes: Range<Int>) {
    json.removeAll()
    begin(&json)
    json.memberIfTrue("animated", commit.isAnimated)
    if let relation = commit.topRelation { json.member("relation", word: relation.word) }
    json.name("ch")
    let changes = json.position
    json.changes(commit, of: controller)
    digest = digest.next(checksum: checksum, diff: json.written)
    let (place, start) = (json.count, json.position)
    if mayIncludeBar, commit.mayChangeBar {
      json.name("resolved")
      // Whether it changed is known only when it has been written.
      if !followed.write(controller, &json) { json.remove(from: start) }
    }
    let end = json.count
    json.name("ev")
    json.events(commit.events)
    self.end(&json, depth: controller.stack.count, digest)
    return (EncodedDiff(bytes: json.bytes, resolved: place..<end), changes..<place)
  }

  /// Writes the members before the changes, and opens the object.
  package func begin(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("nav", word: nav)
    json.member("epoch", hex: epoch.bits)
    json.member("base", base.number)
    json.member("rev", revision.number)
    json.member("seq", sequence)
    json.member("cause", word: cause.word)
    if let by {
      json.name("by")
      json.beginObject()
      json.member("name", by.name)
      json.member("op", by.op)
      json.endObject()
    }
  }

  /// Writes the members after the changes, and closes the object.
  package func end(_ json: inout JSONWriter, depth: Int, _ digest: Digest) {
    json.member("depth", UInt64(depth))
    json.member("dig", digest)
    json.endObject()
  }
}

// Writers of a nav's changes, events and operation results, for messages.

extension JSONWriter {
  package mutating func events(_ events: [NavigationEvent]) {
    beginArray()
    for event in events { self.event(event) }
    endArray()
  }

  mutating func event(_ event: NavigationEvent) {
    beginObject()
    switch event {
    case .willShow(let screen, let animated): animatedEvent("willShow", screen, animated)
    case .didShow(let screen, let animated): animatedEvent("didShow", screen, animated)
    case .willHide(let screen, let animated): animatedEvent("willHide", screen, animated)
    case .didHide(let screen, let animated): animatedEvent("didHide", screen, animated)
    case .didPush(let screen): screenEvent("didPush", screen)
    case .didPop(let screen, let result): screenEvent("didPop", screen, result)
    case .didPresent(let screen): screenEvent("didPresent", screen)
    case .didDismiss(let screen, let result): screenEvent("didDismiss", screen, result)
    case .transitionBegan(let transition): transitionBegan(transition)
    case .transitionEnded(let id, let outcome, let progress):
      object("transitionEnded") { json in
        json.member("tid", id.number)
        json.member("outcome", word: outcome.word)
        if let progress { json.member("progress", raw: Array("\(progress)".utf8)) }
      }
    case .barChange(let id, let change):
      object("barChange") { json in
        json.member("tid", id.number)
        json.visibilityMembers(change)
      }
    case .barsVisibilityChanged(let bar, let toolbar, let cause):
      object("barsVisibilityChanged") { json in
        json.member("bar", bar)
        json.member("toolbar", toolbar)
        switch cause {
        case .api: json.member("cause", word: "api")
        case .screen: json.member("cause", word: "screen")
        case .automatic(let cause): json.member("cause", word: cause.word)
        }
      }
    }
    endObject()
  }

  private mutating func transitionBegan(_ transition: RunningTransition) {
    name("transitionBegan")
    beginObject()
    member("tid", transition.id.number)
    member("op", word: transition.kind.word)
    optional("from", transition.from?.text)
    optional("to", transition.to?.text)
    memberIfTrue("interactive", transition.isInteractive || transition.driver != nil)
    optional("animator", transition.animator)
    if let duration = transition.durationMilliseconds { member("duration", duration) }
    optional("driver", transition.driver)
    if transition.isReduced { member("style", word: "fade") }
    endObject()
  }

  @inline(__always)
  private mutating func animatedEvent(_ event: StaticString, _ screen: ScreenID, _ animated: Bool) {
    name(event)
    beginObject()
    member("screen", screen)
    member("animated", animated)
    endObject()
  }

  @inline(__always)
  private mutating func screenEvent(
    _ event: StaticString, _ screen: ScreenID, _ result: OpaqueJSON? = nil
  ) {
    name(event)
    beginObject()
    member("screen", screen)
    optional("result", result)
    endObject()
  }

  /// Writes the changes of a commit, with the changed records as they are after it.
  package mutating func changes(_ commit: Commit, of controller: borrowing NavigationController) {
    beginArray()
    if let splice = commit.splice {
      beginObject()
      member("at", UInt64(splice.at))
      name("del")
      beginArray()
      for id in splice.removed { word(id) }
      endArray()
      name("ins")
      beginArray()
      for index in splice.at..<splice.at + splice.insertedCount { screen(controller.stack[index]) }
      endArray()
      endObject()
    }
    for index in commit.changedScreenIndexes {
      beginObject()
      member("set", word: "screen")
      name("to")
      screen(controller.stack[index])
      endObject()
    }
    guard !commit.parts.isEmpty else { return endArray() }
    for part in PartName.allCases where commit.parts.contains(part) {
      beginObject()
      member("set", part.text)
      name("to")
      self.part(part, of: controller)
      endObject()
    }
    endArray()
  }

  /// Writes the results of operations; `sessionCount` is the number of sessions that get an ephemeral
  /// event.
  mutating func outputs(_ outputs: ShortList<OperationOutput>, delivered sessionCount: Int) {
    beginArray()
    for output in outputs { self.output(output, sessionCount) }
    endArray()
  }

  private mutating func output(_ output: OperationOutput, _ sessionCount: Int) {
    beginObject()
    switch output {
    case .nothing: break
    case .screen(let id): member("id", id)
    case .alreadyInStack(let id):
      member("id", id)
      member("reason", word: "alreadyInStack")
    case .found(let id, let popped):
      member("id", id)
      strings("popped", popped.map(\.text))
    case .exchanged(let id, let popped):
      member("id", id)
      member("popped", popped)
    case .button(let id): optional("id", id.text)
    case .popped(let id):
      name("popped")
      if let id { word(id) } else { null() }
    case .poppedAll(let ids): strings("popped", ids.map(\.text))
    case .replaced(let popped, let ids):
      strings("popped", popped.map(\.text))
      strings("ids", ids.map(\.text))
    case .dismissed(let ids): strings("dismissed", ids.map(\.text))
    case .restored(let ids, let skipped):
      strings("ids", ids.map(\.text))
      strings("skipped", skipped)
    case .gestureBegan(let id): member("tid", id.number)
    case .activated, .gestureProgress: member("delivered", UInt64(sessionCount))
    }
    endObject()
  }
}
