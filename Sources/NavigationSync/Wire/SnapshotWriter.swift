import Navigation

/// A complete state to be sent in parts of bounded size.
///
/// It holds the state as a value, so later commits do not touch it.
struct Snapshot: Sendable {
  /// What a snapshot is of.
  enum Content: Sendable {
    case controller(NavigationController, ShownBar)
    /// Records of a virtual nav, encoded.
    case directory([[UInt8]])
  }

  var nav: String
  var kind: StaticString
  var epoch: Epoch
  var revision: Revision
  var why: String
  var digest: Digest
  var content: Content

  var screenCount: Int {
    switch content {
    case .controller(let controller, _): controller.stack.count
    case .directory(let records): records.count
    }
  }

  /// Encodes the part that begins with the screen at `first`, whose records take `limit` bytes at most.
  ///
  /// - Parameters:
  ///   - first: the index of the first screen.
  ///   - limit: bytes; a single record may exceed it.
  ///   - hasResolved: whether it tells what the bar shows.
  /// - Returns: the body, and the index to go on with, nil behind the last part.
  func part(
    from first: Int, limit: Int, hasResolved: Bool = true
  ) -> (body: [UInt8], next: Int?) {
    var screens = JSONWriter(reserving: 1024)
    screens.beginArray()
    var index = first
    while index < screenCount {
      let record = encoded(index)
      guard index == first || screens.count + record.count < limit else { break }
      screens.raw(record)
      index += 1
    }
    screens.endArray()
    // The parts of the nav go with the last screens if there is room for them.
    let tail = index < screenCount ? nil : self.tail(hasResolved)
    let isLast = tail.map { first == index || $0.count + screens.count < limit } ?? false
    var json = JSONWriter(reserving: screens.count + 1024)
    json.beginObject()
    json.member("nav", nav)
    json.member("kind", plain: kind)
    json.place(epoch, revision)
    json.member("i", UInt64(first))
    json.member("last", isLast)
    json.member("why", why)
    json.member("screens", raw: screens.bytes)
    if isLast { writeTail(&json, hasResolved) }
    json.endObject()
    return (json.bytes, isLast ? nil : index)
  }

  private func encoded(_ index: Int) -> [UInt8] {
    switch content {
    case .controller(let controller, _): JSONWriter.value { $0.screen(controller.stack[index]) }
    case .directory(let records): records[index]
    }
  }

  private func tail(_ hasResolved: Bool) -> [UInt8] {
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    writeTail(&json, hasResolved)
    return json.bytes
  }

  private func writeTail(_ json: inout JSONWriter, _ hasResolved: Bool) {
    if case .controller(let controller, let shown) = content {
      for part in PartName.allCases {
        json.dynamicName(part.text)
        json.part(part, of: controller)
      }
      if hasResolved {
        json.name("resolved")
        json.shown(shown)
      }
    }
    json.member("dig", hex: digest.bits)
  }
}
