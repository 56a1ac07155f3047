/// Places by the numbers of navs, which are given one after the other and never again.
///
/// A look-up reads two words and hashes nothing: a start makes two for each row of the journal.
package struct NumberIndex: Sendable {
  private static let pageBits: UInt64 = 10
  private static let pageSize = 1 << Int(pageBits)
  /// Numbers that no device comes to have pages like the others; they could be far apart.
  private static let most: UInt64 = 1 << 32

  /// Where the places of 1024 numbers each begin, or -1 where none is there.
  private var pages: [Int] = []
  /// How many there are on each page.
  private var counts: [Int] = []
  /// The places plus one, 0 for none.
  private var places: [Int32] = []
  /// Pages that have become empty.
  private var free: [Int] = []
  private var others: [UInt64: Int] = [:]

  /// How many numbers are there.
  package private(set) var count = 0

  /// Makes an empty index.
  package init() {}

  /// Whether no number is there.
  package var isEmpty: Bool { count == 0 }

  /// The place of a number, from 0 to 2³¹ − 2; nil if it is not there.
  package subscript(number: UInt64) -> Int? {
    get {
      guard number < Self.most else { return others[number] }
      let page = Int(number >> Self.pageBits)
      guard page < pages.count, pages[page] >= 0 else { return nil }
      let place = places[pages[page] + Self.index(number)]
      return place > 0 ? Int(place) - 1 : nil
    }
    set {
      let change = (newValue == nil ? 0 : 1) - (self[number] == nil ? 0 : 1)
      count += change
      guard number < Self.most else { return others[number] = newValue }
      let page = Int(number >> Self.pageBits)
      guard newValue != nil || page < pages.count && pages[page] >= 0 else { return }
      if page >= pages.count {
        counts += Array(repeating: 0, count: page + 1 - pages.count)
        pages += Array(repeating: -1, count: page + 1 - pages.count)
      }
      if pages[page] < 0 { pages[page] = addPage() }
      places[pages[page] + Self.index(number)] = newValue.map { Int32($0 + 1) } ?? 0
      counts[page] += change
      guard counts[page] == 0 else { return }
      free.append(pages[page])
      pages[page] = -1
    }
  }

  private static func index(_ number: UInt64) -> Int { Int(number & UInt64(pageSize - 1)) }

  /// Makes a page on which there is nothing.
  private mutating func addPage() -> Int {
    if let page = free.popLast() { return page }
    places += Array(repeating: 0, count: Self.pageSize)
    return places.count - Self.pageSize
  }
}
