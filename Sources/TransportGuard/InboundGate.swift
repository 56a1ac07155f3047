import CLinux
import RuntimePaths
import Synchronization
import ZeroMQ

/// Limits what peers make the daemon hold before the loop takes their messages.
///
/// It disconnects a peer that sends too much, or that sends what libzmq must not see.
///
/// libzmq's threads read through it, see `gatedReceive`; the loop reports what it has taken. Only
/// one thread reads a descriptor at a time; every other function may be called from any thread. So
/// each member of an entry that is not atomic has one user, which justifies `@unchecked Sendable`.
///
/// Law: `heldBytes` is the sum of what the entries hold, and what was held of ended connections.
@safe
final class InboundGate: @unchecked Sendable {
  /// A peer that the gate has disconnected.
  struct Cut: Hashable, Sendable {
    /// The descriptor, if it is known; under CURVE the gate does not see it.
    var descriptor: Int32?
    /// The user of the peer, if the peer is on this machine.
    var user: UInt32?
    var reason: Reason
  }

  enum Reason: Hashable, Sendable {
    case offence(InboundStream.Offence)
    /// More of its messages wait than libzmq's limits for one connection allow.
    case connectionLimit
    /// The messages of all connections exceed the limit, and this peer sent the most of them.
    case totalLimit
  }

  /// The state of one descriptor.
  ///
  /// Only the thread that reads the descriptor uses the members that are not atomic.
  private struct Entry: ~Copyable {
    var stream: InboundStream
    /// The kernel's number of the socket; 0 if no connection is open.
    let cookie = Atomic<UInt64>(0)
    /// The bytes held of messages from this descriptor.
    let held = Atomic<Int>(0)
    let isCut = Atomic<Bool>(false)
    /// Whether the loop has taken a message since the reading thread last looked.
    let wasTaken = Atomic<Bool>(false)

    init(_ stream: InboundStream) { self.stream = stream }
  }

  /// The entries by descriptor, each made at the first acceptance with it.
  ///
  /// Neither the entries nor the gate are ever freed.
  private let entries: UnsafeMutablePointer<Atomic<UnsafeMutablePointer<Entry>?>>
  private let capacity: Int
  /// The highest descriptor that has an entry.
  private let highest = Atomic<Int32>(0)
  private let messageLimit: Int
  private let connectionLimit: Int
  private let totalLimit: Atomic<Int>
  private let total = Atomic<Int>(0)
  /// The bytes held of connections that have ended, until the socket is found empty.
  private let departed = Atomic<Int>(0)
  /// The total above which `relieve` next searches for the peers that hold the most.
  private let reliefDue = Atomic<Int>(0)
  private let wasSwollen = Atomic<Bool>(false)
  private let hasJudged = Atomic<Bool>(false)
  private let hasSeenSealed = Atomic<Bool>(false)
  private let admissions = Atomic<UInt64>(0)
  let events = ConnectionEvents()
  #if DEBUG
    /// Whether the gate passes on everything that peers send, and counts nothing.
    ///
    /// It is set before the gate is installed.
    var isUnguarded = false
  #endif

