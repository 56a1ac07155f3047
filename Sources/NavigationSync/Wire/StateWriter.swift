package import Navigation

// A nav's state, its changes and its events as they stand on the wire.

extension JSONWriter {
  /// Writes what the bar shows; equal values give equal bytes.
  package mutating func resolved(_ bar: ResolvedBar) {
    beginObject()
    optional("top", bar.top?.text)
    optional("back", bar.back?.text)
    optional("visible", bar.visible?.text)
    name("left")
    beginArray()
    for slot in bar.left {
      switch slot {
      case .back(let back): backSlot(back)
      case .button(let button): slotButton(button)
      }
    }
    endArray()
    switch bar.middle {
    case .view(let view)?:
      name("middle")
      titleView(view)
    case .title(let title)?:
      name("middle")
      beginObject()
      name("title")
      string(title)
      if !title.isEmpty {
        name("placement")
        plain("inline")
      }
      endObject()
    case nil: break
    }
    name("right")
    beginArray()
    for slot in bar.right { slotButton(slot) }
    endArray()
    endObject()
  }

  private mutating func slotButton(_ slot: ResolvedBar.ButtonSlot) {
    let content = slot.button.content
    beginObject()
    name("button")
    string(slot.button.id.text)
    switch slot.button.face {
    case .customView(let view):
      name("customView")
      raw(view.bytes)
    case .image: optional("image", slot.image?.ref)
    case .title(let title): optional("title", title)
    case .systemItem(let item): optional("systemItem", item.name)
    }
    if content.style != .plain {
      name("style")
      plain(content.style.wireName)
    }
    optional("action", content.action)
    name("tintApplies")
    bool(slot.tintApplies)
    endObject()
  }

  private mutating func backSlot(_ slot: ResolvedBar.BackSlot) {
    beginObject()
    name("back")
    beginObject()
    optional("text", slot.text)
    optional("image", slot.image?.ref)
    name("source")
    switch slot.source {
    case .backItem: plain("backItem")
    case .title: plain("title")
    case .generic: plain("generic")
    }
    name("indicator")
    plain("default")
    if slot.isGeneric {
      name("generic")
      bool(true)
      name("key")
      plain("back.generic")
    }
    flag("truncated", slot.isTruncated)
    if !slot.candidates.isEmpty {
      name("candidates")
      beginArray()
      for candidate in slot.candidates { string(candidate) }
      null()
      endArray()
    }
    endObject()
    endObject()
  }

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
    string(screen.text)
    name("animated")
    bool(animated)
    endObject()
  }

  private mutating func only(_ screen: ScreenID) {
    beginObject()
    name("screen")
    string(screen.text)
    endObject()
  }

  /// Writes the changes of a commit, with the records that its revision made.
  package mutating func changes(_ commit: Commit, of controller: borrowing NavigationController) {
    beginArray()
    if let splice = commit.splice {
      beginObject()
      name("at")
      integer(UInt64(splice.at))
      name("del")
      beginArray()
      for id in splice.removed { string(id.text) }
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

  /// Writes the list of op outputs.
  mutating func outputs(_ outputs: [OperationOutput], delivered: Int) {
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
      if let id { string(id.text) } else { null() }
    case .poppedAll(let ids): list("popped", ids.map(\.text))
    case .replaced(let popped, let ids):
      list("popped", popped.map(\.text))
      list("ids", ids.map(\.text))
    case .activated:
      name("delivered")
      integer(UInt64(delivered))
    }
    endObject()
  }
}
