import NavigationCore

// Delegates, leases, and the division of a cluster.

extension ClientMessageReader {
  func delegate() throws(MessageFailure) -> DelegateRequest {
    let id = try requiredID()
    let nav = try nav(id)
    guard let list = member("roles"), let words = tape.strings(list) else {
      throw MessageFailure(.invalidArgument, id: id, "roles is a list of texts")
    }
    var roles: Set<DelegateRole> = []
    for word in words {
      guard let role = DelegateRole(rawValue: word) else {
        let names = DelegateRole.allCases.map(\.rawValue).joined(separator: ", ")
        throw MessageFailure(.invalidArgument, id: id, "a role is one of \(names)")
      }
      roles.insert(role)
    }
    var request = DelegateRequest(id: id, nav: nav, roles: roles, orientations: nil)
    guard roles.contains(.orientation) else { return request }
    guard let at = member("orientations"), tape.kind(at) == .object else {
      throw MessageFailure(
        .invalidArgument, id: id, "the role orientation needs orientations {supported, preferred}")
    }
    do {
      request.orientations = try RecordReader().delegateOrientations(tape, at)
    } catch {
      throw MessageFailure(error.code, id: id, error.text)
    }
    return request
  }

  func answer() throws(MessageFailure) -> ClientMessage {
    let ask = try required("ask", nil)
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

  func lease() throws(MessageFailure) -> LeaseRequest {
    let id = try requiredID()
    let nav = try nav(id)
    guard let takes = try flag("take", id) else {
      throw MessageFailure(.invalidArgument, id: id, "take is true or false")
    }
    let isForced = try flag("force", id) ?? false
    return LeaseRequest(id: id, nav: nav, wish: !takes ? .release : isForced ? .force : .take)
  }

  func cluster() throws(MessageFailure) -> ClusterRequest {
    let id = try requiredID()
    if let member = try text("drain", id) {
      return ClusterRequest(id: id, wish: .drain(member, on: try flag("on", id) ?? true))
    }
    guard let place = member("move"), let target = try text("to", id) else {
      throw MessageFailure(
        .invalidArgument, id: id, "cluster has move and to, or drain, the name of a member")
    }
    if let shard = tape.integer(place) {
      return ClusterRequest(id: id, wish: .move(Int(clamping: shard), to: target))
    }
    return ClusterRequest(id: id, wish: .moveNav(try nav(place, id), to: target))
  }
}
