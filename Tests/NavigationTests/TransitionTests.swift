@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct TransitionTests {
  @Test func `C-014 C-015 a transition is named by its revision and completed once`() throws {
    var nav = try Nav("A", detached: ["B"])
    try nav.run(.push("B"), animated: true)
    let running = try #require(nav.running)
    #expect(running.id == Revision(11))
    #expect(running.kind == .push)
    #expect(running.from == "A")
    #expect(running.to == "B")
    #expect(running.timeLimitMilliseconds == 1000)
    #expect(
      nav.events == [
        .willHide("A", animated: true), .willShow("B", animated: true), .transitionBegan(running),
      ])
    #expect(nav.ids == ["A", "B"])
    try nav.run(.completeTransition(Revision(11)))
    #expect(nav.running == nil)
    #expect(nav.controller.revision == Revision(12))
    #expect(
      nav.events == [
        .didPush("B"), .didHide("A", animated: true), .didShow("B", animated: true),
        .transitionEnded(Revision(11), .completed),
      ])
    // Up to the version of the part it changes nothing, beyond it it is an error.
    try nav.runsWithoutEffect(.completeTransition(Revision(11)))
    try nav.runsWithoutEffect(.completeTransition(Revision(12)))
    nav.refuses(
      .completeTransition(Revision(13)),
      with: .invalidArgument("no transition 13 was ever begun"))
  }

  @Test func `an edit, a change below the top and a detached controller begin no transition`()
    throws
  {
    var nav = try Nav("A", "B", "C")
    try nav.run(.title("C", "T"), animated: true)
    #expect(nav.running == nil)
    try nav.run(.setStack("B", "C"), animated: true)
    #expect(nav.running == nil)
    try nav.run(.detach)
    try nav.run(.pop, animated: true)
    #expect(nav.running == nil)
    #expect(nav.events == [])
  }

  @Test func `a batch is one transition from the old top to the new one`() throws {
    var nav = try Nav("A", "B", detached: ["C", "D"])
    try nav.run(.pop, .push("C"), .push("D"), animated: true)
    #expect(nav.running?.kind == .push)
    #expect(nav.running?.from == "B")
    #expect(nav.running?.to == "D")
    #expect(
      try nav.story() == [
        .willHide("B", animated: true), .willShow("D", animated: true), .didPop("B"),
        .didPush("C"), .didPush("D"), .didHide("B", animated: true), .didShow("D", animated: true),
      ])
  }

  @Test func `what an animator said is in the transition, and stretches its deadline`() throws {
    var controller = try Nav("A", detached: ["B"]).controller
    let performance = try controller.perform(
      [.push("B")], isAnimated: true,
      animation: Animation(animator: "fade", durationMilliseconds: 800, driver: "drive"),
      in: NavigationContext())
    let running = try #require(controller.transition.content.running)
    #expect(running.animator == "fade")
    #expect(running.driver == "drive")
    #expect(running.durationMilliseconds == 800)
    #expect(running.timeLimitMilliseconds == 1300)
    #expect(!running.isInteractive)
    #expect(
      performance.commit?.completionEvents == [
        .didPush("B"), .didHide("A", animated: true), .didShow("B", animated: true),
      ])
  }

  @Test func `C-293 time completes an animation`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.pop, animated: true)
    try nav.run(.expireTransition)
    #expect(
      nav.events == [
        .didPop("B"), .didHide("B", animated: true), .didShow("A", animated: true),
        .transitionEnded(Revision(11), .timedOut),
      ])
    try nav.runsWithoutEffect(.expireTransition)
  }

  @Test func `C-297 C-298 a gesture pops when it is finished`() throws {
    var nav = try Nav("A", "B")
    let begin = Operation.beginGesture(isFullScreen: false, translation: 5, owner: "shell")
    #expect(try nav.run(begin) == .gestureBegan(Revision(11)))
    let running = try #require(nav.running)
    #expect(running.isInteractive)
    #expect(running.gestureOwner == "shell")
    #expect(running.timeLimitMilliseconds == 10000)
    #expect(nav.commit?.splice == nil)
    #expect(nav.commit?.parts == [.transition])
    #expect(
      nav.events == [
        .willHide("B", animated: true), .willShow("A", animated: true), .transitionBegan(running),
      ])
    #expect(
      try nav.runsWithoutEffect(.updateGesture(0.3)) == .gestureProgress(Revision(11), 0.3))
    // C-307
    for value in [1.2, -0.1, .nan] {
      nav.refuses(
        .updateGesture(value), with: .invalidArgument("value is from 0 to 1"))
    }
    nav.refuses(begin, with: .gestureRefused(.transitionOpen))
    #expect(try nav.run(.finishGesture) == .popped("B"))
    #expect(nav.ids == ["A"])
    #expect(
      nav.events == [
        .didPop("B"), .didHide("B", animated: true), .didShow("A", animated: true),
        .transitionEnded(Revision(11), .completed),
      ])
  }

  @Test(arguments: [Operation.cancelGesture, .expireTransition])
  func `C-299 a gesture that is not finished leaves no trace`(end: Operation) throws {
    var nav = try Nav("A", "B")
    try nav.run(
      .beginGesture(isFullScreen: false, translation: 5, owner: "shell"))
    try nav.run(end)
    #expect(nav.ids == ["A", "B"])
    #expect(nav.commit?.parts == [.transition])
    #expect(nav.events == [.transitionEnded(Revision(11), .cancelled)])
  }

  @Test func `C-300 C-301 C-303 C-304 gestures are refused in a fixed order`() throws {
    func begin(_ isFullScreen: Bool, _ way: Double) -> Operation {
      .beginGesture(isFullScreen: isFullScreen, translation: way, owner: "")
    }
    var nav = try Nav("A")
    nav.refuses(begin(false, 5), with: .gestureRefused(.atRoot))
    nav.refuses(begin(true, 5), with: .gestureRefused(.disabled))
    try nav.run(.push(ScreenRecord(id: "B")))
    nav.refuses(begin(false, -3), with: .gestureRefused(.wrongDirection))
    nav.refuses(begin(false, 0), with: .gestureRefused(.wrongDirection))
    try nav.run(begin(false, 1))
  }

  @Test func `a detached controller has no gestures`() throws {
    var nav = try Nav("A", "B", isAttached: false)
    nav.refuses(
      .beginGesture(isFullScreen: false, translation: 1, owner: ""),
      with: .invalidArgument("a controller that is not attached has no gestures"))
  }

  @Test func `what was open when the daemon died ends in one revision`() throws {
    var nav = try Nav("A", detached: ["B"])
    try nav.run(.setDisplayOwner("shell"))
    #expect(nav.commit?.parts == [.environment])
    try nav.runsWithoutEffect(.setDisplayOwner("shell"))
    let value = DelegateOrientations(supported: [.portrait], preferred: nil)
    try nav.run(.setOrientations(value))
    try nav.run(.push("B"), animated: true)
    try nav.run(.recoverAfterRestart)
    #expect(nav.commit?.parts == [.transition, .environment])
    #expect(nav.events.last == .transitionEnded(Revision(13), .timedOut))
    #expect(nav.controller.environment.content.owner == nil)
    #expect(nav.controller.environment.content.delegateOrientations == nil)
    try nav.runsWithoutEffect(.recoverAfterRestart)
  }
}
