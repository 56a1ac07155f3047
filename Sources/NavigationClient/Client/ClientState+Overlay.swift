import NavigationCore
import NavigationReplica

extension ClientState {
  /// Adds operations to the overlay, so that they show before the daemon has performed them.
  mutating func show(
    _ operations: [NavigationOperation], _ id: UInt64, _ nav: String, _ guards: Guards
  ) {
    guard let mirror = cluster.mirror(of: nav),
      let edits = OverlayEdit.read(operations, id: id, on: mirror)
    else { return }
    var overlay = overlays[nav] ?? Overlay()
    guard overlay.begin(id, edits, guards, on: mirror) else { return }
    overlays[nav] = overlay
    shownOn[id] = nav
    offerDisplay(of: nav, mirror)
  }

  /// Passes the result of operations to the overlay.
  mutating func resolve(_ id: UInt64, _ result: Result<OkReply, ErrReply>?) {
    guard let nav = shownOn.removeValue(forKey: id) else { return }
    let mirror = cluster.mirror(of: nav)
    let before = overlays[nav]
    switch result {
    case .success(let reply):
      // A reply of another epoch names a revision that this mirror never reaches.
      let isOfMirror = reply.epoch == mirror?.epoch
      overlays[nav]?.confirm(
        id, at: isOfMirror ? reply.revision : nil, changed: reply.changed ?? false, in: mirror)
    case .failure, nil: overlays[nav]?.withdraw(id, from: mirror)
    }
    guard overlays[nav] != before else { return }
    tidyOverlay(nav)
    if let mirror { offerDisplay(of: nav, mirror) }
  }

  /// Applies the pending changes of the overlay to a new mirror.
  mutating func rebase(_ nav: String, onto mirror: Mirror, by diff: Diff? = nil) {
    let own = diff.flatMap { $0.byName == cluster.name ? $0.byOp : nil }
    overlays[nav]?.rebase(onto: mirror, by: own)
    tidyOverlay(nav)
  }

  /// Removes the overlay of a nav that is no longer watched.
  mutating func dropOverlay(_ nav: String) {
    overlays[nav] = nil
    shownOn = shownOn.filter { $0.value != nav }
  }

  /// A confirmed state, and the state with the pending changes.
  func mirrorState(_ state: NavigationState) -> MirrorState {
    guard let overlay = overlays[state.nav] else {
      return MirrorState(confirmed: state, displayed: state)
    }
    let shown = overlay.displayed(over: state.mirror, hasMenu: features.contains(.backMenu))
    return MirrorState(confirmed: state, displayed: state.showing(shown))
  }

  private mutating func tidyOverlay(_ nav: String) {
    guard overlays[nav]?.isEmpty ?? false else { return }
    overlays[nav] = nil
  }

  private mutating func offerDisplay(of nav: String, _ mirror: Mirror) {
    var state = NavigationState(nav: nav, mirror: mirror)
    state.isResynchronised = false
    offer(state) { $0.showsPending && !$0.isWaitingForFirst }
  }
}
