import NavigationCore

/// A list that holds its first element in place, for lists that mostly have one.
///
/// An array of one element costs an allocation, about 280 instructions with its release.
package struct ShortList<Element> {
  // Law: `otherElements` is empty unless there is a first element.
  private var firstElement: Element?
  private var otherElements: [Element] = []

  package init(_ elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  package mutating func append(_ element: Element) {
    if firstElement == nil {
      assert(otherElements.isEmpty)
      firstElement = element
    } else {
      otherElements.append(element)
    }
  }
}

extension ShortList: RandomAccessCollection {
  package var startIndex: Int { 0 }

  package var endIndex: Int { firstElement == nil ? 0 : otherElements.count + 1 }

  /// An element by its index, which must be in `startIndex..<endIndex`.
  package subscript(_ index: Int) -> Element {
    guard index == 0 else { return otherElements[index - 1] }
    guard let firstElement else { preconditionFailure("an empty list has no first element") }
    return firstElement
  }
}

extension ShortList: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ShortList: Equatable where Element: Equatable {}
extension ShortList: Hashable where Element: Hashable {}
extension ShortList: Sendable where Element: Sendable {}
