package import NavigationCore

/// The transition in flight; at most one.
package struct Transition: PartContent {
  /// The transition; nil when idle.
  package var running: RunningTransition?

  package init() {}
}

/// An animation or gesture between two screens.
package struct RunningTransition: Hashable, Sendable {
  /// The revision that began the transition, which also identifies it.
  package var id: Revision
  package var kind: Kind
  /// The screen that the transition hides; nil if there was none.
  package var from: ScreenID?
  /// The screen that the transition shows; nil if there is none.
  package var to: ScreenID?
  package var isInteractive = false
  /// The name of the client that began the gesture.
  package var gestureOwner: String?
  /// The name of the animator, from the animator delegate.
  package var animator: String?
  /// The name of the interaction driver, from the interaction delegate.
  package var driver: String?
  /// How long the animation takes, in milliseconds; nil if nobody gave a time.
  package var durationMilliseconds: UInt64?
  /// Whether the display asked for reduced animations: a fade, in `reducedDurationMilliseconds`.
  package var isReduced = false
  /// Milliseconds until navd ends the transition: from its beginning, or a gesture's last update.
  package var timeLimitMilliseconds: UInt64
  /// The change of the bar's visibility during the transition, undone if it is cancelled.
  package var barChange: BarChange?
  /// The events that a completion reports before the end; the journal has them, clients do not.
  package var completionEvents: [NavigationEvent] = []

  /// The effect of a transition on the stack or the presentations; UIKit's
  /// `UINavigationController.Operation`.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// A screen comes onto the stack.
    case push
    /// A screen leaves the stack.
    case pop
    /// A screen is presented over the stack.
    case present
    /// A presented screen is dismissed.
    case dismiss
  }

  /// The duration of a reduced animation, in milliseconds.
  package static let reducedDurationMilliseconds: UInt64 = 100
}

/// The answers of an animator delegate and of an interaction delegate for a transition.
package struct Animation: Hashable, Sendable {
  package var animator: String
  /// How long the animator takes, in milliseconds; nil if the delegate gave no time.
  package var durationMilliseconds: UInt64?
  /// The name of the interaction driver; nil without one.
  package var driver: String?
}

/// A change of the bar's visibility during a transition.
package struct BarChange: Hashable, Sendable {
  package var isHidden: Bool
  package var isAnimated: Bool
  /// Whether the bar jumps: a change that is not animated inside an animated transition.
  package var isJump: Bool
}

/// How a transition ended.
package enum TransitionOutcome: UInt8, CaseIterable, Sendable {
  /// The display has shown the transition to its end.
  case completed
  /// The transition was cancelled, and its change rolled back.
  case cancelled
  /// The display did not report the end in time; the transition counts as completed.
  case timedOut
  /// Another operation began before the end: an animation counts as completed, a gesture as cancelled.
  case interrupted
}

// The transition in flight, gestures, and how each of them ends.

/// Why a swipe back may not begin; the reasons are tested in this order.
package enum GestureRefusal: String, Hashable, Sendable {
  /// A transition, another gesture or a question to the delegates is open.
  case transitionOpen = "active"
  /// A presented screen covers the stack.
  case covered
  /// The settings turn swiping back off, or allow only the other kind of swipe.
  case disabled
  /// The top is the root, or the stack is empty.
  case atRoot = "root"
  /// No back button is visible, and the settings demand one.
  case noBackButton = "backButton"
  /// The top does not let a person pop it (`canPop`).
  case popBlocked = "blocked"
  /// The swipe does not go to the right.
  case wrongDirection = "direction"
}

extension NavigationController {
  mutating func completeTransition(
    _ id: Revision, _ draft: inout Draft
  ) throws(NavigationError) {
    if let running = transition.content.running, running.id == id {
      guard !running.isInteractive else {
        throw .invalidArgument("a gesture ends by gesture.finish or gesture.cancel")
      }
      return endTransition(.completed, &draft)
    }
    guard id <= transition.version else {
      throw .invalidArgument("no transition \(id.number) was ever begun")
    }
    assert(transition.version <= draft.revision, "a transition of a later revision")
  }

  /// Ends the transition, if any, without a client's request: cancels a gesture, times out the
  /// rest.
  mutating func expireTransition(_ draft: inout Draft) {
    guard let running = transition.content.running else { return }
    endTransition(running.isInteractive ? .cancelled : .timedOut, &draft)
  }

  mutating func recoverAfterRestart(_ draft: inout Draft) {
    expireTransition(&draft)
    environment.change(.environment, &draft) {
      $0.owner = nil
      $0.delegateOrientations = nil
    }
  }

