import CLinux
import RuntimePaths
import Synchronization
import ZeroMQ

/// Limits the bytes that peers make the daemon hold before the loop takes their messages.
///
/// It disconnects a peer that sends too much, or that sends what libzmq must not see.
///
/// libzmq's threads pass each received byte through the gate (`gatedReceive`), and the loop reports
/// each message that it takes. `@unchecked Sendable`: one thread at a time reads a descriptor, and
/// only that thread uses the members of an entry that are not atomic.
///
/// Law: `heldBytes` is the sum of `held` of all entries, and `heldOfEnded`.
@safe
final class InboundGate: @unchecked Sendable {
  /// A peer that the gate has disconnected, and the reason.
  struct Disconnection: Hashable, Sendable {
    /// The descriptor; nil under CURVE, where the gate does not see it.
    var descriptor: Int32?
    /// The user id of a peer on this machine; nil for others.
    var user: UInt32?
    var reason: Reason
  }

  enum Reason: Hashable, Sendable {
    case offence(InboundStream.Offence)
    /// The unread messages of the peer exceed libzmq's limits for one connection.
    case connectionByteLimit
    /// The unread messages of all connections exceed the limit, and this peer sent most of them.
    case totalByteLimit
  }

  /// The state of one descriptor.
  ///
  /// Only the thread that reads the descriptor uses the members that are not atomic.
  private struct Entry: ~Copyable {
    var stream: InboundStream
    /// The kernel's number of the socket; 0 if no connection is open.
    let cookie = Atomic<UInt64>(0)
    /// The bytes of this descriptor that the loop has not taken.
    let held = Atomic<Int>(0)
    let isDisconnected = Atomic<Bool>(false)
    /// Whether the loop has taken a message since the reading thread last looked.
    let hasTakenMessage = Atomic<Bool>(false)

    init(_ stream: InboundStream) { self.stream = stream }
  }

  /// The entries by descriptor, each made at the first acceptance with it.
  ///
  /// Neither the entries nor the gate are ever freed.
  private let entries: UnsafeMutablePointer<Atomic<UnsafeMutablePointer<Entry>?>>
  private let capacity: Int
  /// The highest descriptor that has an entry.
  private let highest = Atomic<Int32>(0)
  private let messageByteLimit: Int
  private let connectionByteLimit: Int
  private let totalByteLimit: Atomic<Int>
  private let heldTotal = Atomic<Int>(0)
  /// The bytes held of ended connections, until the loop finds the socket empty.
  private let heldOfEnded = Atomic<Int>(0)
  /// The total of held bytes above which `disconnectHeaviest` runs again.
  private let disconnectThreshold = Atomic<Int>(0)
  private let hasHeldMuch = Atomic<Bool>(false)
  private let hasReadThroughGate = Atomic<Bool>(false)
  private let hasOpenedSealedBox = Atomic<Bool>(false)
  private let admissionCount = Atomic<UInt64>(0)
  let events = Mailbox<ConnectionEvent>()
  #if DEBUG
    /// Whether the gate passes on everything that peers send, and counts nothing.
    ///
    /// It is set before the gate is installed.
    var isDisabled = false
  #endif

  /// Makes a gate whose limits allow what the protocol allows.
  ///
  /// `messagesPerConnection` is the maximum number that libzmq queues for one connection, and
  /// `totalBytes` the maximum of bytes that the daemon holds for all connections.
  init(maximumFrameBytes: Int, messagesPerConnection: Int, totalBytes: Int) {
    // Up to 1,024 frames, even empty ones; the protocol's messages have two or three.
    messageByteLimit = maximumFrameBytes + 1024 * InboundStream.frameCost
    // Two more: one that is being read, and one that is on its way to the loop.
    let messageBytes = maximumFrameBytes + 8 * InboundStream.frameCost
    connectionByteLimit = (messagesPerConnection + 2) * messageBytes
    totalByteLimit = Atomic(totalBytes)
    capacity = Int(max(navd_limit(0), 1024))
    // Zero bits are nil pointers, and untouched pages take no memory.
    let size = unsafe MemoryLayout<Atomic<UnsafeMutablePointer<Entry>?>>.stride
    guard let room = unsafe navd_zeroes(capacity, size) else {
      preconditionFailure("no room for \(capacity) descriptors")
    }
    unsafe entries = room.bindMemory(
      to: Atomic<UnsafeMutablePointer<Entry>?>.self, capacity: capacity)
  }

