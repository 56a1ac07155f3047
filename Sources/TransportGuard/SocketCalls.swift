package import CLinux
import Synchronization

// Functions of the C library's that libzmq calls and finds here: the dynamic linker prefers what the
// program itself defines. libzmq has no option for what they do, and what it does without them ends
// the process.

/// Accepts a connection, but not with the last descriptors.
///
/// libzmq aborts the process when it cannot accept for want of descriptors, and it accepts on threads
/// of its own, faster than the loop could tell it to stop; nor can it be told without ending every
/// connection of that socket. So navd keeps the last descriptors: this function closes a
/// connection that would take one of them, and libzmq goes on accepting.
@c(accept4)
package func sparingAccept(
  _ listening: Int32, _ address: UnsafeMutablePointer<sockaddr>?,
  _ size: UnsafeMutablePointer<socklen_t>?, _ flags: Int32
) -> Int32 {
  let descriptor = unsafe navd_accept_sparingly(listening, address, size, flags)
  guard descriptor >= 0 else {
    if navd_errno() == ECONNABORTED { withInstalledGate { $0.events.append(.shortage) } }
    return descriptor
  }
  guard withInstalledGate({ $0.noteAccepted(descriptor) }) == false else { return descriptor }
  _ = navd_close(descriptor)
  return navd_fail(ECONNABORTED)
}

/// Closes a descriptor, and reports the end of the connection behind it to the gate first.
///
/// libzmq's monitor reports an end before close(2), by number alone. The number may already be another
/// connection's when the loop reads the report.
@c(close)
package func reportedClose(_ descriptor: Int32) -> Int32 {
  withInstalledGate { $0.noteClosed(descriptor) }
  return navd_close(descriptor)
}

/// Receives, and shows what comes to the gate first; a connection that is cut there looks ended.
@c(recv)
package func gatedReceive(
  _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ flags: Int32
) -> Int {
  let count = unsafe recvfrom(descriptor, buffer, size, flags, nil, nil)
  guard count > 0, let buffer = unsafe buffer else { return count }
  let isLetThrough = withInstalledGate { gate in
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: count).assumingMemoryBound(
      to: UInt8.self)
    return unsafe gate.judge(descriptor, bytes.span)
  }
  return isLetThrough == false ? 0 : count
}

/// Opens a sealed box, and shows the properties of a handshake to the gate; who names a routing id
/// there seems to have sealed it wrongly.
///
/// libzmq opens INITIATE of CURVE with this, whose content is RFC 26's: 32 zeroes, the client's key
/// of 32 bytes, a nonce of 16, a box of 80, and the properties.
@c(crypto_box_open)
package func watchedBoxOpen(
  _ plain: UnsafeMutablePointer<UInt8>?, _ box: UnsafePointer<UInt8>?, _ size: UInt64,
  _ nonce: UnsafePointer<UInt8>?, _ publicKey: UnsafePointer<UInt8>?,
  _ secretKey: UnsafePointer<UInt8>?
) -> Int32 {
  let result = unsafe navd_next_box_open(plain, box, size, nonce, publicKey, secretKey)
  guard result == 0, let plain = unsafe plain else { return result }
  let before = 32 + 32 + 16 + 80
  let isLetThrough = withInstalledGate { gate in
    guard size > before else { return gate.judgeSealed(nil) }
    let metadata = unsafe UnsafeBufferPointer(start: plain + before, count: Int(size) - before)
    return unsafe gate.judgeSealed(metadata.span)
  }
  return isLetThrough == false ? -1 : result
}

/// The gate, once there is one: an object that is never freed.
nonisolated(unsafe) let installedGate = unsafe Atomic<UnsafeMutableRawPointer?>(nil)

private func withInstalledGate<Result>(_ body: (InboundGate) -> Result) -> Result? {
  guard let gate = unsafe installedGate.load(ordering: .acquiring) else { return nil }
  // Not retained and released with each call: it is never freed.
  return unsafe Unmanaged<InboundGate>.fromOpaque(gate)._withUnsafeGuaranteedRef { body($0) }
}
