@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct SetStackTests {
  @Test func `C-059 the same stack again changes nothing`() throws {
    var nav = try Nav("A", "B", "C")
    let output = try nav.runsWithoutEffect(.setStack("A", "B", "C"))
    #expect(output == .replaced(popped: [], ids: ["A", "B", "C"]))
  }

  @Test func `C-061 C-065 a new top that was below comes back`() throws {
    for animated in [true, false] {
      var nav = try Nav("A", "B", "C")
      try nav.run(.setStack("A"), animated: animated)
      #expect(nav.commit?.topRelation == .back)
      let events = animated ? try nav.story() : nav.events
      #expect(
        events == [
          .willHide("C", animated: animated), .willShow("A", animated: animated),
          .didHide("C", animated: animated), .didShow("A", animated: animated),
        ])
    }
  }

  @Test func `the order of the new stack does not matter to the relation`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.run(.setStack("C", "A"), animated: true)
    #expect(nav.commit?.topRelation == .back)
    #expect(nav.running?.kind == .pop)
    #expect(
      try nav.story() == [
        .willHide("C", animated: true), .willShow("A", animated: true),
        .didHide("C", animated: true), .didShow("A", animated: true),
      ])
    #expect(nav.detachedKeys == [.screen("B")])
  }

  @Test func `C-063 a new top is pushed and the screens below it come silently`() throws {
    var nav = try Nav("A", detached: ["X", "Y"])
    try nav.run(.setStack("A", "X", "Y"), animated: true)
    #expect(nav.commit?.topRelation == .new)
    #expect(nav.running?.kind == .push)
    #expect(nav.commit?.splice == Splice(at: 1, removed: [], insertedCount: 2))
    #expect(
      try nav.story() == [
        .willHide("A", animated: true), .willShow("Y", animated: true),
        .didHide("A", animated: true), .didShow("Y", animated: true),
      ])
  }

  @Test func `C-066 an attached controller keeps a root, a detached one may be emptied`() throws {
    var nav = try Nav("A")
    nav.refuses(.setStack(), with: .rootRequired)
    try nav.run(.detach)
    #expect(try nav.run(.setStack()) == .replaced(popped: ["A"], ids: []))
    #expect(nav.commit?.topRelation == .empty)
  }

  @Test func `C-068 the screens of a stack are distinct`() throws {
    var nav = try Nav("A", detached: ["B", "C"])
    nav.refuses(.setStack("B", "C", "B"), with: .duplicateInSet("B"))
    nav.refuses(.setStack([.new("N"), .new("N")]), with: .duplicateInSet("N"))
    nav.refuses(.setStack([.id("B"), .new("B")]), with: .duplicateInSet("B"))
  }

  @Test func `a record in place of a screen on the stack is a duplicate`() throws {
    var nav = try Nav("A", "B")
    nav.refuses(.setStack([.id("A"), .new("B")]), with: .duplicateScreen("B"))
  }

  @Test func `C-069 one forbidden kind refuses the whole replacement`() throws {
    var nav = try Nav("A")
    let tabBar = ScreenArgument.record(ScreenRecord(id: "T", kind: .tabBar))
    nav.refuses(.setStack([.id("A"), tabBar]), with: .forbiddenKind("T", .tabBar))
    nav.refuses(.setStack("A", "Z"), with: .unknownScreen("Z"))
  }

  @Test func `a refusal after screens were moved puts everything back`() throws {
    var nav = try Nav("A", "B", detached: ["D"])
    let bad = ScreenRecord(id: "N", item: [.leftItems([.id("nope")])])
    nav.refuses(.setStack([.id("D"), .id("B"), .record(bad)]), with: .unknownButton("nope"))
  }

  @Test func `new screens and detached ones stand beside kept ones`() throws {
    var nav = try Nav("A", "B", detached: ["D"])
    let output = try nav.run(.setStack([.id("D"), .id("B"), .new("N"), .record(ScreenRecord())]))
    #expect(output == .replaced(popped: ["A"], ids: ["D", "B", "N", "s11.1"]))
    #expect(nav.ids == ["D", "B", "N", "s11.1"])
  }
}