  /// Installs the gate for the functions that replace the C library's; it stays for good.
  func install() {
    let gate = unsafe Unmanaged.passRetained(self).toOpaque()
    // It is never released, because a thread of libzmq may be about to use it.
    unsafe installedGate.store(gate, ordering: .releasing)
  }

  /// Whether so many bytes were held that the daemon must return freed memory to the kernel.
  var mustTrimMemory: Bool { hasHeldMuch.load(ordering: .relaxed) }

  func setTotalByteLimit(_ bytes: Int) {
    totalByteLimit.store(bytes, ordering: .relaxed)
    disconnectThreshold.store(0, ordering: .relaxed)
  }

  var highestDescriptor: Int32 { highest.load(ordering: .relaxed) }

  /// The bytes that the daemon holds of messages that the loop has not taken.
  var heldBytes: Int { heldTotal.load(ordering: .relaxed) }

  /// The number of further connections for which the total limit has room now.
  ///
  /// It is at least 1 unless the total limit is exceeded.
  var roomForConnections: Int {
    let room = totalByteLimit.load(ordering: .relaxed) - heldBytes
    return room < 0 ? 0 : max(1, room / connectionByteLimit)
  }

  /// Whether the loop has not taken all messages of a descriptor.
  func hasUntakenMessages(of descriptor: Int32) -> Bool {
    guard let entry = unsafe entry(descriptor) else { return false }
    return unsafe entry.pointee.held.load(ordering: .relaxed) > 0
  }

