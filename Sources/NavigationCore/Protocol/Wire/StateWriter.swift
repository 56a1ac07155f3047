// Writers of a nav's changes, events and operation results, for messages.

extension JSONWriter {
  /// Writes the events of a revision.
  package mutating func events(_ events: [NavigationEvent]) {
    beginArray()
    for event in events {
      beginObject()
      switch event {
      case .willShow(let screen, let animated):
        name("willShow")
        shown(screen, animated)
      case .didShow(let screen, let animated):
        name("didShow")
        shown(screen, animated)
      case .didPush(let screen):
        name("didPush")
        only(screen)
      case .didPop(let screen):
        name("didPop")
        only(screen)
      case .transitionBegan(let transition):
        name("transitionBegan")
        began(transition)
      case .transitionEnded(let id, let outcome):
        name("transitionEnded")
        beginObject()
        name("tid")
        integer(id.number)
        name("outcome")
        plain(outcome.wireName)
        endObject()
      case .barChange(let id, let change):
        name("barChange")
        beginObject()
        name("tid")
        integer(id.number)
        name("hidden")
        bool(change.isHidden)
        name("animated")
        bool(change.isAnimated)
        name("jump")
        bool(change.isJump)
        endObject()
      case .barsVisibilityChanged(let bar, let toolbar, let cause):
        name("barsVisibilityChanged")
        beginObject()
        name("bar")
        bool(bar)
        name("toolbar")
        bool(toolbar)
        name("cause")
        switch cause {
        case .api: plain("api")
        case .screen: plain("screen")
        case .automatic(let cause): plain(cause.wireName)
        }
        endObject()
      }
      endObject()
    }
    endArray()
  }

  private mutating func began(_ transition: RunningTransition) {
    beginObject()
    name("tid")
    integer(transition.id.number)
    name("op")
    plain(transition.kind.wireName)
    optional("from", transition.from?.text)
    optional("to", transition.to?.text)
    flag("interactive", transition.isInteractive || transition.driver != nil)
    optional("animator", transition.animator)
    if let duration = transition.duration {
      name("duration")
      integer(duration)
    }
    optional("driver", transition.driver)
    endObject()
  }

  private mutating func shown(_ screen: ScreenID, _ animated: Bool) {
    beginObject()
    name("screen")
    word(screen.text)
    name("animated")
    bool(animated)
    endObject()
  }

  private mutating func only(_ screen: ScreenID) {
    beginObject()
    name("screen")
    word(screen.text)
    endObject()
  }

  /// Writes the changes of a commit, with the changed records as they are after it.
  package mutating func changes(_ commit: Commit, of controller: borrowing NavigationController) {
    beginArray()
    if let splice = commit.splice {
      beginObject()
      name("at")
      integer(UInt64(splice.at))
      name("del")
      beginArray()
      for id in splice.removed { word(id.text) }
      endArray()
      name("ins")
      beginArray()
      for index in splice.at..<splice.at + splice.insertedCount { screen(controller.stack[index]) }
      endArray()
      endObject()
    }
    for index in commit.changedScreens {
      beginObject()
      name("set")
      plain("screen")
      name("to")
      screen(controller.stack[index])
      endObject()
    }
    if !commit.parts.isEmpty {
      for part in PartName.allCases where commit.parts.contains(part) {
        beginObject()
        name("set")
        string(part.text)
        name("to")
        self.part(part, of: controller)
        endObject()
      }
    }
    endArray()
  }

  /// Writes the results of operations; `delivered` is the number of sessions that get an ephemeral
  /// event.
  mutating func outputs(_ outputs: ShortList<OperationOutput>, delivered: Int) {
    beginArray()
    for output in outputs { self.output(output, delivered) }
    endArray()
  }

  private mutating func output(_ output: OperationOutput, _ delivered: Int) {
    beginObject()
    switch output {
    case .nothing: break
    case .screen(let id): optional("id", id.text)
    case .alreadyInStack(let id):
      optional("id", id.text)
      name("reason")
      plain("alreadyInStack")
    case .button(let id): optional("id", id.text)
    case .popped(let id):
      name("popped")
      if let id { word(id.text) } else { null() }
    case .poppedAll(let ids): list("popped", ids.map(\.text))
    case .replaced(let popped, let ids):
      list("popped", popped.map(\.text))
      list("ids", ids.map(\.text))
    case .dismissed(let ids): list("dismissed", ids.map(\.text))
    case .restored(let ids, let skipped):
      list("ids", ids.map(\.text))
      list("skipped", skipped)
    case .transition(let id):
      name("tid")
      integer(id.number)
    case .activated, .progress:
      name("delivered")
      integer(UInt64(delivered))
    }
    endObject()
  }
}
