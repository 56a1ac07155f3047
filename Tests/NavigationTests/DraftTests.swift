@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct DraftTests {
  private func members(_ notes: RareNotes) -> [String] {
    Mirror(reflecting: notes).children.map { "\($0.label ?? ""): \($0.value)" }
  }

  private func fullNotes() -> RareNotes {
    let notes = RareNotes()
    notes.oldChain = ["A"]
    notes.presentation = (.present, "A", nil)
    notes.exchanged = ["A"]
    notes.direction = ("A", true)
    notes.results = ["A": OpaqueJSON(validated: [0x31])]
    notes.named = ["x": Button(id: "x", content: ButtonContent())]
    notes.touchedButtons = ["x"]
    notes.released = [.screen("B")]
    notes.topOfBarSet = "A"
    notes.tail = [.didPop("B")]
    notes.animation = Animation(animator: "fade", duration: 300)
    notes.beginning = [.didPush("C")]
    notes.ending = [.didPop("C")]
    notes.before = StateBefore(NavigationController(revision: Revision(3)))
    return notes
  }

  @Test func `a copy of the rare notes has every member, and changes alone`() {
    let notes = fullNotes()
    let copy = notes.copy()
    #expect(members(copy) == members(notes))
    for (full, empty) in zip(members(notes), members(RareNotes())) { #expect(full != empty) }
    copy.tail = []
    copy.named["y"] = Button(id: "y", content: ButtonContent())
    #expect(members(notes) == members(fullNotes()))
  }

  @Test func `a copy of a draft has no notes in common with it`() throws {
    var controller = try Nav("A", "B").controller
    var draft = Draft(of: &controller, isAnimated: true)
    let mayBeRare = draft.rare == nil
    #expect(mayBeRare)
    draft.noteRarely().tail = [.didPop("B")]
    draft.assignedScreens = 2
    draft.lower(to: 1, of: controller.stack)
    let copy = Draft(copying: draft)
    draft.noteRarely().tail = []
    let facts = (copy.rare?.tail, copy.assignedScreens, copy.lowest, Array(copy.oldTail))
    #expect(facts == ([.didPop("B")], 2, 1, ["B"]))
    let tail = draft.rare?.tail
    #expect(tail == [])
  }
}
