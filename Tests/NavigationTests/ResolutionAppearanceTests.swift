@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ResolutionAppearanceTests {
  /// Where an object may be set.
  struct Place: Hashable, CustomStringConvertible {
    var slot: AppearanceSlot
    var isOfItem: Bool
    var isTransparent = false
    var description: String {
      "\(isOfItem ? "top" : "bar").\(slot)\(isTransparent ? "*" : "")"
    }
  }

  static let all = [true, false].flatMap { isOfItem in
    AppearanceSlot.allCases.map { Place(slot: $0, isOfItem: isOfItem) }
  }

  private static func both(
    _ slot: AppearanceSlot, isTransparent: Bool = false
  ) -> [Place] {
    [true, false].map { Place(slot: slot, isOfItem: $0, isTransparent: isTransparent) }
  }

  /// The lookup orders of the table, by height class and scroll edge.
  static let orders: [(isCompact: Bool, isAtEdge: Bool, order: [Place])] = [
    (false, false, both(.standard)),
    (true, false, both(.compact) + both(.standard)),
    (false, true, both(.scrollEdge) + both(.standard, isTransparent: true)),
    (
      true, true,
      both(.compactScrollEdge) + both(.scrollEdge) + both(.compact)
        + both(.standard, isTransparent: true)
    ),
  ]

  private func put(_ place: Place, _ nav: inout NavigationController) {
    var set = place.isOfItem ? nav.topDetails.item.appearance : nav.bar.content.appearance
    set[place.slot] = json("{}")
    if place.isOfItem {
      nav.topDetails.item.appearance = set
    } else {
      nav.bar.content.appearance = set
    }
  }

  private func found(_ nav: NavigationController, isStandalone: Bool = false) -> Place? {
    var nav = nav
    nav.isStandalone = isStandalone
    return nav.resolvedBar().appearance.map {
      Place(slot: $0.slot, isOfItem: $0.isOfItem, isTransparent: $0.isTransparent)
    }
  }

  @Test(arguments: orders)
  func `C-244…C-249 C-263 2.12 the first object in the order is used`(
    row: (isCompact: Bool, isAtEdge: Bool, order: [Place])
  ) {
    var nav = state { nav in
      nav.environment.content.isVerticallyCompact = row.isCompact
      nav.environment.content.isAtScrollEdge = row.isAtEdge
    }
    for place in Self.all {
      let isLooked = row.order.contains { $0.slot == place.slot && $0.isOfItem == place.isOfItem }
      if !isLooked { put(place, &nav) }
    }
    #expect(found(nav) == nil)
    #expect(nav.resolvedBar().properties != nil)
    for place in row.order.reversed() {
      put(place, &nav)
      #expect(found(nav) == place)
    }
  }

  @Test(arguments: [(14, false, false), (14, true, true), (15, false, true), (15, true, true)])
  func `C-250 before iOS 15 only a large title has a scroll edge`(
    os: UInt64, isLarge: Bool, isAtEdge: Bool
  ) {
    var nav = state { nav in
      nav.environment.content.isAtScrollEdge = true
      nav.settings.content.profile.iOS = os
      nav.bar.content.prefersLargeTitles = isLarge
    }
    put(Place(slot: .scrollEdge, isOfItem: false), &nav)
    put(Place(slot: .standard, isOfItem: false), &nav)
    #expect(found(nav)?.slot == (isAtEdge ? .scrollEdge : .standard))
    nav.environment.content.isVerticallyCompact = true
    #expect(found(nav)?.slot == (os >= 15 ? .scrollEdge : .standard))
  }

  @Test func `a bar alone has no scroll edge`() {
    var nav = state { $0.environment.content.isAtScrollEdge = true }
    put(Place(slot: .scrollEdge, isOfItem: false), &nav)
    #expect(found(nav, isStandalone: true) == nil)
    put(Place(slot: .standard, isOfItem: true), &nav)
    #expect(found(nav, isStandalone: true) == Place(slot: .standard, isOfItem: true))
  }

  @Test func `C-264 an item's object customises that item alone`() {
    var nav = state()
    put(Place(slot: .standard, isOfItem: false), &nav)
    put(Place(slot: .standard, isOfItem: true), &nav)
    #expect(found(nav)?.isOfItem == true)
    nav.stack.append(Screen(id: "Z", version: Revision(1)))
    #expect(found(nav)?.isOfItem == false)
  }

  @Test func `an object is used in whole, the bar's properties are ignored`() {
    var nav = state(2) { nav in
      let image = ImageReference(ref: "i")
      nav.look.backgroundImages[BackgroundSlot(.any, .default)] = image
      nav.look.backIndicatorImage = image
      nav.look.backIndicatorMask = image
      nav.bar.content.tintColor = "green"
    }
    #expect(!nav.resolvedBar().isTranslucent)
    put(Place(slot: .standard, isOfItem: false), &nav)
    let bar = nav.resolvedBar()
    #expect(bar.properties == nil)
    #expect(bar.backButton?.indicator == .default)
    #expect(bar.isTranslucent, "there is no image to be opaque")
    #expect(bar.tintColor == "green", "the buttons' colour is no part of an object")
    nav.look.translucent = false
    #expect(!nav.resolvedBar().isTranslucent)
  }
}
