import NavigationCore

// The writer of the transition in flight, for messages and journal rows.

extension JSONWriter {
  mutating func transition(_ running: RunningTransition) {
    member("tid", running.id.number)
    member("op", word: running.kind.word)
    optional("from", running.from?.text)
    optional("to", running.to?.text)
    name("phase")
    if running.isInteractive { plain("interactive") } else { plain("animating") }
    optional("owner", running.owner)
    optional("animator", running.animator)
    optional("driver", running.driver)
    if let duration = running.duration {
      member("duration", duration)
    }
    if running.isReduced { member("style", plain: "fade") }
    member("deadline", running.deadline)
    if let change = running.barChange {
      name("barChange")
      beginObject()
      member("before", change.wasHidden)
      visibility(change)
      if let hid = change.hid {
        name("hid")
        hid.write(&self)
      }
      endObject()
    }
  }

  /// Writes what becomes of the bar's visibility: `hidden`, `animated`, `jump`.
  mutating func visibility(_ change: BarChange) {
    member("hidden", change.isHidden)
    member("animated", change.isAnimated)
    member("jump", change.isJump)
  }
}
