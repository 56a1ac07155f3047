import NavigationCore

/// A queue that serves owners fairly: the next element is one of the owner that was charged least.
///
/// Laws:
/// - The elements of an owner leave in the order in which they came.
/// - While two owners wait, their charges differ by at most the cost of one element.
/// - An owner that begins to wait has no claim from the time before; at most one element of each
///   other owner goes first.
package struct FairQueue<Owner: Hashable & Comparable & Sendable, Element: Sendable>: Sendable {
  private struct Lane {
    /// The waiting elements, with the size that the caller gave each, in a unit of its own.
    var elements: ArraySlice<(element: Element, size: Int)> = []
    /// The sum of their sizes.
    var size = 0
    var charged: Int
    /// The number of elements that left and are not charged yet; each counts as `lastCost` until
    /// then.
    var unchargedCount = 0
    var lastCost = 1

    var expectedCharge: Int { charged + unchargedCount * lastCost }
  }

  private var lanes: [Owner: Lane] = [:]
  /// The charge of the owner whose element left last; a new owner begins with it.
  private var lastCharge = 0
  package private(set) var count = 0

  package init() {}

  /// The sum of the sizes of an owner's waiting elements.
  package func size(of owner: Owner) -> Int { lanes[owner]?.size ?? 0 }

  /// The cost of the owner's last charged element, at least 1.
  package func expectedCost(of owner: Owner) -> Int { lanes[owner]?.lastCost ?? 1 }

  /// The waiting elements of an owner with their sizes, the first one first.
  package func elements(of owner: Owner) -> ArraySlice<(element: Element, size: Int)> {
    lanes[owner]?.elements ?? []
  }

  package mutating func append(_ element: Element, of owner: Owner, size: Int = 1) {
    insert([(element, size)], of: owner)
  }

  /// Puts the newest removed elements of an owner back to the front, uncharged.
  package mutating func putBack(_ elements: [(element: Element, size: Int)], of owner: Owner) {
    insert(elements, of: owner, isFirst: true)
    lanes[owner]?.unchargedCount = 0
  }

  private mutating func insert(
    _ new: [(element: Element, size: Int)], of owner: Owner, isFirst: Bool = false
  ) {
    if count == 0 { lanes = lanes.filter { $0.value.expectedCharge > lastCharge } }
    var lane = lanes.removeValue(forKey: owner) ?? Lane(charged: lastCharge)
    if lane.elements.isEmpty { lane.charged = max(lane.charged, lastCharge) }
    lane.elements.insert(
      contentsOf: new, at: isFirst ? lane.elements.startIndex : lane.elements.endIndex)
    lane.size += new.reduce(0) { $0 + $1.size }
    lanes[owner] = lane
    count += new.count
  }

  /// Removes and returns the next element; O(owners).
  package mutating func next() -> (owner: Owner, element: Element)? {
    let waiting = lanes.lazy.filter { !$0.value.elements.isEmpty }
    guard count > 0,
      let (owner, lane) = waiting.min(by: {
        ($0.value.expectedCharge, $0.key) < ($1.value.expectedCharge, $1.key)
      }), let first = lanes[owner]?.elements.popFirst()
    else { return nil }
    if lane.elements.count == 1 { lanes[owner]?.elements = [] }
    lanes[owner]?.size -= first.size
    lanes[owner]?.unchargedCount += 1
    lastCharge = max(lastCharge, lane.charged)
    count -= 1
    return (owner, first.element)
  }

  /// Charges an owner with the cost of one of its elements, which has left.
  package mutating func charge(_ owner: Owner, _ cost: Int) {
    guard var lane = lanes.removeValue(forKey: owner) else { return }
    lane.charged += cost
    (lane.unchargedCount, lane.lastCost) = (max(lane.unchargedCount - 1, 0), max(cost, 1))
    lanes[owner] = lane
  }

  /// The owner of an element that matches; O(count).
  package func owner(where matches: (Element) -> Bool) -> Owner? {
    lanes.first { $0.value.elements.contains { matches($0.element) } }?.key
  }

  package mutating func remove(where matches: (Element) -> Bool) {
    for (owner, lane) in lanes {
      let left = lane.elements.filter { !matches($0.element) }
      count -= lane.elements.count - left.count
      lanes[owner]?.elements = ArraySlice(left)
      lanes[owner]?.size = left.reduce(0) { $0 + $1.size }
    }
  }
}
