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

  @Test(arguments: [
    (["a/:b", "a/c"], "never matches"), (["a/c", "a/:b"], nil), (["/a/", "a"], "never matches"),
    ([":a/c", "b/:d"], "ambiguous"), (["b/:d", "b/c?x=1"], "never matches"),
    (["a?x=1", "a?y=1"], "ambiguous"), (["a?x=1", "a?x=2"], nil), (["a?x=1", "a"], nil),
    (["a?x=:x", "a"], "never matches"), (["a#b", "a#c"], nil), (["a#b", "a#:c"], nil),
    (["a#:c", "a#b"], "never matches"), (["a?x=1", "a?x=1#b"], "never matches"),
    (["a?x=1", "a#b"], "ambiguous"), (["a/b", "a/b/c"], nil),
  ])
  func `a template is hidden, ambiguous or neither`(matches: [String], fault: String?) throws {
    let routes = matches.map { #"{"match":"\#($0)"}"# }.joined(separator: ",")
    let faults = RoutesCommand.faults(try JSONValue(Array("[\(routes)]".utf8)).elements)
    #expect(faults[0] == nil)
    #expect(faults[1].map { $0.contains(fault ?? "!") } == fault.map { _ in true })
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
