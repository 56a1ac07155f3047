package import NavigationCore

// Writers of the presentation chain and the restoration payload, for messages and journal rows.

extension JSONWriter {
  /// Writes the members of the part `presented`.
  ///
  /// `covers` and `contextOwner` follow from the style. They are written for clients; the journal's
  /// reader ignores them.
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
        member("contextOwner", plain: "controller")
      } else {
        plain("byStyle")
      }
      endObject()
    }
    endArray()
  }

  /// Writes the restoration payload, which a client can save to restore the stack later.
  ///
  /// It is an empty object if the controller has no restoration identifier.
  package mutating func restoration(of controller: NavigationController) {
    beginObject()
    if let screens = controller.restorableScreens {
      member("v", RestorationPayload.version)
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

/// The format of the restoration payload.
enum RestorationPayload {
  /// The version that this daemon writes, and the newest that it reads.
  static let version: UInt64 = 1
}
