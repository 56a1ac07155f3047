@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Saving and restoring, for any stack, by C-321 to C-325.
@Suite struct RestorationLawTests {
  private static let words: [String?] = [nil, "", "a", "b", "a"]

  /// A nav with screens of which some have an identifier of their own.
  private static func nav(_ random: inout Seeded) throws -> Nav {
    var nav = Nav(NavigationController(revision: Revision(1)))
    for place in 0..<1 + random.below(7) {
      let id = try #require(ScreenID("\(random.pick(["p", "q"]))\(place)"))
      let edits: [ScreenEdit] = [
        .title("title \(place)"), .set(\.restorationID, random.pick(words)), .route("r/\(place)"),
      ]
      try nav.run(.push(ScreenRecord(id: id, edits: edits)))
    }
    try nav.run(.attach, .configure([.set(\.restorationID, "nav")]))
    return nav
  }

  /// What a client would send for the screens that were saved.
  private static func entries(_ saved: [(path: String, screen: Screen)]) -> [RestorationEntry] {
    saved.map { path, screen in
      let edits: [ScreenEdit] = [
        .title(screen.title), .route(screen.route),
        .set(\.restorationID, screen.details.restorationID),
      ]
      return RestorationEntry(path: path, record: ScreenRecord(id: screen.id, edits: edits))
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `C-322 C-323 what is saved has an identifier, in order, each path once`(seed: UInt64) throws
  {
    var random = Seeded(seed: seed)
    for _ in 0..<40 {
      let nav = try Self.nav(&random)
      let saved = try #require(nav.controller.restorableScreens)
      let named = nav.controller.stack.filter { ($0.details.restorationID ?? "").isEmpty == false }
      #expect(saved.map(\.screen) == named)
      for (place, entry) in saved.enumerated() {
        let word = entry.screen.details.restorationID ?? ""
        let below = saved[..<place].filter { $0.screen.details.restorationID == word }.count
        #expect(entry.path == "nav/\(word)#\(below)")
      }
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `C-325 what was saved comes back, here as it is now and elsewhere as it was`(
    seed: UInt64
  ) throws {
    var random = Seeded(seed: seed)
    for _ in 0..<40 {
      var nav = try Self.nav(&random)
      let saved = try #require(nav.controller.restorableScreens)
      let entries = Self.entries(saved)
      guard let root = saved.first else {
        nav.refuses(.restore([], root: nil), with: .rootRequired)
        continue
      }
      let ids = saved.map(\.screen.id)
      // A screen that is known stays as it is, whatever the payload says of it.
      try nav.run(.title(root.screen.id, "now"))
      let output = try nav.run(.restore(entries, root: nil), animated: true)
      #expect(output == .restored(ids: ids, skipped: []))
      #expect(nav.controller.stack.map(\.id) == ids && nav.running == nil)
      #expect(nav.controller.stack.first?.title == "now")
      // A nav that knows none of them makes them as they were saved.
      var other = try Nav("other")
      try other.run(.configure([.set(\.restorationID, "nav")]))
      try other.run(.restore(entries, root: .new("never")), animated: true)
      let again = try #require(other.controller.restorableScreens)
      #expect(again.map(\.path) == saved.map(\.path))
      #expect(
        zip(again, saved).allSatisfy { $0.screen.hasSameContent(as: $1.screen) })
      #expect(other.controller.stack.count == saved.count && other.running == nil)
      #expect(other.controller.screen("never") == nil)
    }
  }
}