  /// Clears the transition, and reports its end after the events of the stack's change.
  ///
  /// `progress` is how far it had come, from 0 to 1; nil if that is not known.
  mutating func endTransition(
    _ outcome: TransitionOutcome, progress: Double? = nil, _ draft: inout Draft
  ) {
    guard let running = transition.content.running else { return }
    if outcome != .cancelled, outcome != .interrupted || !running.isInteractive {
      draft.rareNotes().eventsAfterStackChange += running.completionEvents
    }
    assert(running.id <= draft.revision, "a transition that has not begun")
    draft.rareNotes().eventsAfterStackChange.append(
      .transitionEnded(running.id, outcome, progress: progress))
    setTransition(nil, &draft)
  }

  mutating func setTransition(_ running: RunningTransition?, _ draft: inout Draft) {
    assert(running == nil || transition.content.running == nil, "two transitions at a time")
    assert(running == nil || running?.id == draft.revision, "named by another revision")
    transition.change(.transition, &draft) { $0.running = running }
  }

  // Gestures.

  /// Why a gesture may not begin; nil if the gesture may.
  package func gestureRefusal(
    isFullScreen: Bool, translation: Double, interrupts: Bool = false
  ) -> GestureRefusal? {
    if transition.content.running != nil, !interrupts { return .transitionOpen }
    if let refusal = swipeBackRefusal(isFullScreen: isFullScreen) { return refusal }
    return translation > 0 ? nil : .wrongDirection
  }

  /// The first reason, in the order of `GestureRefusal`, why a swipe back cannot begin now, apart from
  /// an open transition and the swipe's direction; nil if there is none.
  ///
  /// `isFullScreen` says whether the swipe may begin anywhere on the screen; nil stands for the way
  /// that the settings have.
  func swipeBackRefusal(isFullScreen: Bool?) -> GestureRefusal? {
    if isCovered { return .covered }
    let setting = settings.content.interactivePop
    if !setting.isEnabled || isFullScreen.map({ $0 != setting.isFullScreen }) ?? false {
      return .disabled
    }
    if stack.count < 2 { return .atRoot }
    if !swipeNeedsNoBackButton, !showsBackButton || bar.content.isHidden { return .noBackButton }
    return top?.blocksPop == true ? .popBlocked : nil
  }

  mutating func beginGesture(
    _ isFullScreen: Bool, _ translation: Double, _ owner: String, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    if let reason = gestureRefusal(isFullScreen: isFullScreen, translation: translation) {
      throw .gestureRefused(reason)
    }
    guard isAttached, let top, let under = backScreen?.id else {
      throw .invalidArgument("a controller that is not attached has no gestures")
    }
    assert(under != top.id, "the top is below itself")
    var running = RunningTransition(
      id: draft.revision, kind: .pop, from: top.id, to: under,
      timeLimitMilliseconds: settings.content.gestureDeadlineMilliseconds)
    running.isInteractive = true
    running.gestureOwner = owner
    running.completionEvents = [
      .didPop(top.id), .didHide(top.id, animated: true), .didShow(under, animated: true),
    ]
    setTransition(running, &draft)
    draft.hasSuppliedStackEvents = true
    draft.rareNotes().eventsBeforeStackChange = [
      .willHide(top.id, animated: true), .willShow(under, animated: true),
      .transitionBegan(running),
    ]
    return .gestureBegan(running.id)
  }

  private func requiredGesture() throws(NavigationError) -> RunningTransition {
    guard let running = transition.content.running, running.isInteractive else {
      throw .invalidArgument("no gesture is open")
    }
    assert(running.kind == .pop, "a gesture that does not pop")
    return running
  }

  func updateGesture(_ value: Double) throws(NavigationError) -> OperationOutput {
    let running = try requiredGesture()
    guard value >= 0, value <= 1 else { throw .invalidArgument("value is from 0 to 1") }
    return .gestureProgress(running.id, value)
  }

  mutating func finishGesture(_ draft: inout Draft) throws(NavigationError) -> ScreenID? {
    let running = try requiredGesture()
    // An open gesture locks the stack, so its screen must still be on top.
    guard running.from == top?.id else { throw .invalidArgument("the gesture's screen is gone") }
    // The screen can have become one that a person cannot pop since the gesture began.
    if top?.blocksPop == true {
      endTransition(.cancelled, &draft)
      return nil
    }
    let popped = pop(&draft)
    assert(popped == running.from)
    draft.hasSuppliedStackEvents = true
    // Before the transition ends, so that the change of the bar belongs to it.
    applyBarPreferences(&draft)
    endTransition(.completed, &draft)
    return popped
  }

  mutating func cancelGesture(_ draft: inout Draft) throws(NavigationError) {
    _ = try requiredGesture()
    endTransition(.cancelled, &draft)
  }
}
