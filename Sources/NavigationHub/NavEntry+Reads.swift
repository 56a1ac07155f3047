import Navigation
import NavigationProtocol

// What a read of one nav gets, from the entry alone.

extension NavEntry {
  /// What a read of the present state gets.
  func value(
    of request: GetRequest, watchCount: Int
  ) throws(Hub.OpFailure) -> [UInt8] {
    switch request.what {
    case .state:
      let (body, next) = snapshot(why: "join").part(from: 0, limit: Int.max / 4)
      guard next == nil else { throw Hub.OpFailure(.limit, "the state is too large; use a watch") }
      return body
    case .bar: return resolved
    case .top: return latestValue(.top)
    case .screen:
      guard let text = request.screen, let id = ScreenID(text) else {
        throw Hub.OpFailure(.invalidArgument, "screen, the id of a screen, is required")
      }
      guard let screen = controller.screen(id) else {
        throw Hub.OpFailure(.unknownScreen, "there is no screen \(text)")
      }
      return JSONWriter.value { $0.screen(screen) }
    case .detached: return detachedRecords
    case .stats: return statistics(watchCount: watchCount)
    case .restoration: return JSONWriter.value { $0.restoration(of: controller) }
    case .backup:
      throw Hub.OpFailure(.invalidArgument, "a backup is of all navs together: leave nav out")
    case .log, .verify: preconditionFailure("\(request.what.rawValue) is answered elsewhere")
    }
  }

  private var detachedRecords: [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.name("screens")
      json.beginArray()
      for screen in controller.detachedScreens { json.screen(screen) }
      json.endArray()
      json.name("buttons")
      json.beginArray()
      for case .button(let button) in controller.detached.all { json.button(button) }
      json.endArray()
      json.endObject()
    }
  }

  private func statistics(watchCount: Int) -> [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.optional("owner", owner)
      json.member("depth", UInt64(standing.depth))
      json.member("detached", UInt64(controller.detached.count))
      json.name("bytes")
      json.integer(UInt64(max(controller.byteCount, 0)))
      json.member("watches", UInt64(watchCount))
      json.name("resume")
      json.beginObject()
      json.member("from", ring.base.number)
      json.member("bytes", UInt64(ring.byteCount))
      json.endObject()
      json.member("floor", floor.number)
      json.endObject()
    }
  }

  /// The digest from scratch, and all that is wrong with what is kept beside the state.
  func verified() -> (digest: Digest, violated: [String]) {
    let fresh = directory?.digest() ?? controller.digest()
    var violated = directory == nil ? controller.violatedInvariants() : []
    if fresh != digest { violated.append("digest \(digest.text) is \(fresh.text)") }
    if directory == nil, ShownBar.encodeResolved(controller) != resolved {
      violated.append("INV-9 resolved differs from the state")
    }
    return (fresh, violated)
  }
}
