package import NavigationCore

// The presentation chain and the restoration payload, in messages and in journal rows.

extension JSONWriter {
  /// Writes the members of the part `presented`.
  ///
  /// `covers` and `contextOwner` follow from the style. The method writes them for clients; the
  /// journal's reader ignores them.
  mutating func presentation(_ presentation: Presentation) {
    guard !presentation.chain.isEmpty else { return }
    array("chain", presentation.chain) { json, presented in
      json.beginObject()
      json.name("screen")
      json.screen(presented.screen)
      json.optional("from", presented.from?.text)
      json.optional("style", presented.style)
      if presented.coversNavigationInterface {
        json.member("covers", word: "wholeNavigationInterface")
        json.member("contextOwner", word: "controller")
      } else {
        json.member("covers", word: "byStyle")
      }
      json.endObject()
    }
  }

  /// Writes the restoration payload, which a client can save to restore the stack later.
  ///
  /// The payload is an empty object if the controller has no restoration identifier.
  package mutating func restoration(of controller: NavigationController) {
    beginObject()
    if let screens = controller.restorableScreens {
      member("v", RestorationEntry.payloadVersion)
      array("entries", screens) { json, entry in
        json.beginObject()
        json.member("path", entry.path)
        json.name("screen")
        json.screen(entry.screen, hasVersion: false)
        json.endObject()
      }
    }
    endObject()
  }
}

extension RestorationEntry {
  /// The version of the payload that this daemon writes, and the newest that it reads.
  static let payloadVersion: UInt64 = 1
}

extension JSONTape {
  package func storedPresentation(_ at: Int) throws(ReadFailure) -> Presentation {
    var presentation = Presentation()
    guard let list = member("chain", of: at) else { return presentation }
    try need(kind(list) == .array, "a chain is no list")
    presentation.chain = try elements(of: list) { element throws(ReadFailure) in
      let screen = try need(member("screen", of: element), "a presentation without screen")
      let from = member("from", of: element)
      let style = member("style", of: element)
      return Presented(
        screen: try storedScreen(screen),
        from: try from.map { at throws(ReadFailure) in try screenID(at) },
        style: style.flatMap { string($0) })
    }
    return presentation
  }
}
