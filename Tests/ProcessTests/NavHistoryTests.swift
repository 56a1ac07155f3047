import Testing

/// Right histories pass, and each planted violation is found.
@Suite struct NavHistoryTests {
  /// Two clients and a watcher; a change takes 10 ns, and the next one begins 5 ns later.
  private static func history() -> NavHistory {
    var history = NavHistory(nav: "kiosk")
    let changes: [NavHistory.Change] = [
      .create(root: "home"), .push("a"), .push("b"), .pop(top: "b"), .pop(top: "b"),
      .reset("c", revision: 4), .pop(top: nil), .pop(top: nil), .push("d"),
    ]
    var model = StackModel()
    var sights: [NavHistory.Sight] = []
    for (index, change) in changes.enumerated() {
      let (id, sent) = (UInt64(index * 2 + 1), UInt64(index * 100))
      let client = index.isMultiple(of: 2) ? "w0" : "w1"
      let kind = model.perform(change)
      history.operations.append(
        operation(client, id, change, sent: sent, kind, model))
      history.operations.append(
        operation("w0", id + 1, nil, sent: sent + 50, .read(model.screens), model))
      guard case .changed = kind else { continue }
      history.log.append(
        .init(revision: model.revision, client: client, id: id, digest: model.digest))
      sights.append(
        .init(
          revision: model.revision, screens: model.screens, digest: model.digest,
          isNext: !sights.isEmpty))
    }
    history.sights = [sights, Array(sights[2...])]
    history.final = sights[sights.count - 1]
    return history
  }

  private static func operation(
    _ client: String, _ id: UInt64, _ change: NavHistory.Change?, sent: UInt64,
    _ kind: NavHistory.Answer.Kind, _ model: StackModel
  ) -> NavHistory.Operation {
    .init(
      client: client, id: id, change: change, sent: sent,
      answers: [
        .init(
          at: sent + 10, from: "a", kind: kind, revision: model.revision, digest: model.digest)
      ])
  }

  @Test func `a right history has no violation`() {
    #expect(Self.history().violations == [])
  }

  @Test func `the digest of the model is the one of the protocol`() {
    var model = StackModel()
    _ = model.perform(.create(root: "home"))
    #expect(model.digest == "429b8f8b")
  }

  @Test func `an unknown outcome may be a change or none, and overlapping messages any order`() {
    var history = Self.history()
    // The last push without an answer, then it and the read behind it without a trace.
    history.operations[16].answers = []
    #expect(history.violations == [])
    history.operations.removeLast()
    history.log.removeLast()
    history.final = history.sights[0][history.sights[0].count - 2]
    history.sights = history.sights.map { Array($0.dropLast()) }
    #expect(history.violations == [])
    // A read under way during a push may show the state before it and the one behind it.
    for revision in [1, 2] {
      var overlapping = Self.history()
      let state = overlapping.sights[0][revision - 1]
      overlapping.operations.append(
        .init(
          client: "w2", id: 1, change: nil, sent: 99,
          answers: [
            .init(
              at: 140, from: "b", kind: .read(state.screens), revision: state.revision,
              digest: state.digest)
          ]))
      #expect(overlapping.violations == [])
    }
  }

  /// A violation, the word by which it is reported, and how it is planted.
  struct Plant: Sendable, CustomTestStringConvertible {
    var name: String
    var word: String
    var plant: @Sendable (inout NavHistory) -> Void

    var testDescription: String { name }

    init(_ name: String, _ word: String, _ plant: @escaping @Sendable (inout NavHistory) -> Void) {
      (self.name, self.word, self.plant) = (name, word, plant)
    }
  }

  static let plants = [
    Plant("a confirmed push that the log does not have", "lost") { history in
      // The last one, so that nothing else is missing.
      history.log.removeLast()
      history.final = history.sights[0][history.sights[0].count - 2]
      history.sights = history.sights.map { Array($0.dropLast()) }
      history.operations.removeLast()
    },
    Plant("another message in the place of a confirmed one", "lost") { history in
      history.log[1].id = 91
      history.operations.append(
        .init(client: history.log[1].client, id: 91, change: .push("a"), sent: 90))
    },
    Plant("a push that was performed twice", "doubled") { history in
      let last = history.log[history.log.count - 1]
      history.log.append(last)
      history.log[history.log.count - 1].revision += 1
    },
    Plant("a message with two revisions in its answers", "doubled") { history in
      var second = history.operations[2].answers[0]
      second.revision = 3
      history.operations[2].answers.append(second)
    },
    Plant("a gap in the log", "gap") { $0.log.remove(at: 2) },
    Plant("a log that ends early", "gap") { $0.log.removeLast() },
    Plant("a revision that no client sent", "unknown") { $0.log[3].client = "stranger" },
    Plant("a pop whose guard did not hold", "replay") { history in
      history.operations[6].change = .pop(top: "home")
    },
    Plant("a stale read", "stale") { history in
      // The read behind the push of `a` shows the state before it.
      let before = history.operations[1].answers[0]
      history.operations[3].answers[0].kind = before.kind
      history.operations[3].answers[0].revision = before.revision
      history.operations[3].answers[0].digest = before.digest
    },
    Plant("a stale refusal", "stale") { history in
      let before = history.operations[1].answers[0]
      history.operations[8].answers[0].revision = before.revision
      history.operations[8].answers[0].digest = before.digest
    },
    Plant("a change before one that was answered earlier", "order") { history in
      // The push of `a` was sent when that of `b`, the next revision, had been answered.
      history.operations[2].sent = 240
      history.operations[2].answers[0].at = 245
      history.operations.remove(at: 3)
    },
    Plant("an unknown outcome before a change that was answered earlier", "order") { history in
      history.operations[2].sent = 240
      history.operations[2].answers = []
      history.operations.remove(at: 3)
    },
    Plant("a read of another stack", "read") { history in
      history.operations[3].answers[0].kind = .read(["home"])
    },
    Plant("a read with another digest", "digest") { history in
      history.operations[3].answers[0].digest = "00000000"
    },
    Plant("a log with another digest", "digest") { $0.log[2].digest = "00000000" },
    Plant("a refusal that was none", "refusal") { history in
      history.operations[8].change = .pop(top: nil)
    },
    Plant("a refused message that changed something", "effect") { history in
      history.operations[4].answers[0].kind = .refused
    },
    Plant("a pop with another screen", "answer") { history in
      history.operations[6].answers[0].kind = .changed(popped: "a")
    },
    Plant("a mirror with another digest", "mirror") { $0.sights[1][1].digest = "00000000" },
    Plant("a mirror with another stack", "mirror") { $0.sights[0][1].screens = ["home"] },
    Plant("a mirror that goes back", "mirror") { history in
      history.sights[0].insert(history.sights[0][1], at: 4)
      history.sights[0][4].isNext = false
    },
    Plant("a mirror that misses a revision", "mirror") { $0.sights[0].remove(at: 3) },
    Plant("a mirror that ends early", "mirror") { $0.sights[1].removeLast() },
    Plant("a final state without its last push", "mirror") { history in
      history.final.screens.removeLast()
    },
  ]

  @Test(arguments: plants) func `each planted violation is found`(_ plant: Plant) {
    var history = Self.history()
    plant.plant(&history)
    #expect(history.violations.contains { $0.hasPrefix(plant.word) }, "\(history.violations)")
  }
}
