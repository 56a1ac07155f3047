import Conformance
import NavigationCore

extension SessionRun {
  /// What a daemon sends: the members that the line gives, and the usual ones.
  mutating func message(
    _ verb: String, _ words: [String], _ more: JSONTree
  ) throws -> (body: JSONTree, octets: Int?) {
    let known = words.first.flatMap { named[$0] }
    let answers = ["ok", "err", "queued"].contains(verb)
    let nav = more["nav"]?.string ?? (answers ? known?.nav : nil) ?? "kiosk"
    var members = try usual(verb, words, id: known?.id, nav: nav, more)
    if let to = more["to"]?.string {
      let address = Self.address(of: to)
      members += [
        .init(name: "endpoint", value: .string(address.endpoint)),
        .init(name: "key", value: .string(address.key ?? "")),
        .init(name: "web", value: .string(address.web ?? "")),
      ]
    }
    for member in more.members where !["to", "octets", "sum"].contains(member.name) {
      members.removeAll { $0.name == member.name }
      let isNonce = member.value == .string("$nonce")
      members.append(isNonce ? .init(name: "nonce", value: nonce) : member)
    }
    if let sum = more["sum"]?.string, let index = members.firstIndex(where: { $0.name == "dig" }) {
      let digest = members[index].value.string ?? ""
      members[index].value = .string(sum + digest.dropFirst(8))
    }
    return (.object(members), more["octets"]?.integer)
  }

  private mutating func usual(
    _ verb: String, _ words: [String], id: UInt64?, nav: String, _ more: JSONTree
  ) throws -> [JSONTree.Member] {
    let state = navs[nav] ?? Nav()
    let at = #""nav":"\#(nav)","epoch":"\#(state.epoch)","rev":\#(state.revision)"#
    let id = id.map { "\($0)" } ?? "null"
    let text =
      switch verb {
      case "ok": #"{"id":\#(id),\#(at)}"#
      case "err":
        #"{"id":\#(id),"code":"\#(words[1])","retry":"\#(words[2])","effect":"none","msg":"m"}"#
      case "queued": #"{"id":\#(id),"nav":"\#(nav)","pos":1}"#
      case "end": #"{\#(at),"view":"full","why":"\#(words[0])"}"#
      case "latest":
        #"{"nav":"\#(nav)","view":"\#(words[0])","epoch":"\#(state.epoch)","rev":\#(words[1]),"value":null}"#
      case "event": #"{\#(at),"ev":[]}"#
      case "ask":
        #"{"ask":\#(words[0]),\#(at),"within":2000,"q":{"shouldPop":{"screen":"wifi","cause":"api"}}}"#
      case "settled": #"{"ask":\#(words[0]),"outcome":"\#(words[1])"}"#
      case "lost": #"{"nav":"\#(nav)","of":"\#(words[0])","code":"\#(words[1])","msg":"m"}"#
      case "bye": #"{"why":"\#(words[0])"}"#
      case "mark": #"{"t":0,"at":[]}"#
      case "snap": snapshot(nav, words, more)
      case "diff": change(nav, words, more)
      default: "{}"
      }
    return try JSONTree(text).members
  }

  mutating func welcome(_ daemon: String, _ more: JSONTree) throws {
    let boot = String(repeating: "0", count: 14) + "\(daemon.utf8.first ?? 0)"
    let text = #"""
      {"ver":1,"nonce":\#(nonce.text),"boot":"\#(boot)","server":"script","hb":5000,"features":[],
      "you":{},"ops":{"last":0,"seq":[[0,0]]},
      "limits":{"message":65536,"inflight":64,"window":65536}}
      """#
    var members = try JSONTree(text).members
    members.removeAll { more[$0.name] != nil }
    try hand(daemon, "welcome", .object(members + more.members), octets: 100)
  }

  /// The daemons' new state of a nav: `REV SCREEN…`, a screen as `home` or `home@3`.
  private mutating func become(_ nav: String, _ words: [String], _ more: JSONTree) -> Nav {
    var next = navs[nav] ?? Nav()
    next.epoch = more["epoch"]?.string ?? next.epoch
    next.revision = Int(words[0]) ?? 0
    next.screens = words.dropFirst().map { word in
      let parts = word.split(separator: "@")
      return (String(parts[0]), parts.count > 1 ? UInt64(parts[1]) ?? 0 : 1)
    }
    let checksum = Digest.checksum(screens: next.screens, parts: [])
    let chain = UInt64(words[0], radix: 16) ?? 0
    next.digest = Digest(checksum: checksum, chain: chain).text
    navs[nav] = next
    positions["\(nav) \(next.revision) \(next.digest)"] = next.epoch
    return next
  }

  private static func records(_ screens: some Sequence<(id: String, version: UInt64)>) -> String {
    screens.map { #"{"id":"\#($0.id)","ver":\#($0.version)}"# }.joined(separator: ",")
  }

  private mutating func snapshot(_ nav: String, _ words: [String], _ more: JSONTree) -> String {
    let state = become(nav, words, more)
    let (first, end) = (more["i"]?.integer ?? 0, more["end"]?.integer ?? state.screens.count)
    let isLast = end == state.screens.count
    return #"""
      {"nav":"\#(nav)","kind":"controller","epoch":"\#(state.epoch)","rev":\#(state.revision),"i":\#(first),
      "last":\#(isLast),"why":"join","screens":[\#(Self.records(state.screens[first..<end]))]
      \#(isLast ? #","dig":"\#(state.digest)""# : "")}
      """#
  }

  private mutating func change(_ nav: String, _ words: [String], _ more: JSONTree) -> String {
    let old = navs[nav] ?? Nav()
    let new = become(nav, words, more)
    let at = zip(old.screens, new.screens).prefix { $0 == $1 }.map { _ in 0 }.count
    let gone = old.screens[at...].map { "\"\($0.id)\"" }.joined(separator: ",")
    return #"""
      {"nav":"\#(nav)","epoch":"\#(new.epoch)","base":\#(old.revision),"rev":\#(new.revision),"seq":0,
      "cause":"api","ch":[{"at":\#(at),"del":[\#(gone)],"ins":[\#(Self.records(new.screens[at...]))]}],
      "depth":\#(new.screens.count),"dig":"\#(new.digest)"}
      """#
  }
}
