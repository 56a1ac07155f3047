import NavigationCore
public import Observation

/// A nav for a user interface: observable properties that follow it while ``run(wait:)`` runs.
///
/// Interfaces that observe by `Observation`, such as SwiftUI's and ports of it, draw from the
/// properties and are called again when one changes. The model runs on the main actor.
///
/// ```swift
/// let model = NavigationModel(client, nav: "kiosk")
/// let following = Task { try await model.run() }   // SwiftUI: .task { try? await model.run() }
/// ```
///
/// The life of a model is that of the task which calls ``run(wait:)``. Before it, the properties are
/// empty. While it runs, they have the newest state of the nav, each revision after the one before;
/// a slow main actor skips states in between. When the task is cancelled or the nav is closed, the
/// properties keep their last values and ``isStale`` is true. The model can run again.
///
/// The properties show only changes that the daemon has performed, also those of this model's own
/// operations, such as ``push(_:animated:)``.
@MainActor @Observable public final class NavigationModel {
  /// The client that the model uses.
  public let client: NavigationClient
  /// The name of the nav.
  public let nav: String

  /// The newest state; nil before the first one.
  ///
  /// It changes with every revision. Draw from the other properties, which change only if their
  /// own part changes; make guards from this one.
  public private(set) var state: NavigationState?
  /// The stack, bottom first.
  public private(set) var screens: [NavigationScreen] = []
  /// The presented screens, in the order of their presentation.
  public private(set) var presented: [NavigationScreen] = []
  /// The visible content of the navigation bar; nil before the first state.
  public private(set) var bar: NavigationBarContent?
  /// Whether a transition, or the gesture that drives one, is open.
  public private(set) var isTransitioning = false
  /// The status of the connection.
  public private(set) var status = NavigationClient.Status.disconnected
  /// Whether the properties can be older than the nav, which an interface should show.
  ///
  /// It is true until ``run(wait:)`` has the first state, while the connection is lost, and when
  /// ``run(wait:)`` has ended.
  public private(set) var isStale = true

  @ObservationIgnored private var isRunning = false
  /// Whether `state` came in this run, and is at least as new as the last one that was in sync.
  @ObservationIgnored private var showsNewestState = false
  /// Whether the mirror has been in sync with the daemon since the last change of `status`.
  @ObservationIgnored private var isMirrorInSync = false
  /// The number of changes of `status`; a sync that was awaited before the last one is ignored.
  @ObservationIgnored private var statusChangeCount = 0

  /// Makes a model of a nav, which has no state until ``run(wait:)`` is called.
  ///
  /// - Parameters:
  ///   - client: the client to use.
  ///   - nav: the name of the nav.
  public init(_ client: NavigationClient, nav: String) {
    self.client = client
    self.nav = nav
  }

  /// The top screen; nil for an empty stack.
  public var top: NavigationScreen? { screens.last }

  /// UIKit's `visibleViewController`: the last presented screen, else the top screen, else nil.
  public var visible: NavigationScreen? { presented.last ?? top }

  /// Follows the nav until it is closed or the task is cancelled.
  ///
  /// A loss of the connection does not end it. A second call while one runs fails as
  /// `invalid-argument`.
  ///
  /// - Parameter wait: as in ``NavigationClient/watch(_:wait:buffering:)``.
  /// - Throws: the error that ended the watch, such as `no-nav`, `forbidden` or `closed`.
  public func run(wait: Bool = false) async throws(NavigationClientError) {
    guard !isRunning else {
      throw NavigationClientError(.invalidArgument, "the model of \(nav) runs already")
    }
    isRunning = true
    showsNewestState = false
    let following = Task { await followStatus() }
    defer {
      following.cancel()
      statusChangeCount += 1
      isRunning = false
      setMirrorInSync(false)
    }
    for try await state in client.watch(nav, wait: wait) { show(state) }
  }

  private func show(_ new: NavigationState) {
    showsNewestState = true
    state = new
    set(\.screens, new.screens)
    set(\.presented, new.presented)
    set(\.bar, new.bar)
    set(\.isTransitioning, new.isTransitioning)
    setMirrorInSync(isMirrorInSync)
  }

