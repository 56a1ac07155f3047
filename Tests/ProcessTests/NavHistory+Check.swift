// The judgement of a history.

extension NavHistory {
  /// What the history proves wrong, each in a sentence that names the messages; empty if nothing.
  ///
  /// 1. The log has the revisions 1, 2, …, up to the final one. Each is the change of one message, and
  ///    no message has two.
  /// 2. A message that was answered as changed has the revision of its answer. One that was answered
  ///    otherwise only, or that reads, has none. One without an answer has one or none.
  /// 3. The model replays the log. At each revision it gives the digest of the log, and at the
  ///    revision of an answer or of a mirror its kind, screens and digest.
  /// 4. Let m be the newest revision of all answers that came before a message was sent. The message
  ///    stands at m or behind; a change stands behind m.
  /// 5. A mirror never goes back. A diff leads to the next revision, and the last mirror is the final
  ///    state.
  var violations: [String] {
    let (states, replayed) = replay()
    return order + replayed + operations.flatMap { judge($0, states) } + realTime
      + sights.enumerated().flatMap { judge(watcher: $0, $1, states) }
      + judge("the final state", final, states)
  }

  /// The operations by client and number.
  private var places: [String: Int] {
    Dictionary(
      operations.enumerated().map { ("\($1.client) \($1.id)", $0) }, uniquingKeysWith: { $1 })
  }

  /// Rule 1.
  private var order: [String] {
    var found: [String] = []
    for (index, entry) in log.enumerated() where entry.revision != UInt64(index + 1) {
      found.append("gap: the log has \(entry.revision) in the place of \(index + 1)")
      break
    }
    if UInt64(log.count) != final.revision {
      found.append("gap: the log has \(log.count) revisions, the nav is at \(final.revision)")
    }
    var revisions: [String: UInt64] = [:]
    let places = places
    for entry in log {
      let key = "\(entry.client) \(entry.id)"
      if let first = revisions.updateValue(entry.revision, forKey: key) {
        let words = places[key].map { Self.words(operations[$0]) } ?? key
        found.append("doubled: \(first) and \(entry.revision) are both \(words)")
      }
    }
    return found
  }

  /// Rule 3, as far as it concerns the log; returns the model at each revision too.
  private func replay() -> ([StackModel], [String]) {
    var model = StackModel()
    var states = [model]
    var found: [String] = []
    let places = places
    for entry in log {
      let key = "\(entry.client) \(entry.id)"
      guard let operation = places[key].map({ operations[$0] }), let change = operation.change
      else {
        found.append("unknown: revision \(entry.revision) is by \(key), which no client sent")
        break
      }
      guard case .changed = model.perform(change) else {
        found.append("replay: nothing can change at \(entry.revision): \(Self.words(operation))")
        break
      }
      if !entry.digest.hasPrefix(model.checksum) {
        found.append(
          "digest: the log has \(entry.digest) at \(entry.revision), not \(model.checksum): "
            + Self.words(operation))
      }
      model.chain = String(entry.digest.dropFirst(8))
      states.append(model)
    }
    return (states, found)
  }

  /// Whether a digest is that of a state, before or after a new epoch began there.
  private func isRight(_ digest: String, _ state: StackModel) -> Bool {
    digest == state.digest || epochs.contains { digest == state.checksum + $0 }
  }

  /// Rules 2 and 3 for one message.
  private func judge(_ operation: Operation, _ states: [StackModel]) -> [String] {
    var found: [String] = []
    var confirmed: Set<UInt64> = []
    for answer in operation.answers {
      guard answer.revision > 0, answer.revision < UInt64(states.count) else {
        found.append("lost: the log has no \(answer.revision): \(Self.words(operation))")
        continue
      }
      let state = states[Int(answer.revision)]
      if !isRight(answer.digest, state) {
        found.append("digest: \(state.digest) is right: \(Self.words(operation))")
      }
      guard let change = operation.change else {
        if answer.kind != .read(state.screens) {
          found.append("read: \(state.screens) is right: \(Self.words(operation))")
        }
        continue
      }
      if case .changed = answer.kind { confirmed.insert(answer.revision) }
      found += judge(operation, change, answer, states)
    }
    if confirmed.count > 1 { found.append("doubled: two answers: \(Self.words(operation))") }
    return found
  }

