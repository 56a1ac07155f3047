@testable import navctl
import NavigationCore
import Testing

@Suite struct ClusterMembersTests {
  private func value(_ text: String) throws -> JSONValue { try JSONValue(Array(text.utf8)) }

  @Test func `the other daemons with shards are asked, and not those without`() throws {
    let members = try #require(
      ClusterMembers(
        value(
          """
          {"member":"a","shards":1024,"members":[
            {"name":"a","endpoint":"tcp://a","owned":512},
            {"name":"b","endpoint":"tcp://b","key":"k","web":"http://b","owned":512},
            {"name":"c","endpoint":"tcp://c","owned":0},{"name":"d","owned":1}]}
          """)))
    #expect(members.ownName == "a" && members.members.count == 4)
    #expect(members.others.map(\.name) == ["b", "d"])
    #expect(
      members.others[0].address
        == DaemonAddress(endpoint: "tcp://b", key: "k", web: "http://b"))
    #expect(members.others[1].address == nil)
    #expect(try ClusterMembers(value("{}")) == nil)
  }

  @Test func `lists of navs are joined by name, the later one wins`() throws {
    let lists = [
      try value(#"[{"id":"c"},{"id":"a","owner":"x"}]"#).elements,
      try value(#"[{"id":"b"},{"id":"a","owner":"y"}]"#).elements,
    ]
    let joined = ClusterMembers.joinNavs(lists)
    #expect(joined.compactMap { $0["id"]?.string } == ["a", "b", "c"])
    #expect(joined[0]["owner"]?.string == "y")
  }
}