  /// Sets a property if it changes, so that observers of an equal value are not called.
  private func set<Value: Equatable>(
    _ property: ReferenceWritableKeyPath<NavigationModel, Value>, _ value: Value
  ) {
    if self[keyPath: property] != value { self[keyPath: property] = value }
  }

  private func followStatus() async {
    await withDiscardingTaskGroup { group in
      for await status in client.statuses() {
        guard !Task.isCancelled else { return }
        statusChangeCount += 1
        set(\.status, status)
        setMirrorInSync(false)
        guard status == .connected else { continue }
        // The session is open, but the mirror may still be that of the former one.
        let number = statusChangeCount
        group.addTask { await self.awaitMirrorSync(afterStatusChange: number) }
      }
    }
  }

  /// Waits until the mirror is in sync, and notes that unless `status` has changed since.
  private func awaitMirrorSync(afterStatusChange number: Int) async {
    do throws(NavigationClientError) {
      let newest = try await client.state(of: nav)
      guard number == statusChangeCount else { return }
      // The mirror is right, but its state may still be on the way to `show`.
      showsNewestState = showsNewestState && isShowing(atLeast: newest)
      setMirrorInSync(true)
    } catch {
      // The watch of `run` ends with the same error, or the task is cancelled.
    }
  }

  private func isShowing(atLeast newest: NavigationState) -> Bool {
    state.map { $0.epoch == newest.epoch && $0.revision >= newest.revision } ?? false
  }

  private func setMirrorInSync(_ isMirrorInSync: Bool) {
    self.isMirrorInSync = isMirrorInSync
    set(\.isStale, !isMirrorInSync || !showsNewestState)
  }

  /// Pushes a screen above the top that the model shows.
  ///
  /// - Parameters:
  ///   - screen: the screen.
  ///   - animated: whether displays should animate the change.
  /// - Returns: the reply of the daemon.
  /// - Throws: `desync` if another screen is on top, or if the model has no state.
  @discardableResult
  public func push(
    _ screen: ScreenDescription, animated: Bool = false
  ) async throws(NavigationClientError) -> NavigationReply {
    try await client.push(screen, onto: shownState(), animated: animated)
  }

  /// Pops the top screen, if it is the one that the model shows.
  ///
  /// - Parameter animated: whether displays should animate the change.
  /// - Returns: the reply of the daemon.
  /// - Throws: `desync` if another screen is on top, or if the model has no state.
  @discardableResult
  public func pop(
    animated: Bool = false
  ) async throws(NavigationClientError) -> NavigationReply {
    try await client.pop(from: shownState(), animated: animated)
  }

  /// Removes all screens above one of those that the model shows.
  ///
  /// - Parameters:
  ///   - screen: the id of the screen.
  ///   - animated: whether displays should animate the change.
  /// - Returns: the reply of the daemon.
  /// - Throws: `not-in-stack` if the screen has gone; `desync` if the nav has another epoch.
  @discardableResult
  public func popTo(
    _ screen: String, animated: Bool = false
  ) async throws(NavigationClientError) -> NavigationReply {
    try await client.popTo(screen, in: shownState(), animated: animated)
  }

  /// Removes all screens but the root, if the stack is the one that the model shows.
  ///
  /// - Parameter animated: whether displays should animate the change.
  /// - Returns: the reply of the daemon.
  /// - Throws: `desync` if other screens are on the stack, or if the model has no state.
  @discardableResult
  public func popToRoot(
    animated: Bool = false
  ) async throws(NavigationClientError) -> NavigationReply {
    try await client.popToRoot(in: shownState(), animated: animated)
  }

  private func shownState() throws(NavigationClientError) -> NavigationState {
    if let state { return state }
    var error = NavigationClientError(.desync, "the model of \(nav) has no state yet")
    error.reason = .mirror
    error.retry = .afterResynchronising
    throw error
  }
}