  /// Makes a gate whose limits allow what the protocol allows.
  ///
  /// `messages` is the maximum that libzmq queues for one connection, and `totalBytes` what all
  /// connections together may make the daemon hold.
  init(frameBytes: Int, messages: Int, totalBytes: Int) {
    // Up to 1,024 frames, even empty ones; the protocol's messages have two or three.
    messageLimit = frameBytes + 1024 * InboundStream.frameCost
    // Two more: one that is being read, and one that is on its way to the loop.
    connectionLimit = (messages + 2) * (frameBytes + 8 * InboundStream.frameCost)
    totalLimit = Atomic(totalBytes)
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

  /// Whether so much was held, in or out, that memory must be returned to the kernel afterwards.
  var isSwollen: Bool { wasSwollen.load(ordering: .relaxed) }

  func setTotalLimit(_ bytes: Int) {
    totalLimit.store(bytes, ordering: .relaxed)
    reliefDue.store(0, ordering: .relaxed)
  }

  var highestDescriptor: Int32 { highest.load(ordering: .relaxed) }

  /// The bytes that the daemon now holds of messages that the loop has not taken.
  var heldBytes: Int { total.load(ordering: .relaxed) }

  /// The number of further connections to admit now, beside those that are open.
  ///
  /// It is the unused part of the total limit, divided by the limit of one connection. It is at
  /// least 1 unless the total limit is exceeded.
  var roomForConnections: Int {
    let room = totalLimit.load(ordering: .relaxed) - heldBytes
    return room < 0 ? 0 : max(1, room / connectionLimit)
  }

  /// Whether the daemon holds bytes of a descriptor that the loop has not taken.
  func holds(_ descriptor: Int32) -> Bool {
    guard let entry = unsafe entry(descriptor) else { return false }
    return unsafe entry.pointee.held.load(ordering: .relaxed) > 0
  }

  /// Returns the number of the next admission, greater than all before.
  func nextAdmission() -> UInt64 {
    admissions.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// The kernel's number of the socket of an open connection; 0 if none is open.
  func cookie(of descriptor: Int32) -> UInt64 {
    guard let entry = unsafe entry(descriptor) else { return 0 }
    return unsafe entry.pointee.cookie.load(ordering: .relaxed)
  }

  /// Whether libzmq reads through the gate, as its first request for admission must show.
  ///
  /// With `isSealed`, libzmq must also have opened a sealed handshake through the gate.
  func isInPlace(isSealed: Bool) -> Bool {
    hasJudged.load(ordering: .relaxed) && (!isSealed || hasSeenSealed.load(ordering: .relaxed))
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
    let stream = InboundStream(isSealed: origin == .network, messageLimit: messageLimit)
    let entry: UnsafeMutablePointer<Entry>
    if let known = unsafe self.entry(descriptor) {
      unsafe entry = known
      unsafe end(descriptor, entry)
      unsafe entry.pointee.stream = stream
    } else {
      unsafe entry = .allocate(capacity: 1)
      unsafe entry.initialize(to: Entry(stream))
    }
    let cookie = navd_socket_cookie(descriptor)
    unsafe entry.pointee.isCut.store(false, ordering: .relaxed)
    unsafe entry.pointee.cookie.store(cookie, ordering: .relaxed)
    unsafe entries[Int(descriptor)].store(entry, ordering: .releasing)
    highest.max(descriptor, ordering: .relaxed)
    events.append(
      .accepted(
        Acceptance(
          descriptor: descriptor, cookie: cookie, origin: origin,
          admissions: admissions.load(ordering: .acquiring))))
    return true
  }

  private static func origin(_ descriptor: Int32) -> Connection.Origin {
    guard navd_is_unix(descriptor) != 0 else { return .network }
    var process: Int32 = 0
    let user = unsafe navd_peer_user(descriptor, &process)
    // The kernel reports the user of every peer on this machine; `.max` stands for no user.
    return .process(user: UInt32(exactly: user) ?? .max, number: process)
  }

  /// Judges the bytes that were read from a descriptor; false if libzmq may not have them.
  func judge(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Bool {
    guard let entry = unsafe entry(descriptor),
      unsafe entry.pointee.cookie.load(ordering: .relaxed) != 0
    else { return true }
    if !hasJudged.load(ordering: .relaxed) { hasJudged.store(true, ordering: .relaxed) }
    #if DEBUG
      if isUnguarded { return true }
    #endif
    if unsafe entry.pointee.isCut.load(ordering: .relaxed) { return false }
    if unsafe entry.pointee.wasTaken.load(ordering: .relaxed) {
      unsafe entry.pointee.wasTaken.store(false, ordering: .relaxed)
      unsafe entry.pointee.stream.noteTaken()
    }
    var cost = 0
    let offence = unsafe entry.pointee.stream.read(
      bytes, at: SystemClock.monotonicMilliseconds() / 1000, cost: &cost)
    if let offence {
      unsafe cut(descriptor, entry, .offence(offence))
      return false
    }
    let held = unsafe hold(cost, by: entry)
    if total.load(ordering: .relaxed) > Self.swollen { wasSwollen.store(true, ordering: .relaxed) }
    if held > connectionLimit {
      unsafe cut(descriptor, entry, .connectionLimit)
    } else if total.load(ordering: .relaxed)
      > max(totalLimit.load(ordering: .relaxed), reliefDue.load(ordering: .relaxed))
    {
      relieve()
    }
    guard unsafe entry.pointee.isCut.load(ordering: .relaxed) else { return true }
    // These bytes will not be passed on.
    unsafe release(cost, of: entry)
    return false
  }

  /// Notes that a descriptor is about to be closed; the gate ignores those without an entry.
  func noteClosed(_ descriptor: Int32) {
    if let entry = unsafe entry(descriptor) { unsafe end(descriptor, entry) }
  }

  /// Judges the properties in a handshake that CURVE sealed; false if libzmq may not have them.
  func judgeSealed(_ metadata: Span<UInt8>?) -> Bool {
    if !hasSeenSealed.load(ordering: .relaxed) { hasSeenSealed.store(true, ordering: .relaxed) }
    #if DEBUG
      if isUnguarded { return true }
    #endif
    guard let metadata, InboundStream.namesRoutingID(metadata) else { return true }
    events.append(.cut(Cut(descriptor: nil, user: nil, reason: .offence(.routingID))))
    return false
  }

  private func hold(_ cost: Int, by entry: UnsafeMutablePointer<Entry>) -> Int {
    guard cost != 0 else { return unsafe entry.pointee.held.load(ordering: .relaxed) }
    total.add(cost, ordering: .relaxed)
    return unsafe entry.pointee.held.add(cost, ordering: .relaxed).newValue
  }

  /// Notes the end of a connection.
  ///
  /// Complete messages of it can still wait. They count in `departed`, and not against the next
  /// connection with the same descriptor.
  private func end(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>) {
    let cookie = unsafe entry.pointee.cookie.exchange(0, ordering: .relaxed)
    guard cookie != 0 else { return }
    departed.add(unsafe entry.pointee.held.exchange(0, ordering: .relaxed), ordering: .relaxed)
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
    unsafe entry.pointee.wasTaken.store(true, ordering: .relaxed)
  }

  /// Notes what libzmq holds for peers.
  func noteOutgoing() {
    if Message.heldOctets > Self.swollen { wasSwollen.store(true, ordering: .relaxed) }
  }

  /// Notes that the ROUTER was empty, so no message of a closed connection waits.
  func noteEmpty() {
    if isSwollen, heldBytes + Message.heldOctets <= Self.swollen {
      wasSwollen.store(false, ordering: .relaxed)
      // The allocator keeps freed memory for each thread.
      navd_trim_memory()
    }
    guard departed.load(ordering: .relaxed) != 0 else { return }
    total.subtract(departed.exchange(0, ordering: .relaxed), ordering: .relaxed)
    reliefDue.store(0, ordering: .relaxed)
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
        total.subtract(released, ordering: .relaxed)
        return
      }
      held = current
    }
  }

  // Disconnecting peers.

  private func cut(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>, _ reason: Reason) {
    guard unsafe isOpen(descriptor, entry),
      unsafe !entry.pointee.isCut.exchange(true, ordering: .relaxed)
    else { return }
    var process: Int32 = 0
    let user = unsafe navd_peer_user(descriptor, &process)
    navd_cut(descriptor)
    let cut = Cut(
      descriptor: descriptor, user: user >= 0 ? UInt32(exactly: user) : nil, reason: reason)
    events.append(.cut(cut))
  }

  /// The number of held bytes above which the freed memory is returned to the kernel afterwards.
  private static let swollen = 16 << 20

  /// Disconnects the peers of which the daemon holds the most, until the open ones are within the
  /// limit.
  private func relieve() {
    var candidates: [(descriptor: Int32, held: Int)] = []
    var sum = 0
    for descriptor in 0...highest.load(ordering: .relaxed) {
      guard let entry = unsafe entry(descriptor) else { continue }
      let held = unsafe entry.pointee.held.load(ordering: .relaxed)
      guard held > 0 else { continue }
      if unsafe entry.pointee.isCut.load(ordering: .relaxed) { continue }
      candidates.append((descriptor, held))
      sum += held
    }
    candidates.sort { $0.held < $1.held }
    let limit = totalLimit.load(ordering: .relaxed)
    // If ended connections cause the excess, only one peer is disconnected at a time, and only if
    // it holds more than 1/256 of the limit. Disconnecting it frees nothing at once, and a peer
    // that holds little is not the cause.
    let step = limit / 256
    var more = heldBytes > limit && (candidates.last?.held ?? 0) > step ? 1 : 0
    while sum > limit || more > 0, let most = candidates.popLast() {
      sum -= most.held
      more = 0
      if let entry = unsafe entry(most.descriptor) {
        unsafe cut(most.descriptor, entry, .totalLimit)
      }
    }
    reliefDue.store(heldBytes + step, ordering: .relaxed)
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
    case .connectionLimit: "it sent more than navd holds unread for one connection"
    case .totalLimit:
      "the unread messages of all peers exceed [limits] unread-total-bytes, and it sent most of them"
    }
  }
}
