@testable import NavigationCore
@testable import NavigationHub
import Testing

func json(_ text: String) -> OpaqueJSON { OpaqueJSON(validated: Array(text.utf8)) }

/// A controller of this depth whose screens are called A, B and so on; attached, or made with what a
/// test sets.
func state(
  _ depth: Int = 1, _ set: (inout NavigationController) -> Void = { _ in }
) -> NavigationController {
  var controller = NavigationController(revision: Revision(1))
  for name in ["A", "B", "C", "D", "E"].prefix(depth) {
    guard let id = ScreenID(name) else { preconditionFailure("not an id") }
    controller.stack.append(Screen(id: id, version: Revision(1)))
  }
  controller.isAttached = depth > 0
  set(&controller)
  return controller
}

extension NavigationController {
  /// The details of the top screen, to be set.
  var topDetails: ScreenDetails {
    get { top?.details ?? ScreenDetails() }
    set { stack[stack.count - 1].details = newValue }
  }

  /// The bar's own look, to be set.
  var look: BarLook {
    get { bar.content.look }
    set { bar.content.look = newValue }
  }
}

extension ResolvedBar {
  /// One left position.
  enum LeftSlot: Hashable {
    case back(BackSlot)
    case button(ButtonSlot)
  }

  /// The left positions, left-most first.
  var left: [LeftSlot] {
    [backButton].compactMap(\.self).map { LeftSlot.back($0) }
      + leftItems.map { LeftSlot.button(shown($0)) }
  }

  /// The right positions in logical order: index 0 is right-most.
  var right: [ButtonSlot] { rightItems.map(shown) }

  /// What the bar's properties come to; nil if an appearance object is used.
  var properties: SurfaceProperties? {
    guard case .properties(let properties) = surface else { return nil }
    return properties
  }

  /// The appearance object that is used.
  var appearance: AppearanceChoice? {
    guard case .appearance(let choice) = surface else { return nil }
    return choice
  }
}

extension ResolvedBar.BackSlot {
  /// The texts to try in this order; the last resort, no text, is not listed.
  var candidates: [String] { [preferredText, genericText].compactMap(\.self) }
}
