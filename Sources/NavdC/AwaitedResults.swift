internal import CNavd
import NavigationCore
import NavigationClient

/// The screens that a program in C has presented, and whose results it waits for.
struct AwaitedResults {
  /// By nav and awaited screen, whether a state of the nav has contained the screen.
  private var awaitedHasAppeared: [String: [String: Bool]] = [:]
  /// The newest mirror of each watched nav.
  private var newestMirrors: [String: Mirror] = [:]

  /// Begins to wait; a second wait for the same screen changes nothing.
  mutating func awaitResult(of screen: String, in nav: String) {
    guard awaitedHasAppeared[nav]?[screen] == nil else { return }
    let isThere = newestMirrors[nav].map { Self.screenIDs($0).contains(screen) } ?? false
    awaitedHasAppeared[nav, default: [:]][screen] = isThere
  }

  /// Handles a new state, and returns the events of the screens that have gone.
  ///
  /// `diff` is the revision that led to the state; nil after a snapshot.
  mutating func handle(_ nav: String, _ mirror: Mirror, _ diff: Diff?) -> [Event] {
    newestMirrors[nav] = mirror
    guard let waits = awaitedHasAppeared[nav] else { return [] }
    let there = Self.screenIDs(mirror)
    var events: [Event] = []
    for (screen, wasThere) in waits.sorted(by: { $0.key < $1.key }) {
      if wasThere,
        let event = Self.resultEvent(of: screen, nav, mirror, diff, isThere: there.contains(screen))
      {
        events.append(event)
        awaitedHasAppeared[nav]?[screen] = nil
      } else if there.contains(screen) {
        awaitedHasAppeared[nav]?[screen] = true
      }
    }
    if awaitedHasAppeared[nav]?.isEmpty == true { awaitedHasAppeared[nav] = nil }
    return events
  }

  /// Ends the waits for all screens of a nav, without results, because its watch has ended.
  mutating func endWatch(of nav: String) -> [Event] {
    newestMirrors[nav] = nil
    let waits = awaitedHasAppeared.removeValue(forKey: nav) ?? [:]
    return waits.keys.sorted().map {
      Event(NAVD_EVENT_RESULT, nav: nav, ["screen": .string($0)])
    }
  }

  /// The event of an awaited screen; nil if it has not gone, or a transition is still open.
  private static func resultEvent(
    of screen: String, _ nav: String, _ mirror: Mirror, _ diff: Diff?, isThere: Bool
  ) -> Event? {
    let members: JSONObject = ["screen": .string(screen)]
    if let diff, let result = result(of: screen, in: diff) {
      return Event(NAVD_EVENT_RESULT, nav: nav, members + ["result": result])
    }
    guard !isThere else { return nil }
    guard diff != nil else {
      let failure = Failure(
        NAVD_REFUSED, "desync", "a snapshot hides how \(screen) went",
        advice: "treat the screen as closed without a result")
      return Event(NAVD_EVENT_RESULT, nav: nav, members, error: failure)
    }
    // The end of an open transition reports how the screen went.
    return mirror.isTransitioning ? nil : Event(NAVD_EVENT_RESULT, nav: nav, members)
  }

  /// The result in the event that ends a screen; nil without such an event.
  private static func result(of screen: String, in diff: Diff) -> OpaqueJSON?? {
    var tape = JSONTape()
    do { try tape.read(diff.events.bytes, maximumDepth: 64) } catch { return nil }
    var found: OpaqueJSON??
    tape.forEachElement(of: tape.root) { element in
      for name in ["didPop", "didDismiss"] {
        guard let details = tape.member(name, of: element),
          let id = tape.member("screen", of: details), tape.isString(id, screen)
        else { continue }
        let value = tape.member("result", of: details)
        found = .some(value.map { OpaqueJSON(validated: tape.raw($0)) })
      }
    }
    return found
  }

  private static func screenIDs(_ mirror: Mirror) -> Set<String> {
    Set((mirror.screens + mirror.presented).map(\.id))
  }
}
