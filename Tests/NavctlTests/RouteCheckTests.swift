@testable import navctl
import NavigationCore
import Testing

@Suite struct RouteCheckTests {
  private static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

  @Test func `a template hides a later one only with the same octets`() throws {
    func faults(_ templates: [String]) throws -> [String?] {
      let routes = templates.map { #"{"match":"\#($0)"}"# }.joined(separator: ",")
      return RoutesCommand.faults(try JSONValue(Array("[\(routes)]".utf8)).elements)
    }
    let same = try faults([Self.composed, Self.composed])
    #expect(same[0] == nil && same[1] != nil)
    let other = try faults([Self.composed, Self.decomposed])
    #expect(other.allSatisfy { $0 == nil })
  }

  @Test func `a case is fulfilled by the same octets alone`() throws {
    let wanted = try RouteCase(#"{"open":"r","stack":["\#(Self.composed)"]}"#)
    func fault(_ id: String) throws -> String? {
      wanted.mismatch([try JSONValue(Array(#"{"id":"\#(id)"}"#.utf8))])
    }
    #expect(try fault(Self.composed) == nil)
    #expect(try fault(Self.decomposed) != nil)
  }
}