  private func judge(
    _ operation: Operation, _ change: Change, _ answer: Answer, _ states: [StackModel]
  ) -> [String] {
    guard case .changed = answer.kind else {
      var state = states[Int(answer.revision)]
      let right = state.perform(change)
      return right == answer.kind ? [] : ["refusal: \(right) is right: \(Self.words(operation))"]
    }
    var state = states[Int(answer.revision) - 1]
    let entry = log[Int(answer.revision) - 1]
    if entry.client != operation.client || entry.id != operation.id {
      return ["lost: the log has \(entry.client) \(entry.id) there: \(Self.words(operation))"]
    }
    let right = state.perform(change)
    return right == answer.kind ? [] : ["answer: \(right) is right: \(Self.words(operation))"]
  }

  /// Rule 4, and the part of rule 2 about messages that have a revision without being so answered.
  private var realTime: [String] {
    var found: [String] = []
    let answers = operations.enumerated().flatMap { place, operation in
      operation.answers.map { (at: $0.at, revision: $0.revision, place: place) }
    }.sorted { $0.at < $1.at }
    var revisions: [String: UInt64] = [:]
    for entry in log { revisions["\(entry.client) \(entry.id)"] = entry.revision }
    var next = answers[...]
    var newest: (revision: UInt64, place: Int)?
    for operation in operations.sorted(by: { $0.sent < $1.sent }) {
      while let answer = next.first, answer.at < operation.sent {
        next.removeFirst()
        if answer.revision > newest?.revision ?? 0 { newest = (answer.revision, answer.place) }
      }
      let own = revisions["\(operation.client) \(operation.id)"]
      let isConfirmed = operation.answers.contains {
        if case .changed = $0.kind { true } else { false }
      }
      if let own, !operation.answers.isEmpty, !isConfirmed {
        found.append("effect: \(own) is by \(Self.words(operation))")
      }
      guard let newest else { continue }
      let earlier = Self.words(operations[newest.place])
      if let own, own <= newest.revision {
        found.append("order: \(Self.words(operation)) is \(own), but before it came \(earlier)")
      }
      for answer in operation.answers where answer.revision < newest.revision {
        found.append("stale: \(Self.words(operation)), but before it came \(earlier)")
      }
    }
    return found
  }

  /// Rules 3 and 5 for a watcher.
  private func judge(
    watcher: Int, _ sights: [Sight], _ states: [StackModel]
  ) -> [String] {
    var found: [String] = []
    for (index, sight) in sights.enumerated() {
      found += judge("watcher \(watcher)", sight, states)
      guard index > 0 else { continue }
      let former = sights[index - 1].revision
      if sight.isNext ? sight.revision != former + 1 : sight.revision < former {
        found.append("mirror: watcher \(watcher) went from \(former) to \(sight.revision)")
      }
    }
    if sights.last?.revision != final.revision {
      found.append(
        "mirror: watcher \(watcher) ended at \(sights.last?.revision ?? 0), not \(final.revision)")
    }
    return found
  }

  private func judge(_ name: String, _ sight: Sight, _ states: [StackModel]) -> [String] {
    guard sight.revision < UInt64(states.count) else {
      return ["lost: \(name) has \(sight.revision), which the log does not have"]
    }
    let state = states[Int(sight.revision)]
    guard state.screens != sight.screens || !isRight(sight.digest, state) else { return [] }
    return [
      "mirror: \(name) has \(sight.screens) \(sight.digest) at \(sight.revision), not "
        + "\(state.screens) \(state.digest)"
    ]
  }
}
