@testable import NavigationCore
@testable import NavigationHub
import Testing

/// That replay repeats what `perform` did is a law of every message in these tests; here is what it
/// refuses.
@Suite struct ReplayTests {
  @Test func `a change that skips a revision does not fit`() throws {
    var controller = try Nav("A").controller
    for number in [9, 10, 12] as [UInt64] {
      #expect(throws: StoredDataError.self) {
        try controller.replay(RecordedChange(revision: Revision(number)))
      }
    }
    try controller.replay(RecordedChange(revision: Revision(11)))
    #expect(controller.revision == Revision(11))
  }

  @Test func `a splice of another stack does not fit`() throws {
    let splices = [
      RecordedSplice(at: 1, removed: ["C"], inserted: []),
      RecordedSplice(at: 1, removed: ["B", "C"], inserted: []),
      RecordedSplice(at: 3, removed: [], inserted: []),
      RecordedSplice(at: -1, removed: [], inserted: []),
    ]
    for splice in splices {
      var controller = try Nav("A", "B").controller
      var change = RecordedChange(revision: Revision(11))
      change.splices = [splice]
      #expect(throws: StoredDataError.self) { try controller.replay(change) }
    }
  }

  @Test func `an edit of a screen that is not on the stack does not fit`() throws {
    var controller = try Nav("A", detached: ["D"]).controller
    var change = RecordedChange(revision: Revision(11))
    change.changedScreens = [Screen(id: "D", version: Revision(11))]
    #expect(throws: StoredDataError.self) { try controller.replay(change) }
  }

  @Test func `several splices of one revision apply in order`() throws {
    var controller = try Nav("A", "B").controller
    var change = RecordedChange(revision: Revision(11))
    let new = Screen(id: "C", version: Revision(11))
    change.splices = [
      RecordedSplice(at: 0, removed: ["A"], inserted: []),
      RecordedSplice(at: 1, removed: [], inserted: [new]),
    ]
    try controller.replay(change)
    #expect(controller.stack.map(\.id) == ["B", "C"])
    #expect(controller.violatedInvariants() == [])
  }
}
