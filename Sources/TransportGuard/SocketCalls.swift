package import CLinux
import RuntimePaths
import Synchronization

// Replacements for functions of the C library. The dynamic linker resolves libzmq's calls to them,
// because it prefers definitions in the executable. libzmq has no option for what they do, and
// without them a peer can end the process.

/// Accepts a connection, but keeps the last descriptors free.
///
/// libzmq aborts the process when accept4(2) fails for want of descriptors. libzmq's threads accept
/// faster than the loop could stop them, and libzmq cannot stop accepting without ending every
/// connection of the socket. So this function closes a connection that would take one of the last
/// 64 descriptors, and reports ECONNABORTED. libzmq ignores that error and goes on accepting.
@c(accept4)
package func sparingAccept(
  _ listening: Int32, _ address: UnsafeMutablePointer<sockaddr>?,
  _ size: UnsafeMutablePointer<socklen_t>?, _ flags: Int32
) -> Int32 {
  let descriptor = unsafe navd_accept_sparingly(listening, address, size, flags)
  guard descriptor >= 0 else {
    if navd_errno() == ECONNABORTED { withInstalledGate { $0.events.append(.descriptorShortage) } }
    return descriptor
  }
  guard withInstalledGate({ $0.noteAccepted(descriptor) }) == false else { return descriptor }
  _ = navd_close(descriptor)
  return navd_fail(ECONNABORTED)
}

/// Closes a descriptor, after reporting the end of its connection to the gate.
///
/// libzmq's monitor reports an end before close(2), by the descriptor alone. When the loop reads
/// that report, the kernel may have given the descriptor to another connection.
@c(close)
package func reportedClose(_ descriptor: Int32) -> Int32 {
  withInstalledGate { $0.noteClosed(descriptor) }
  return navd_close(descriptor)
}

/// Receives bytes and shows them to the gate first; to libzmq, a connection that the gate
/// disconnects looks ended.
///
/// The gate checks accepted connections only. libpq and libsystemd call this function too, for
/// connections that this process made; the gate passes their bytes.
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

/// Opens a sealed box, and shows the properties in a CURVE handshake to the gate.
///
/// If the properties name a routing id, libzmq gets the result for a forged box. libzmq opens the
/// command INITIATE with this function. INITIATE contains, by RFC 26: 32 zero bytes, the client's
/// key of 32 bytes, a nonce of 16, a box of 80, and the properties.
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

/// The installed gate, nil before that; the object is never freed.
nonisolated(unsafe) let installedGate = unsafe Atomic<UnsafeMutableRawPointer?>(nil)

private func withInstalledGate<Result>(_ body: (InboundGate) -> Result) -> Result? {
  guard let gate = unsafe installedGate.load(ordering: .acquiring) else { return nil }
  // Without retain and release at each call, because the gate is never freed.
  return unsafe Unmanaged<InboundGate>.fromOpaque(gate)._withUnsafeGuaranteedRef { body($0) }
}
