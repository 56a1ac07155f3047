@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ResolutionHeightTests {
  private func bar(
    prefersLarge: Bool = false, _ modes: [LargeTitleDisplayMode] = [.automatic],
    prompt: String? = nil, isCompact: Bool = false
  ) -> ResolvedBar {
    state(modes.count) { nav in
      nav.bar.content.prefersLargeTitles = prefersLarge
      for (index, mode) in modes.enumerated() {
        nav.stack[index].details.item.largeTitleDisplayMode = mode
      }
      nav.topDetails.item.prompt = prompt
      nav.environment.content.isVerticallyCompact = isCompact
    }.resolvedBar()
  }

  @Test(
    arguments: [
      (false, [.automatic], 44), (false, [.always], 44), (true, [.automatic], 96),
      (true, [.automatic, .automatic], 96), (true, [.never], 44), (true, [.never, .automatic], 44),
      (true, [.never, .always, .automatic], 96), (true, [.always, .never], 44),
      (true, [.never, .automatic, .automatic], 44), (true, [.always], 96),
    ] as [(Bool, [LargeTitleDisplayMode], UInt64)])
  func `C-193…C-202 2.8 only the screens down to the nearest explicit one decide`(
    prefersLarge: Bool, modes: [LargeTitleDisplayMode], height: UInt64
  ) {
    let resolved = bar(prefersLarge: prefersLarge, modes)
    #expect(resolved.height == height)
    #expect(resolved.layoutHeight == height)
    #expect(resolved.isLarge == (height == 96))
  }

  @Test(
    arguments: [
      (nil, false, false, 44, .default), ("", false, false, 44, .default),
      ("hi", false, false, 74, .defaultPrompt), ("hi", true, false, 74, .compactPrompt),
      (nil, true, false, 32, .compact), ("hi", false, true, 126, .defaultPrompt),
      ("hi", true, true, 74, .compactPrompt), (nil, true, true, 32, .compact),
    ] as [(String?, Bool, Bool, UInt64, BarMetrics)])
  func `C-194 C-195 a prompt gives 74 in any orientation, and nothing is large if compact`(
    prompt: String?, isCompact: Bool, prefersLarge: Bool, height: UInt64, metrics: BarMetrics
  ) {
    let resolved = bar(prefersLarge: prefersLarge, prompt: prompt, isCompact: isCompact)
    #expect(resolved.height == height)
    #expect(resolved.metrics == metrics)
  }

  @Test func `the compact height is a setting`() {
    let nav = state { nav in
      nav.environment.content.isVerticallyCompact = true
      nav.settings.content.profile.compactBarHeight = 36
    }
    #expect(nav.resolvedBar().height == 36)
  }

  @Test func `C-177 a hidden bar takes no room, keeps its height and its content`() {
    let nav = state(2) { nav in
      nav.bar.content.isHidden = true
      nav.stack[1].title = "T"
    }
    #expect(nav.resolvedBar().height == 44)
    #expect(nav.resolvedBar().layoutHeight == 0)
    #expect(nav.resolvedBar().middle == .title("T"))
    #expect(nav.resolvedBar().backButton != nil)
  }

  @Test func `an empty stack has a bar of standard height`() {
    let nav = state(0) { $0.bar.content.prefersLargeTitles = true }
    #expect(nav.resolvedBar().height == 44)
    #expect(!nav.resolvedBar().isLarge)
  }

  @Test(arguments: [("44", false), ("44.5", true), ("1e2", true), ("\"90\"", false), ("0", false)])
  func `a view that says it is higher than the bar overflows`(height: String, overflows: Bool) {
    let nav = state { nav in
      nav.topDetails.item.titleView = TitleView(view: json("\"v\""), height: json(height))
    }
    #expect(nav.resolvedBar().titleViewOverflows == overflows)
  }

  @Test func `a view without a height does not overflow`() {
    let nav = state { $0.topDetails.item.titleView = TitleView(view: json("\"v\"")) }
    #expect(!nav.resolvedBar().titleViewOverflows)
  }
}
