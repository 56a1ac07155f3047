public import CNavd
import CLinux
import NavigationClient
import NavigationCore

// The functions of navd.h about changes, delegates and displays; navd.h documents them.

/// See navd.h.
@c @implementation
public func navd_guard(
  _ handle: OpaquePointer?, _ state: UnsafePointer<CChar>?, _ what: UnsafePointer<CChar>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    guard let place = unsafe result else { throw .misuse("guard is NULL") }
    unsafe place.pointee = nil
    let tape = try json(try unsafe text(state, "state"), "state", maximumDepth: 64)
    let guards = try guardsOnState(tape, part: try unsafe text(what, "what"))
    guard let nav = tape.member("nav", of: tape.root).flatMap({ tape.string($0) }) else {
      throw .misuse("state has no nav; pass the JSON of a state")
    }
    let doubt = try unsafe client(handle).use { connection, _ in
      connection.cluster.guardRefusal(for: nav)
    }
    if let doubt { throw Failure(doubt) }
    unsafe place.pointee = mallocCopy(guards.bytes)
  }
}

/// See navd.h.
@c @implementation
public func navd_perform(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ list: UnsafePointer<CChar>?,
  _ condition: UnsafePointer<CChar>?, _ flags: CUnsignedInt, _ timeout_ms: CInt,
  _ reply: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    if let reply = unsafe reply { unsafe reply.pointee = nil }
    let change = try unsafe Change(nav, list, condition, flags)
    let timeout = try timeLimit(timeout_ms, nil) ?? Client.defaultTimeout
    let within = try timeLimit(timeout_ms, change.defaultLimit) ?? timeout
    let answer = try unsafe client(handle).use { connection, _ throws(ConnectionError) in
      try connection.perform(
        change.request, operations: change.operations, timeout: timeout, within: within)
    }
    if case .failure(let refusal) = answer.result { throw Failure(refusal) }
    if let reply = unsafe reply { unsafe reply.pointee = mallocCopy(answer.body) }
  }
}

/// See navd.h.
@c @implementation
public func navd_submit(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ list: UnsafePointer<CChar>?,
  _ condition: UnsafePointer<CChar>?, _ flags: CUnsignedInt, _ within_ms: CInt,
  _ id: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    guard let place = unsafe id else { throw .misuse("id is NULL") }
    unsafe place.pointee = 0
    let change = try unsafe Change(nav, list, condition, flags)
    let within = try timeLimit(within_ms, change.defaultLimit)
    let client = try unsafe client(handle)
    unsafe place.pointee = try client.use { connection, state throws(ConnectionError) in
      let id = try connection.submit(
        change.request, operations: change.operations, within: within)
      state.submitted.insert(id)
      return id
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_delegate(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ roles: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let nav = try unsafe text(nav, "nav")
    let registration = try registration(try unsafe text(roles, "roles"))
    try unsafe client(handle).use { connection, _ throws(ConnectionError) in
      try connection.request { $0.delegate(nav, registration) }
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_answer(
  _ handle: OpaquePointer?, _ question: UInt64, _ value: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let tape = try json(try unsafe text(value, "value"), "value")
    try unsafe client(handle).use { connection, state throws(ConnectionError) in
      guard let ask = state.takeQuestion(question) else { return }
      try connection.request { $0.answer(ask, value: tape.raw(tape.root)) }
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_lease(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ wish: navd_lease_wish,
  _ is_kept: CInt, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let nav = try unsafe text(nav, "nav")
    let lease: LeaseAction
    switch wish {
    case NAVD_LEASE_TAKE: lease = .take
    case NAVD_LEASE_FORCE: lease = .force
    case NAVD_LEASE_RELEASE: lease = .release
    default: throw .misuse("wish is \(wish.rawValue), which is no navd_lease_wish")
    }
    try unsafe client(handle).use { connection, _ throws(ConnectionError) in
      try connection.request { $0.lease(nav, lease, isKept: is_kept != 0) }
    }
  }
}

/// A change of a nav as C describes it.
private struct Change {
  var request: OpRequest
  var operations: [[UInt8]]
  /// The time limit without one of the caller's; nil for none.
  var defaultLimit: Duration?

  init(
    _ nav: UnsafePointer<CChar>?, _ list: UnsafePointer<CChar>?,
    _ condition: UnsafePointer<CChar>?, _ flags: CUnsignedInt
  ) throws(Failure) {
    let known = CUnsignedInt(NAVD_ANIMATED | NAVD_STILL | NAVD_QUEUE)
    guard flags & ~known == 0 else { throw .misuse("flags has unknown bits") }
    let isAnimated = flags & CUnsignedInt(NAVD_ANIMATED) != 0
    let isStill = flags & CUnsignedInt(NAVD_STILL) != 0
    guard !isAnimated || !isStill else {
      throw .misuse("NAVD_ANIMATED and NAVD_STILL exclude each other")
    }
    var conditions = Guards()
    if let text = try unsafe optionalText(condition, "guard") { conditions = try guards(text) }
    request = OpRequest(
      id: 0, nav: try unsafe text(nav, "nav"), guards: conditions,
      isAnimated: isAnimated || isStill ? isAnimated : nil,
      onBusy: flags & CUnsignedInt(NAVD_INTERRUPT) != 0
        ? .interrupt : flags & CUnsignedInt(NAVD_QUEUE) != 0 ? .queue : nil)
    let (texts, areByPerson) = try NavdC.operations(try unsafe text(list, "operations"))
    operations = texts
    defaultLimit = areByPerson ? OperationKind.personLimit : nil
  }
}
