// Delegates, leases, and the division of a cluster.

extension ClientMessageReader {
  func delegate() throws(ReadFailure) -> DelegateRequest {
    let (id, nav) = (try requiredID(), try nav())
    guard let words = member("roles").flatMap({ tape.strings($0) }) else {
      throw ReadFailure("roles is a list of texts")
    }
    var roles: Set<DelegateRole> = []
    for word in words {
      guard let role = DelegateRole(rawValue: word) else {
        let names = DelegateRole.allCases.map(\.rawValue).joined(separator: ", ")
        throw ReadFailure("a role is one of \(names)")
      }
      roles.insert(role)
    }
    var request = DelegateRequest(id: id, nav: nav, roles: roles, orientations: nil)
    guard roles.contains(.orientation) else { return request }
    guard let at = member("orientations"), tape.kind(at) == .object else {
      throw ReadFailure("the role orientation needs orientations {supported, preferred}")
    }
    request.orientations = try RecordReader().delegateOrientations(tape, at)
    return request
  }

  func answer() throws(ReadFailure) -> ClientMessage {
    let ask = try required("ask")
    guard let value = tape.member("value", of: tape.root) else { return .answer(ask: ask, .none) }
    if let verdict = tape.bool(value) { return .answer(ask: ask, .verdict(verdict)) }
    func text(_ name: String) -> String? {
      tape.member(name, of: value).flatMap { tape.string($0) }
    }
    if let animator = text("animator") {
      let duration = tape.member("duration", of: value).flatMap { tape.integer($0) }
      return .answer(ask: ask, .animator(animator, duration: duration))
    }
    if let driver = text("driver") { return .answer(ask: ask, .driver(driver)) }
    return .answer(ask: ask, .none)
  }

  func lease() throws(ReadFailure) -> LeaseRequest {
    let (id, nav, flag) = (try requiredID(), try nav(), RecordReader().bool)
    guard let takes = try value("take", flag) else { throw ReadFailure("take is true or false") }
    let isForced = try value("force", flag) ?? false
    return LeaseRequest(id: id, nav: nav, wish: !takes ? .release : isForced ? .force : .take)
  }

  func cluster() throws(ReadFailure) -> ClusterRequest {
    let (id, reader) = (try requiredID(), RecordReader())
    if let member = try value("drain", reader.string) {
      return ClusterRequest(id: id, wish: .drain(member, on: try value("on", reader.bool) ?? true))
    }
    guard let place = member("move"), let target = try value("to", reader.string) else {
      throw ReadFailure("cluster has move and to, or drain, the name of a member")
    }
    if let shard = tape.integer(place) {
      return ClusterRequest(id: id, wish: .move(Int(clamping: shard), to: target))
    }
    return ClusterRequest(id: id, wish: .moveNav(try reader.nav(tape, place, "move"), to: target))
  }
}
