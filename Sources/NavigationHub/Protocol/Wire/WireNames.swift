import NavigationCore

// The words on the wire for the cases of the model's enumerations.

extension ScreenKind: WireNamed { package static let words = names }
extension ButtonStyle: WireNamed { package static let words = names }
extension LargeTitleDisplayMode: WireNamed { package static let words = names }
extension BackButtonDisplayMode: WireNamed { package static let words = names }
extension SearchBarPlacement: WireNamed { package static let words = names }
extension ItemStyle: WireNamed { package static let words = names }
extension TitleAlignment: WireNamed { package static let words = names }
extension Menu.State: WireNamed { package static let words = names }
extension GuardPolicy: WireNamed { package static let words = names }
extension VetoScope: WireNamed { package static let words = names }
extension HidingCause: WireNamed { package static let words = names }
extension AppearanceSlot: WireNamed { package static let words = names }
extension BarStyle: WireNamed { package static let words = names }
extension BarMetrics: WireNamed { package static let words = names }
extension BarPosition: WireNamed { package static let words = names }
extension Orientation: WireNamed { package static let words = names }
extension SwipeDirection: WireNamed { package static let words = names }
extension DuplicatePolicy: WireNamed { package static let words = names }
extension TopRelation: WireNamed { package static let words = names }
extension RunningTransition.Kind: WireNamed { package static let words = names }
extension ResolvedBar.BackSource: WireNamed { package static let words = names }
extension TransitionOutcome: WireNamed { package static let words = names }
extension Animations: WireNamed { package static let words = names }
extension ContentSizeCategory: WireNamed { package static let words = names }

extension AccessibilityMember: WireNamed {
  package static let words = [
    "accessibilityLabel", "accessibilityHint", "accessibilityIdentifier", "language",
  ]
}
