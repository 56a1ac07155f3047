import CLinux
import RuntimePaths
import Synchronization

/// Bounds what peers make the daemon hold before it takes their messages, and cuts off who sends too
/// much, or what libzmq must not see.
///
/// libzmq's threads read through it, see `gatedReceive`; the loop notes what it has taken. One
/// descriptor is read by one thread at a time, all else may be called from any; so what is not
/// atomic of an entry has one user, which is why the promise below is not checked.
///
/// Law: `heldBytes` is what the entries hold, and what was held of connections that have ended.
@safe
final class InboundGate: @unchecked Sendable {
  /// A connection that the gate has shut down.
  struct Cut: Hashable, Sendable {
    /// Its descriptor, if that is known.
    var descriptor: Int32?
    /// The user at the other end, of this machine.
    var user: UInt32?
    var reason: Reason
  }

  enum Reason: Hashable, Sendable {
    case offence(InboundStream.Offence)
    /// More of its messages wait than libzmq lets wait.
    case connectionLimit
    /// All messages that wait are too much, and its own the most of them.
    case totalLimit
  }

  /// What is known of a descriptor; what is not atomic is the thread's that reads it.
  private struct Entry: ~Copyable {
    var stream: InboundStream
    /// The kernel's number of the socket; 0 when it is closed.
    let cookie = Atomic<UInt64>(0)
    /// What is held of what came by it.
    let held = Atomic<Int>(0)
    let isCut = Atomic<Bool>(false)
    /// Whether a message was taken since this was last looked at.
    let wasTaken = Atomic<Bool>(false)

    init(_ stream: InboundStream) { self.stream = stream }
  }

  /// Entries by descriptor, made when one is accepted first.
  ///
  /// Never freed, nor is the gate.
  private let entries: UnsafeMutablePointer<Atomic<UnsafeMutablePointer<Entry>?>>
  private let capacity: Int
  /// The highest descriptor with an entry.
  private let highest = Atomic<Int32>(0)
  private let messageLimit: Int
  private let connectionLimit: Int
  private let totalLimit: Atomic<Int>
  private let total = Atomic<Int>(0)
  /// What was held of connections that have ended, until the socket is found empty.
  private let departed = Atomic<Int>(0)
  /// Above which total it is looked again for who holds the most.
  private let reliefDue = Atomic<Int>(0)
  private let isSwollen = Atomic<Bool>(false)
  private let hasJudged = Atomic<Bool>(false)
  private let hasSeenSealed = Atomic<Bool>(false)
  private let admissions = Atomic<UInt64>(0)
  /// What the loop has to know of connections.
  let events = ConnectionEvents()
  #if DEBUG
    /// Whether everything that peers send is passed on, and nothing is counted.
    ///
    /// Set before the gate is installed.
    var isUnguarded = false
  #endif

  /// Makes a gate that lets through what a peer may send by the protocol.
  ///
  /// - Parameters:
  ///   - frameBytes: the longest frame that libzmq takes.
  ///   - messages: how many messages of a connection libzmq lets wait.
  ///   - totalBytes: what all connections together may make the daemon hold.
  init(frameBytes: Int, messages: Int, totalBytes: Int) {
    // Frames without bytes, say: the protocol's messages have two or three.
    messageLimit = frameBytes + 1024 * InboundStream.frameCost
    // One more is being read, and one is on its way to the loop.
    connectionLimit = (messages + 2) * (frameBytes + 8 * InboundStream.frameCost)
    totalLimit = Atomic(totalBytes)
    capacity = Int(max(navd_descriptor_limit(), 1024))
    // Zeroes are nils, and pages that nobody touches take no memory.
    let size = unsafe MemoryLayout<Atomic<UnsafeMutablePointer<Entry>?>>.stride
    guard let room = unsafe navd_zeroes(capacity, size) else {
      preconditionFailure("no room for \(capacity) descriptors")
    }
    unsafe entries = room.bindMemory(
      to: Atomic<UnsafeMutablePointer<Entry>?>.self, capacity: capacity)
  }

  /// Puts it in the place of the C library's functions, for good.
  func install() {
    let gate = unsafe Unmanaged.passRetained(self).toOpaque()
    // Never released: a thread of libzmq may be about to use it.
    unsafe installedGate.store(gate, ordering: .releasing)
  }

  /// Takes another limit for all connections together.
  func setTotalLimit(_ bytes: Int) {
    totalLimit.store(bytes, ordering: .relaxed)
    reliefDue.store(0, ordering: .relaxed)
  }

  /// The highest descriptor behind which a peer has been.
  var highestDescriptor: Int32 { highest.load(ordering: .relaxed) }

  /// What the daemon holds now of messages that it has not taken.
  var heldBytes: Int { total.load(ordering: .relaxed) }

  /// How many more connections may be let in now, each of which may bring all that one may.
  var roomForConnections: Int {
    let room = totalLimit.load(ordering: .relaxed) - heldBytes
    return room < 0 ? 0 : max(1, room / connectionLimit)
  }

  /// Whether something that came by a descriptor was not taken yet.
  func holds(_ descriptor: Int32) -> Bool {
    guard let entry = unsafe entry(descriptor) else { return false }
    return unsafe entry.pointee.held.load(ordering: .relaxed) > 0
  }

