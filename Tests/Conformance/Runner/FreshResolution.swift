import NavigationCore
import NavigationHub

/// What the bar shows, computed anew from nothing but a state.
package enum FreshResolution {
  /// What is wrong with `resolved` in a state; nil if it is what the records give, octet for octet.
  ///
  /// A hub that has never seen the nav takes the state as if it had been created so.
  package static func difference(in state: JSONTree) -> String? {
    // A hub without the nav of the looks of all bars would take them back.
    guard state.at("settings.proxy") == nil else { return nil }
    let told = state["resolved"]?.text ?? "nothing"
    do {
      let computed = try resolve(state)?.text ?? "nothing"
      return computed == told ? nil : "resolved is \(told), the records give \(computed)"
    } catch {
      return "no hub takes the state: \(error)"
    }
  }

  private static func resolve(_ state: JSONTree) throws -> JSONTree? {
    var members = state.members.filter { $0.name != "resolved" }
    let ids = state["screens"]?.array?.compactMap { $0["id"] } ?? []
    members.append(JSONTree.Member(name: "depth", value: .number("\(ids.count)")))
    if let top = ids.last { members.append(JSONTree.Member(name: "top", value: top)) }
    let missing: [(name: String, value: JSONTree)] = [
      ("nav", .string("fresh")), ("owner", .string("nobody")), ("detached", .array([])),
    ]
    for (name, value) in missing where state[name] == nil {
      members.append(JSONTree.Member(name: name, value: value))
    }
    // A journal's state begins with what tells the nav.
    let head = ["nav", "kind", "epoch", "owner", "depth", "top"]
    members =
      head.compactMap { name in members.first { $0.name == name } }
      + members.filter { !head.contains($0.name) }
    let nav = state["nav"]?.text ?? #""fresh""#
    let now = Instant(boot: 1, wall: 1)
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    let row = JournalRow(
      RowHeader(
        sequence: 1, nav: 1, revision: UInt64(state["rev"]?.integer ?? 1), previous: 0, time: 1,
        kind: .created, depth: ids.count, top: ids.last?.string.flatMap { ScreenID($0) }),
      body: Array(JSONTree.object(members).text.utf8))
    try hub.index(row.header, body: row.body.span, at: now)
    try hub.revive(ReloadRequest(nav: 1, newestRow: 1), snapshot: nil, rows: [row])
    var reader = hub.makeReader()
    let get = HubEvent(
      frame: ClientVerb.get.frame.span, body: #"{"id":1,"nav":\#(nav),"what":"state"}"#.utf8.span,
      from: ConnectionID(1), .local(user: 0, group: 0, process: 1), reader: &reader)
    hub.handle(get, at: now)
    _ = hub.takeRecords()
    guard let answer = hub.committed(at: now).messages.first else { return nil }
    let json = try JSONTree(reading: answer.body)
    return json.at("value.resolved") ?? json
  }
}
