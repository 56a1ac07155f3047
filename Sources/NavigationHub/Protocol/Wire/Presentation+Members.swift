package import NavigationCore

// The presentation chain and the restoration payload, in messages and in journal rows.

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
        word("wholeNavigationInterface")
        member("contextOwner", word: "controller")
      } else {
        word("byStyle")
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

extension RecordReader {
  package func storedPresentation(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Presentation {
    var presentation = Presentation()
    guard let list = tape.member("chain", of: at) else { return presentation }
    try require(tape.kind(list) == .array, "a chain is no list")
    presentation.chain = try tape.elements(of: list) { element throws(ReadFailure) in
      let screen = try require(tape.member("screen", of: element), "a presentation without screen")
      let from = tape.member("from", of: element)
      let style = tape.member("style", of: element)
      return Presented(
        screen: try storedScreen(tape, screen),
        from: try from.map { at throws(ReadFailure) in try screenID(tape, at) },
        style: style.flatMap { tape.string($0) })
    }
    return presentation
  }
}
