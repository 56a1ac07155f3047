package import NavigationCore

/// A complete state of a nav, which the hub sends in parts of limited size.
///
/// A snapshot holds the state as a value, so later commits do not change it.
package struct Snapshot: Sendable {
  /// The contents of a snapshot.
  package enum Content: Sendable {
    case controller(NavigationController)
    /// The encoded records of a virtual nav.
    case directory([[UInt8]])
  }

  package var nav: String
  package var kind: String
  package var epoch: Epoch
  package var revision: Revision
  /// The reason for the snapshot, in the protocol's words.
  package var why: String
  package var digest: Digest
  package var content: Content

  /// The number of screens, or of records in a virtual nav.
  package var screenCount: Int {
    switch content {
    case .controller(let controller): controller.stack.count
    case .directory(let records): records.count
    }
  }

  /// Encodes the part that begins with the screen at `first`; `next` is nil after the last part.
  ///
  /// The records have at most `byteLimit` bytes, but a single record may exceed it. Only the last part
  /// can have `resolved`.
  package func part(
    from first: Int, limit byteLimit: Int, hasResolved: Bool = true
  ) -> (body: [UInt8], next: Int?) {
    var screens = JSONWriter(reserving: 1024)
    screens.beginArray()
    var index = first
    while index < screenCount {
      let record = encodedScreen(index)
      guard index == first || screens.count + record.count < byteLimit else { break }
      screens.raw(record)
      index += 1
    }
    screens.endArray()
    // The six parts are in the message with the last screens if they fit, else in a message of
    // their own.
    let tail = index < screenCount ? nil : membersAfterScreens(hasResolved)
    let isLast = tail.map { first == index || $0.count + screens.count < byteLimit } ?? false
    var json = JSONWriter(reserving: screens.count + 1024)
    json.beginObject()
    json.member("nav", nav)
    json.member("kind", word: kind)
    json.revision(epoch, revision)
    json.member("i", UInt64(first))
    json.member("last", isLast)
    json.member("why", why)
    json.member("screens", raw: screens.bytes)
    if isLast, let tail { json.raw(withComma: tail) }
    json.endObject()
    return (json.bytes, isLast ? nil : index)
  }

  private func encodedScreen(_ index: Int) -> [UInt8] {
    switch content {
    case .controller(let controller): JSONWriter.value { $0.screen(controller.stack[index]) }
    case .directory(let records): records[index]
    }
  }

  /// The members after the screens, each with a comma behind it.
  private func membersAfterScreens(_ hasResolved: Bool) -> [UInt8] {
    var json = JSONWriter(reserving: 1024)
    if case .controller(let controller) = content {
      for part in PartName.allCases {
        json.dynamicName(part.text)
        json.part(part, of: controller)
      }
      if hasResolved {
        json.name("resolved")
        json.resolved(controller.resolvedBar())
      }
    }
    json.member("dig", digest)
    return [UInt8](copying: json.writtenWithComma)
  }
}
