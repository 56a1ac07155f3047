import NavigationClient
import NavigationCore
import Testing

/// What this library says to a daemon of an earlier version, which knows none of its new words.
@Suite struct OldDaemonTests {
  @Test func `operations without new arguments are written as ever`() {
    let written: [(NavigationOperation, String)] = [
      (.push("a"), #"{"push":{"screen":"a"}}"#),
      (.push("a", onDuplicate: .ignore), #"{"push":{"screen":"a","onDuplicate":"ignore"}}"#),
      (.show("a"), #"{"show":{"screen":"a"}}"#), (.pop(), #"{"pop":{}}"#),
      (.popTo("a"), #"{"popTo":{"screen":"a"}}"#),
      (.popTo(route: "r"), #"{"popTo":{"route":"r","match":"top"}}"#),
      (.dismiss(), #"{"dismiss":{}}"#), (.dismiss(from: "a"), #"{"dismiss":{"from":"a"}}"#),
      (.push(.init(id: "a", title: "A")), #"{"push":{"screen":{"id":"a","title":"A"}}}"#),
    ]
    for (operation, json) in written { #expect(operation.json == json) }
  }

  @Test func `a feature of the library has the name of the protocol`() {
    let features: [NavigationFeature] = [
      .stackEdits, .onDuplicate, .canPop, .visibleGuard, .dismissals, .lifecycleEvents, .results,
      .animations, .backMenu, .actors, .dryRun, .heads, .trace, .history, .shards,
    ]
    #expect(features.map(\.rawValue) == Feature.allCases.map(\.rawValue))
  }

  @Test func `a guard has the member visible only on request`() throws {
    var rig = try HubRig.kiosk()
    let state = try rig.state
    for guards in [.top(of: state), .stack(of: state), .revision(of: state)] as [NavigationGuard] {
      let error = try rig.refusal(of: [.popTo("gone")], guardedBy: guards)
      #expect(error.code.rawValue == "unknown-screen")
    }
    let seen = state.visible?.id
    try rig.perform([.pop()], guardedBy: .top(of: state).and(visible: seen))
    let error = try rig.refusal(
      of: [.popTo("home")], guardedBy: .life(of: state).and(visible: "zoo"))
    #expect(error.code == .desync && error.reason == .visible)
  }
}
