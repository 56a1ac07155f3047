import NavigationCore

// UIKit's UIAppearance: the looks of all bars are the settings of the nav `$appearance`. Each other nav
// takes over the looks of its classes in a revision of its own, so that its rows suffice to replay it.
// Before each event, up to 64 loaded navs do so; a dormant nav does before the event that revives it.

extension Hub {
  /// The most navs that take over new looks before the next event is handled.
  private static let navsPerLooksUpdate = 64

  /// The looks of all bars by class; nil while `$appearance` is dormant, and in a cluster.
  var looks: [Text: BarLook]? {
    mutating get {
      guard shards.count == 1 else { return nil }
      let name = NavName.appearance.text
      guard let slot = navs.slot(of: name) else {
        return navs.dormants.place(named: name) == nil ? [:] : nil
      }
      return navs[slot].controller.settings.content.appearanceProxies
    }
  }

  /// Notes a loaded nav if it lacks looks of `$appearance`; checks all navs if it is `$appearance`
  /// itself.
  mutating func noteIfLackingLooks(_ slot: NavSlot) {
    noteNavsLackingLooks(navs[slot].isAppearance ? navs.loaded : [slot])
  }

  /// Notes which of these navs lack looks; `$appearance` itself has them all.
  mutating func noteNavsLackingLooks(_ slots: ArraySlice<NavSlot>) {
    guard let looks else { return }
    for slot in slots where !navs[slot].isAppearance && navs[slot].controller.needsLooks(looks) {
      navsLackingLooks.append(slot)
    }
    if !navsLackingLooks.isEmpty { timer.plan(timer.now.boot) }
  }

  /// Lets up to 64 of the noted navs take over the looks of `$appearance`, each in one revision.
  mutating func applyLooks() {
    guard !navsLackingLooks.isEmpty, let looks else { return }
    guard !batches.isStorageFailing, !isUnsound else {
      return timer.plan(timer.now.boot + Self.endingRetryMilliseconds)
    }
    for _ in 0..<Self.navsPerLooksUpdate {
      guard let slot = navsLackingLooks.popLast() else { return }
      // A slot can be vacant by now, or have another nav, which lacks nothing then.
      guard navs.isLive(slot), !navs[slot].isAppearance else { continue }
      commitDaemonOperation(.adoptLooks(looks), cause: .appearance, slot)
    }
    timer.plan(timer.now.boot)
  }

  /// Makes `$appearance` for the first op that sets a look; returns nil for any other op.
  ///
  /// Throws, without creating the nav, if that op will be refused.
  mutating func makeAppearanceNav(_ op: OpContext) throws(OpFailure) -> NavSlot? {
    guard op.isAboutAppearance, !op.request.isDry else { return nil }
    guard op.request.guards.isMetWithoutNav else {
      throw OpFailure(.noNav, "there is no nav \(op.request.nav)")
    }
    var controller = NavigationController(revision: Revision(1))
    controller.isStandalone = true
    let (operations, unreadable) = Self.readableOperations(op.request, isStandalone: true)
    var trial = controller
    do {
      _ = try trial.perform(operations, isAnimated: nil, in: context)
    } catch {
      throw OpFailure(error)
    }
    if let unreadable { throw unreadable }
    try checkNavQuota()
    try checkStorage()
    let slot = addNav(op.request.nav, ownedBy: "", controller, by: nil, at: op.now)
    recordCreation(of: slot, by: nil, at: op.now)
    decideWaitingWatches(op.request.nav, at: op.now)
    return slot
  }

  /// Throws if an op sets a proxy look on another nav than `$appearance`, or does anything else on
  /// `$appearance` than that or closing it.
  mutating func checkAppearance(_ op: OpContext) throws(OpFailure) {
    guard
      op.isAboutAppearance || !op.request.kinds.areOrdinary && op.request.kinds.contains(.proxySet)
    else { return }
    guard shards.count == 1 else {
      throw OpFailure(.unsupported, "a cluster has no looks of all bars; set each bar's own")
    }
    for (index, kind) in op.request.kinds.enumerated()
    where op.isAboutAppearance ? kind != .proxySet && kind != .navClose : kind == .proxySet {
      throw OpFailure(
        OutgoingError(
          .readonly, "\(NavName.appearance.text) has the looks of all bars, and nothing else",
          index: index))
    }
  }
}
