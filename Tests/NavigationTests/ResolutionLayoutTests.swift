@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ResolutionLayoutTests {
  @Test(
    arguments: [
      (true, false, false, Edges.all, 0), (false, false, false, Edges.all, 64),
      (true, true, false, Edges.all, 0), (false, true, false, Edges.all, 0),
      (false, false, true, Edges.all, 0), (false, false, true, Edges([.left]), 64),
      (true, false, false, Edges([.bottom]), 64), (true, true, false, Edges([.bottom]), 0),
    ] as [(Bool, Bool, Bool, Edges, UInt64)])
  func `C-240 content begins below an opaque bar, or one it does not extend under`(
    isTranslucent: Bool, isHidden: Bool, extendsUnderOpaque: Bool, edges: Edges, top: UInt64
  ) {
    let nav = state { nav in
      nav.look.translucent = isTranslucent
      nav.bar.content.isHidden = isHidden
      nav.topDetails.extendsUnderOpaqueBars = extendsUnderOpaque
      nav.topDetails.edges = edges
    }
    #expect(nav.resolvedBar().contentTop == top)
  }

  @Test func `a full-screen layout extends under the bars that are translucent`() {
    var nav = state()
    #expect(nav.resolvedBar().extendsUnder == nil)
    nav.topDetails.wantsFullScreenLayout = true
    #expect(nav.resolvedBar().extendsUnder == [.status, .navigation, .tool])
    nav.look.translucent = false
    #expect(nav.resolvedBar().extendsUnder == [.status, .tool])
    nav.toolbar.content.translucent = false
    #expect(nav.resolvedBar().extendsUnder == .status)
  }

  @Test func `C-168…C-171 the toolbar has the top screen's items, shown or not`() {
    let button = Button(id: "p", content: ButtonContent([.set(\.title, "p")]))
    var nav = state { $0.topDetails.toolbarItems = [button] }
    #expect(nav.resolvedBar().toolbarItems == [button])
    #expect(!nav.resolvedBar().showsToolbar)
    nav.toolbar.content.isHidden = false
    #expect(nav.resolvedBar().showsToolbar)
    nav.stack.append(Screen(id: "Z", version: Revision(1)))
    #expect(nav.resolvedBar().toolbarItems == [])
    #expect(nav.resolvedBar().showsToolbar)
  }

  @Test func `C-316 C-317 C-318 device and delegate decide the orientations`() {
    var nav = state()
    #expect(nav.resolvedBar().orientations == [.portrait, .landscapeLeft, .landscapeRight])
    nav.environment.content.isPhone = false
    #expect(
      nav.resolvedBar().orientations
        == [.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight])
    nav.environment.content.delegateOrientations = DelegateOrientations(
      supported: [.landscapeRight, .portrait], preferred: nil)
    #expect(nav.resolvedBar().orientations == [.landscapeRight, .portrait])
  }

  @Test func `C-304 a swipe goes back if there is a screen below and it is enabled`() {
    #expect(!state(0).resolvedBar().allowsSwipeBack)
    #expect(!state(1).resolvedBar().allowsSwipeBack)
    var nav = state(2)
    #expect(nav.resolvedBar().allowsSwipeBack)
    nav.settings.content.interactivePop.isFullScreen = true
    #expect(nav.resolvedBar().allowsSwipeBack)
    nav.settings.content.interactivePop.isEnabled = false
    #expect(!nav.resolvedBar().allowsSwipeBack)
  }

  @Test func `C-077 the outermost presented screen is visible, the bar shows the top`() {
    let nav = state(2) { nav in
      for id in ["M", "N"] as [ScreenID] {
        nav.presented.content.chain.append(
          Presented(screen: Screen(id: id, version: Revision(1)), from: nil, style: nil))
      }
    }
    #expect(nav.visible?.id == "N")
    #expect(nav.resolvedBar().visible == "N")
    #expect(nav.resolvedBar().top == "B")
    #expect(nav.resolvedBar().back == "A")
  }

  @Test func `a bar alone has items, but no screens' titles, toolbar or swipe`() {
    let button = Button(id: "p", content: ButtonContent([.set(\.title, "p")]))
    var nav = state(2) { nav in
      for index in 0...1 { nav.stack[index].title = "S" }
      nav.topDetails.toolbarItems = [button]
      nav.topDetails.item.rightItems = [button]
      nav.toolbar.content.isHidden = false
    }
    nav.isStandalone = true
    let bar = nav.resolvedBar()
    #expect(bar.middle == nil)
    #expect(bar.backButton?.source == .generic)
    #expect(bar.rightItems == [button])
    #expect(bar.toolbarItems == [] && !bar.showsToolbar && !bar.allowsSwipeBack)
    for index in 0...1 { nav.stack[index].details.item.title = "I\(index)" }
    #expect(nav.resolvedBar().middle == .title("I1"))
    #expect(nav.resolvedBar().backButton?.text == "I0")
  }
}
