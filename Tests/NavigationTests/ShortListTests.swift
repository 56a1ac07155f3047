@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ShortListTests {
  @Test(arguments: 0..<5)
  func `it holds what an array would hold`(count: Int) {
    let array = (0..<count).map { "\($0)" }
    var list = ShortList<String>()
    for (index, element) in array.enumerated() {
      #expect(list.count == index && list.isEmpty == (index == 0))
      list.append(element)
      #expect(list.last == element && list.first == "0")
    }
    #expect(Array(list) == array)
    #expect(list == ShortList(array) && list.hashValue == ShortList(array).hashValue)
    #expect(list.indices.map { list[$0] } == array)
    #expect(Array(list.reversed()) == array.reversed())
    for first in 0...count { #expect(Array(list[first...]) == Array(array[first...])) }
    for other in 0..<5 where other != count {
      #expect(list != ShortList((0..<other).map { "\($0)" }))
    }
  }

  @Test func `a literal is a list, and a copy does not change with the original`() {
    var list: ShortList = [1, 2]
    let copy = list
    list.append(3)
    #expect(copy == [1, 2] && list == [1, 2, 3])
    #expect(ShortList<Int>() == [])
  }
}
