package import Navigation

// The presentation chain as it stands on the wire and in the journal.

extension JSONWriter {
  /// Writes the members of the part; what follows from the style is written for those who read it.
  mutating func presentation(_ presentation: Presentation) {
    guard !presentation.chain.isEmpty else { return }
    name("chain")
    beginArray()
    for presented in presentation.chain {
      beginObject()
      name("screen")
      screen(presented.screen)
      optional("from", presented.from?.text)
      optional("style", presented.style)
      name("covers")
      if presented.coversNavigationInterface {
        plain("wholeNavigationInterface")
        name("contextOwner")
        plain("controller")
      } else {
        plain("byStyle")
      }
      endObject()
    }
    endArray()
  }

  /// Writes what a client may save to restore the stack later; nothing without a restoration
  /// identifier.
  package mutating func restoration(of controller: NavigationController) {
    beginObject()
    if let screens = controller.restorableScreens {
      name("v")
      integer(RestorationPayload.version)
      name("entries")
      beginArray()
      for (path, screen) in screens {
        beginObject()
        optional("path", path)
        name("screen")
        self.screen(screen, hasVersion: false)
        endObject()
      }
      endArray()
    }
    endObject()
  }
}

/// What a client saves and brings back.
enum RestorationPayload {
  /// The version of the form that this daemon writes, and the newest that it reads.
  static let version: UInt64 = 1
}
