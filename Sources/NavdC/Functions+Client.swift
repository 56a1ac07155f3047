public import CNavd
import CLinux
import NavigationClient
import NavigationCore

// The functions of navd.h about clients, watches and reads; navd.h documents them.

private let version = CText("0.1.0")

/// See navd.h.
@c @implementation
public func navd_version() -> UnsafePointer<CChar>? { unsafe version.pointer }

/// See navd.h.
@c @implementation
public func navd_connect(
  _ options: UnsafePointer<navd_options>?, _ timeout_ms: CInt,
  _ client: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    guard let client = unsafe client else { throw .misuse("client is NULL") }
    unsafe client.pointee = nil
    let timeout = timeout_ms == 0 ? nil : try timeLimit(timeout_ms, Client.defaultTimeout)
    let made = try unsafe Client(ClientOptions(options), timeout: timeout)
    unsafe client.pointee = Handles.add(made)
  }
}

/// See navd.h.
@c @implementation
public func navd_client_free(_ client: OpaquePointer?) {
  unsafe Handles.remove(client, Client.self)?.leave()
}

/// See navd.h.
@c @implementation
public func navd_fd(_ client: OpaquePointer?) -> CInt {
  guard let client: Client = unsafe Handles.find(client) else { return -1 }
  return client.isForked ? -1 : client.fileDescriptor
}

/// See navd.h.
@c @implementation
public func navd_next(_ client: OpaquePointer?) -> OpaquePointer? {
  guard let client: Client = unsafe Handles.find(client) else { return nil }
  return unsafe client.next().flatMap { unsafe Handles.add($0) }
}

/// See navd.h.
@c @implementation
public func navd_watch(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ wait: CInt,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let nav = try unsafe text(nav, "nav")
    try unsafe client(handle).use { connection, state throws(ConnectionError) in
      guard state.watchWaitsForNext[nav] == nil else { return }
      state.watchWaitsForNext[nav] = wait != 0
      try connection.request { $0.watch(nav, waits: wait != 0) }
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_unwatch(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let nav = try unsafe text(nav, "nav")
    try unsafe client(handle).use { connection, state throws(ConnectionError) in
      guard state.watchWaitsForNext.removeValue(forKey: nav) != nil else { return }
      _ = state.results.endWatch(of: nav)
      try connection.request { $0.unwatch(nav) }
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_state(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?,
  _ state: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    guard let place = unsafe state else { throw .misuse("state is NULL") }
    unsafe place.pointee = nil
    let nav = try unsafe text(nav, "nav")
    let bytes = try unsafe client(handle).use { connection, _ in
      connection.cluster.replica(of: nav)?.mirror?.snapshot(of: nav).bytes
    }
    if let bytes { unsafe place.pointee = mallocCopy(bytes) }
  }
}

/// See navd.h.
@c @implementation
public func navd_is_synced(_ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?) -> CInt {
  do throws(Failure) {
    let nav = try unsafe text(nav, "nav")
    return try unsafe client(handle).use { connection, _ in
      connection.cluster.replica(of: nav)?.isSynced ?? false
    } ? 1 : 0
  } catch {
    return error.status == NAVD_CLOSED ? 0 : -1
  }
}

/// See navd.h.
@c @implementation
public func navd_get(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ what: UnsafePointer<CChar>?,
  _ timeout_ms: CInt, _ value: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    guard let place = unsafe value else { throw .misuse("value is NULL") }
    unsafe place.pointee = nil
    let (nav, word) = (try unsafe optionalText(nav, "nav"), try unsafe text(what, "what"))
    guard let what = GetRequest.What(word: word) else {
      throw .misuse("there is no value named \(word)")
    }
    let timeout = try timeLimit(timeout_ms, nil) ?? Client.defaultTimeout
    let result = try unsafe client(handle).use { connection, _ throws(ConnectionError) in
      try connection.get(GetRequest(id: 0, nav: nav, what: what), timeout: timeout).result
    }
    switch result {
    case .success(let reply): unsafe place.pointee = mallocCopy((reply.value ?? .null).bytes)
    case .failure(let refusal): throw Failure(refusal)
    }
  }
}

/// See navd.h.
@c @implementation
public func navd_await_result(
  _ handle: OpaquePointer?, _ nav: UnsafePointer<CChar>?, _ screen: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> navd_status {
  unsafe attempt(error) { () throws(Failure) in
    let (nav, screen) = (try unsafe text(nav, "nav"), try unsafe text(screen, "screen"))
    let isWatched = try unsafe client(handle).use { _, state in
      if state.watchWaitsForNext[nav] != nil { state.results.awaitResult(of: screen, in: nav) }
      return state.watchWaitsForNext[nav] != nil
    }
    guard isWatched else { throw .misuse("\(nav) is not watched") }
  }
}