  /// Returns the number for the next admitted peer, greater than all before.
  func nextAdmission() -> UInt64 {
    admissionCount.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// The kernel's number of the socket of an open connection; 0 if none is open.
  func cookie(of descriptor: Int32) -> UInt64 {
    guard let entry = unsafe entry(descriptor) else { return 0 }
    return unsafe entry.pointee.cookie.load(ordering: .relaxed)
  }

  /// Whether libzmq reads through the gate, as it must have before its first ZAP request.
  ///
  /// With `isSealed`, it must also have opened a sealed handshake through the gate.
  func isInPlace(isSealed: Bool) -> Bool {
    hasReadThroughGate.load(ordering: .relaxed)
      && (!isSealed || hasOpenedSealedBox.load(ordering: .relaxed))
  }

  private func entry(_ descriptor: Int32) -> UnsafeMutablePointer<Entry>? {
    guard descriptor >= 0, Int(descriptor) < capacity else { return nil }
    return unsafe entries[Int(descriptor)].load(ordering: .acquiring)
  }

  // Called on libzmq's threads.

  /// Notes an accepted connection, before libzmq reads from it; false for a descriptor beyond the
  /// table, which the caller must close.
  func noteAccepted(_ descriptor: Int32) -> Bool {
    guard descriptor >= 0, Int(descriptor) < capacity else { return false }
    let origin = Self.origin(descriptor)
    let stream = InboundStream(isSealed: origin == .network, messageByteLimit: messageByteLimit)
    let entry: UnsafeMutablePointer<Entry>
    if let known = unsafe self.entry(descriptor) {
      unsafe entry = known
      unsafe noteEnd(descriptor, entry)
      unsafe entry.pointee.stream = stream
    } else {
      unsafe entry = .allocate(capacity: 1)
      unsafe entry.initialize(to: Entry(stream))
    }
    let cookie = navd_socket_cookie(descriptor)
    unsafe entry.pointee.isDisconnected.store(false, ordering: .relaxed)
    unsafe entry.pointee.cookie.store(cookie, ordering: .relaxed)
    unsafe entries[Int(descriptor)].store(entry, ordering: .releasing)
    highest.max(descriptor, ordering: .relaxed)
    events.append(
      .accepted(
        Acceptance(
          descriptor: descriptor, cookie: cookie, origin: origin,
          admissionsBefore: admissionCount.load(ordering: .acquiring))))
    return true
  }

  private static func origin(_ descriptor: Int32) -> Connection.Origin {
    guard navd_is_unix(descriptor) != 0 else { return .network }
    var process: Int32 = 0
    let user = unsafe navd_peer_user(descriptor, &process)
    // The kernel reports the user of every peer on this machine; `.max` stands for no user.
    return .process(user: UInt32(exactly: user) ?? .max, number: process)
  }

  /// Checks and counts the bytes read from a descriptor; false if libzmq must not see them.
  func judge(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Bool {
    guard let entry = unsafe entry(descriptor),
      unsafe entry.pointee.cookie.load(ordering: .relaxed) != 0
    else { return true }
    if !hasReadThroughGate.load(ordering: .relaxed) {
      hasReadThroughGate.store(true, ordering: .relaxed)
    }
    #if DEBUG
      if isDisabled { return true }
    #endif
    if unsafe entry.pointee.isDisconnected.load(ordering: .relaxed) { return false }
    if unsafe entry.pointee.hasTakenMessage.load(ordering: .relaxed) {
      unsafe entry.pointee.hasTakenMessage.store(false, ordering: .relaxed)
      unsafe entry.pointee.stream.noteTaken()
    }
    var cost = 0
    let offence = unsafe entry.pointee.stream.read(
      bytes, at: SystemClock.monotonicMilliseconds() / 1000, cost: &cost)
    if let offence {
      unsafe disconnect(descriptor, entry, .offence(offence))
      return false
    }
    let held = unsafe hold(cost, by: entry)
    if heldTotal.load(ordering: .relaxed) > Self.trimThreshold {
      hasHeldMuch.store(true, ordering: .relaxed)
    }
    if held > connectionByteLimit {
      unsafe disconnect(descriptor, entry, .connectionByteLimit)
    } else if heldTotal.load(ordering: .relaxed)
      > max(totalByteLimit.load(ordering: .relaxed), disconnectThreshold.load(ordering: .relaxed))
    {
      disconnectHeaviest()
    }
    guard unsafe entry.pointee.isDisconnected.load(ordering: .relaxed) else { return true }
    // These bytes will not be passed on.
    unsafe release(cost, of: entry)
    return false
  }

  /// Notes that libzmq is about to close a descriptor; it ignores descriptors without an entry.
  func noteClosed(_ descriptor: Int32) {
    if let entry = unsafe entry(descriptor) { unsafe noteEnd(descriptor, entry) }
  }

  /// Checks the properties in a handshake that CURVE sealed; false if libzmq must not see them.
  func judgeSealed(_ metadata: Span<UInt8>?) -> Bool {
    if !hasOpenedSealedBox.load(ordering: .relaxed) {
      hasOpenedSealedBox.store(true, ordering: .relaxed)
    }
    #if DEBUG
      if isDisabled { return true }
    #endif
    guard let metadata, InboundStream.namesRoutingID(metadata) else { return true }
    events.append(
      .disconnected(Disconnection(descriptor: nil, user: nil, reason: .offence(.routingID))))
    return false
  }

  private func hold(_ cost: Int, by entry: UnsafeMutablePointer<Entry>) -> Int {
    guard cost != 0 else { return unsafe entry.pointee.held.load(ordering: .relaxed) }
    heldTotal.add(cost, ordering: .relaxed)
    return unsafe entry.pointee.held.add(cost, ordering: .relaxed).newValue
  }

  /// Notes the end of a connection, and moves its held bytes to `heldOfEnded`.
  ///
  /// So its waiting messages do not count against the next connection with the same descriptor.
  private func noteEnd(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>) {
    let cookie = unsafe entry.pointee.cookie.exchange(0, ordering: .relaxed)
    guard cookie != 0 else { return }
    heldOfEnded.add(unsafe entry.pointee.held.exchange(0, ordering: .relaxed), ordering: .relaxed)
    events.append(.closed(descriptor: descriptor, cookie: cookie))
  }

  // Called by the loop.

  /// Notes that the loop took a message from the socket.
  ///
  /// Nothing is released if the connection with this `cookie` has ended.
  func noteTaken(_ descriptor: Int32, cookie: UInt64, bytes: Int, frames: Int) {
    guard let entry = unsafe entry(descriptor),
      unsafe entry.pointee.cookie.load(ordering: .relaxed) == cookie
    else { return }
    unsafe release(bytes + frames * InboundStream.frameCost, of: entry)
    unsafe entry.pointee.hasTakenMessage.store(true, ordering: .relaxed)
  }

  /// Sets `mustTrimMemory` if libzmq holds more than 16 MiB of messages that peers have not read.
  func noteUnsentBytes() {
    if Message.heldOctets > Self.trimThreshold { hasHeldMuch.store(true, ordering: .relaxed) }
  }

  /// Notes that the ROUTER has no message, so none of a closed connection waits.
  func noteSocketEmpty() {
    if mustTrimMemory, heldBytes + Message.heldOctets <= Self.trimThreshold {
      hasHeldMuch.store(false, ordering: .relaxed)
      // The allocator keeps freed memory for each thread.
      navd_trim_memory()
    }
    guard heldOfEnded.load(ordering: .relaxed) != 0 else { return }
    heldTotal.subtract(heldOfEnded.exchange(0, ordering: .relaxed), ordering: .relaxed)
    disconnectThreshold.store(0, ordering: .relaxed)
  }

  /// Subtracts bytes from what an entry holds, but never below 0.
  ///
  /// The message may contain a frame that cost nothing, or come from an earlier connection with the
  /// same descriptor.
  private func release(_ bytes: Int, of entry: UnsafeMutablePointer<Entry>) {
    var held = unsafe entry.pointee.held.load(ordering: .relaxed)
    while true {
      let released = min(bytes, held)
      let (isDone, current) = unsafe entry.pointee.held.compareExchange(
        expected: held, desired: held - released, ordering: .relaxed)
      if isDone {
        heldTotal.subtract(released, ordering: .relaxed)
        return
      }
      held = current
    }
  }

  // Disconnecting peers.

  private func disconnect(
    _ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>, _ reason: Reason
  ) {
    guard unsafe isOpen(descriptor, entry),
      unsafe !entry.pointee.isDisconnected.exchange(true, ordering: .relaxed)
    else { return }
    var process: Int32 = 0
    let user = unsafe navd_peer_user(descriptor, &process)
    navd_cut(descriptor)
    let knownUser = user >= 0 ? UInt32(exactly: user) : nil
    events.append(
      .disconnected(Disconnection(descriptor: descriptor, user: knownUser, reason: reason)))
  }

  /// The number of held bytes above which the daemon must return freed memory to the kernel.
  private static let trimThreshold = 16 << 20

  /// Disconnects the peers with the most held bytes, until the others are within the limit.
  private func disconnectHeaviest() {
    var candidates: [(descriptor: Int32, held: Int)] = []
    var sum = 0
    for descriptor in 0...highest.load(ordering: .relaxed) {
      guard let entry = unsafe entry(descriptor) else { continue }
      let held = unsafe entry.pointee.held.load(ordering: .relaxed)
      guard held > 0 else { continue }
      if unsafe entry.pointee.isDisconnected.load(ordering: .relaxed) { continue }
      candidates.append((descriptor, held))
      sum += held
    }
    candidates.sort { $0.held < $1.held }
    let limit = totalByteLimit.load(ordering: .relaxed)
    // If ended connections cause the excess, only one peer is disconnected at a time, and only if
    // it holds more than 1/256 of the limit. Disconnecting it frees nothing at once, and a peer
    // that holds little is not the cause.
    let step = limit / 256
    var more = heldBytes > limit && (candidates.last?.held ?? 0) > step ? 1 : 0
    while sum > limit || more > 0, let most = candidates.popLast() {
      sum -= most.held
      more = 0
      if let entry = unsafe entry(most.descriptor) {
        unsafe disconnect(most.descriptor, entry, .totalByteLimit)
      }
    }
    disconnectThreshold.store(heldBytes + step, ordering: .relaxed)
  }

  /// Whether the entry's connection still has the descriptor; another thread may be closing it.
  private func isOpen(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>) -> Bool {
    unsafe entry.pointee.cookie.load(ordering: .relaxed) == navd_socket_cookie(descriptor)
  }
}

extension InboundGate.Reason {
  var text: String {
    switch self {
    case .offence(.version): "it does not speak ZMTP 3"
    case .offence(.routingID): "it chose its own routing id"
    case .offence(.longMessage):
      "the frames of one message exceed [limits] message-to-daemon-bytes together"
    case .offence(.command("MESSAGE", let bytes)):
      "it sent a frame of \(bytes) bytes as the ZMTP command MESSAGE, which carries heartbeats only, "
        + "2 a second"
    case .offence(.command(let name, let bytes)):
      "it sent a ZMTP command\(name.isEmpty ? "" : " \(name)") of \(bytes) bytes, which clients do not send"
    case .connectionByteLimit: "it sent more than navd holds unread for one connection"
    case .totalByteLimit:
      "the unread messages of all peers exceed [limits] unread-total-bytes, and it sent most of them"
    }
  }
}
