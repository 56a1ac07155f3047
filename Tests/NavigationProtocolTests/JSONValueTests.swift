import NavigationCore
import Testing

@Suite struct JSONValueTests {
  @Test(
    arguments: [
      ("a.b", 1), ("c.1.d", 2), ("c.0", 7), ("a", nil), ("a.x", nil), ("a.b.x", nil), ("c.2", nil),
      ("c.-1", nil), ("c.d", nil), ("n.b", nil),
    ] as [(String, UInt64?)])
  func `a path leads through names and places`(path: String, number: UInt64?) throws {
    let value = try JSONValue(Array(#"{"a":{"b":1,"t":"x"},"c":[7,{"d":2}],"n":null}"#.utf8))
    #expect(value.at(path)?.integer == number)
    #expect(value.number(path) == number ?? 0)
    #expect(value.text("a.t") == "x" && value.text(path) == "" && !value.flag(path))
    #expect(value.at("")?.bytes == value.bytes)
  }
}