  /// The number of the next admission, greater than all before.
  func nextAdmission() -> UInt64 {
    admissions.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// The kernel's number of the socket of an open connection; 0 if there is none.
  func cookie(of descriptor: Int32) -> UInt64 {
    guard let entry = unsafe entry(descriptor) else { return 0 }
    return unsafe entry.pointee.cookie.load(ordering: .relaxed)
  }

  /// Tells whether libzmq reads by the gate; it does once somebody asks to be let in.
  ///
  /// - Parameter isSealed: whether it must show what handshakes are sealed, too.
  /// - Returns: false if what peers send is not seen.
  func isInPlace(isSealed: Bool) -> Bool {
    hasJudged.load(ordering: .relaxed) && (!isSealed || hasSeenSealed.load(ordering: .relaxed))
  }

  private func entry(_ descriptor: Int32) -> UnsafeMutablePointer<Entry>? {
    guard descriptor >= 0, Int(descriptor) < capacity else { return nil }
    return unsafe entries[Int(descriptor)].load(ordering: .acquiring)
  }

  // What libzmq's threads say.

  /// Notes that a connection was accepted, before anything is read from it.
  ///
  /// - Returns: false for a descriptor that there is no room for, which is not to be read from.
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
    // The kernel names the user of every peer of this machine, nobody's if it cannot.
    return .process(user: UInt32(exactly: user) ?? .max, number: process)
  }

  /// Judges what was read.
  ///
  /// - Returns: whether it may be handed on.
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
    if total.load(ordering: .relaxed) > Self.swollen { isSwollen.store(true, ordering: .relaxed) }
    if held > connectionLimit {
      unsafe cut(descriptor, entry, .connectionLimit)
    } else if total.load(ordering: .relaxed)
      > max(totalLimit.load(ordering: .relaxed), reliefDue.load(ordering: .relaxed))
    {
      relieve()
    }
    guard unsafe entry.pointee.isCut.load(ordering: .relaxed) else { return true }
    // It will not be handed on.
    unsafe release(cost, of: entry)
    return false
  }

  /// Notes that a descriptor is about to be closed; most are none of the gate's.
  func noteClosed(_ descriptor: Int32) {
    if let entry = unsafe entry(descriptor) { unsafe end(descriptor, entry) }
  }

  /// Judges the properties of a sealed handshake.
  ///
  /// - Returns: whether they may be handed on.
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

  /// Ends a connection.
  ///
  /// Whole messages of it may still wait; they are counted apart, and not against the next connection
  /// with the same descriptor.
  private func end(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>) {
    let cookie = unsafe entry.pointee.cookie.exchange(0, ordering: .relaxed)
    guard cookie != 0 else { return }
    departed.add(unsafe entry.pointee.held.exchange(0, ordering: .relaxed), ordering: .relaxed)
    events.append(.closed(descriptor: descriptor, cookie: cookie))
  }

  // What the loop says.

  /// Notes that a message was taken off the socket.
  ///
  /// - Parameters:
  ///   - descriptor: where it came from.
  ///   - cookie: of the connection; what is held of one that has ended is not its descriptor's.
  ///   - bytes: of all of its frames.
  ///   - frames: how many there were.
  func noteTaken(_ descriptor: Int32, cookie: UInt64, bytes: Int, frames: Int) {
    guard let entry = unsafe entry(descriptor),
      unsafe entry.pointee.cookie.load(ordering: .relaxed) == cookie
    else { return }
    unsafe release(bytes + frames * InboundStream.frameCost, of: entry)
    unsafe entry.pointee.wasTaken.store(true, ordering: .relaxed)
  }

  /// Notes that the ROUTER was empty: no message of a closed connection waits.
  func noteEmpty() {
    if isSwollen.load(ordering: .relaxed), heldBytes <= Self.swollen {
      isSwollen.store(false, ordering: .relaxed)
      // The allocator keeps for each thread what was freed.
      navd_trim_memory()
    }
    guard departed.load(ordering: .relaxed) != 0 else { return }
    total.subtract(departed.exchange(0, ordering: .relaxed), ordering: .relaxed)
    reliefDue.store(0, ordering: .relaxed)
  }

  /// Releases what is held, though not more than that: a frame that was free may be taken, or one
  /// that came by a connection before behind the same descriptor.
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

  // Who is cut off.

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

  /// What is held that is worth giving back to the kernel afterwards.
  private static let swollen = 16 << 20

  /// Cuts off who made the daemon hold the most, while it holds too much of those who go on.
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
    // With what is left of those who have ended, one at a time: to cut off frees nothing at once, and
    // who has little waiting is not to blame.
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

  /// Whether the connection of an entry is still behind its descriptor; another thread may be closing it.
  private func isOpen(_ descriptor: Int32, _ entry: UnsafeMutablePointer<Entry>) -> Bool {
    unsafe entry.pointee.cookie.load(ordering: .relaxed) == navd_socket_cookie(descriptor)
  }
}

extension InboundGate.Reason {
  /// What the peer did, for people.
  var text: String {
    switch self {
    case .offence(.version): "it does not speak ZMTP 3"
    case .offence(.routingID): "it asked for a routing id, which is not for clients to choose"
    case .offence(.longMessage):
      "all frames of its message together are longer than [limits] message-to-daemon-bytes allows"
    case .offence(.command): "it told the transport what a client does not tell it"
    case .connectionLimit: "it sent more than waits for one connection, or a message without an end"
    case .totalLimit:
      "[limits] unread-total-bytes wait to be read, and it sent the most of them"
    }
  }
}
