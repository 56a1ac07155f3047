import CZeroMQ
import Synchronization

/// A payload for several peers, which ``Socket/send(to:isEnveloped:head:sharing:)`` sends without a
/// copy for each.
///
/// The `zmq_msg_t` has a fixed address of its own. libzmq keeps short payloads inside it and marks
/// shared ones in it, so Swift must neither move nor copy it.
package struct Message: ~Copyable {
  let storage: MessageStorage

  /// The octets of all long payloads to send that libzmq has not freed, each with `overheadOctets`.
  package static var heldOctets: Int { heldOctetsOfAll.load(ordering: .relaxed) }

  /// The size from which a payload is long, so that ``heldOctets`` counts it.
  ///
  /// Counting a payload costs an allocation, and a cache line shared by threads. With all payloads
  /// counted, navd performed 12 % fewer operations of one connection per second.
  package static var longPayloadOctets: Int { 2048 }

  /// The octets to count for the memory that libzmq uses beside each payload, long or short.
  package static var overheadOctets: Int { 256 }

  package init() {
    storage = MessageStorage.empty()
  }

  package init(copying bytes: [UInt8]) {
    storage = MessageStorage.empty()
    storage.fill(copying: bytes.span)
  }

  deinit {
    storage.destroy()
  }
}

/// A read-only view of a frame in a ``Multipart``.
package struct Frame: ~Copyable, ~Escapable {
  private let storage: MessageStorage
  package let count: Int

  @_lifetime(borrow storage)
  init(_ storage: borrowing MessageStorage, count: Int) {
    self.storage = copy storage
    self.count = count
  }

  package var bytes: Span<UInt8> {
    @_lifetime(copy self)
    get {
      // The address is in the payload or inside the zmq_msg_t, and neither of them moves.
      let span = unsafe Span(_unsafeStart: storage.data, count: count)
      return unsafe _overrideLifetime(span, copying: self)
    }
  }

  package func copyBytes() -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: storage.data, count: count))
  }

  /// The address of a sender over `ipc` or `tcp`; nil for others.
  ///
  /// Read it from a payload frame. The ROUTER itself makes the routing id frame, which lacks the
  /// property if a poll preceded the receive.
  package var peerAddress: PeerAddress? {
    storage.property("Peer-Address").map(PeerAddress.init(parsing:))
  }

  /// The user id that the ZAP handler gave the sender; nil without one.
  package var userID: String? { storage.property("User-Id") }

  /// The descriptor of the connection that delivered the frame; nil for `inproc`.
  ///
  /// The kernel may have given the number to another connection since.
  package var sourceDescriptor: Int32? { storage.sourceDescriptor }
}

/// A reusable buffer for one multipart message, filled by ``Socket/receive(into:)-(Multipart)``.
///
/// Law: `count <= capacity`, and `count + droppedFrames` is the number of frames received.
@safe
package struct Multipart: ~Copyable {
  package let capacity: Int
  package private(set) var count = 0
  /// The number of frames beyond ``capacity``, which the receive dropped.
  package private(set) var droppedFrames = 0
  /// The bytes of all frames received, including dropped ones.
  package private(set) var byteCount = 0

  // `capacity` messages, and a spare one for dropped frames. All of them are always initialised.
  private let frames: UnsafeMutablePointer<zmq_msg_t>
  // The size of each of these messages in bytes. libzmq returns it with the message; a call for
  // every use would cost an op 100 instructions.
  private let frameSizes: UnsafeMutablePointer<Int>

  /// Makes a buffer for a number of frames, at least one.
  package init(capacity: Int) {
    precondition(capacity > 0, "capacity=\(capacity)")
    self.capacity = capacity
    unsafe frames = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: capacity + 1)
    unsafe frameSizes = UnsafeMutablePointer<Int>.allocate(capacity: capacity + 1)
    unsafe frameSizes.initialize(repeating: 0, count: capacity + 1)
    for index in 0...capacity {
      unsafe MessageStorage.initialize(frames + index)
    }
  }

  deinit {
    for index in 0...capacity {
      unsafe MessageStorage(frames + index).close()
    }
    unsafe frames.deallocate()
    unsafe frameSizes.deallocate()
  }

  /// The frame at an index below ``count``.
  package subscript(index: Int) -> Frame {
    @_lifetime(borrow self)
    get {
      precondition(index >= 0 && index < count, "frame \(index) of \(count)")
      let frame = unsafe Frame(MessageStorage(frames + index), count: frameSizes[index])
      return unsafe _overrideLifetime(frame, borrowing: self)
    }
  }

  package func copyFrames() -> [[UInt8]] {
    var copies: [[UInt8]] = []
    copies.reserveCapacity(count)
    for index in 0..<count { copies.append(self[index].copyBytes()) }
    return copies
  }

  /// Empties the buffer; the payloads stay allocated until the next frames replace them.
  mutating func reset() {
    count = 0
    droppedFrames = 0
    byteCount = 0
  }

  /// The `zmq_msg_t` for the next frame; the spare one if the buffer is full.
  var nextFrame: MessageStorage {
    unsafe MessageStorage(frames + count)
  }

  /// Counts the frame that a receive has put into ``nextFrame``.
  mutating func countFrame(_ bytes: Int) {
    byteCount += bytes
    // At most `capacity`, the place of the spare message.
    unsafe frameSizes[count] = bytes
    if count < capacity { count += 1 } else { droppedFrames += 1 }
  }
}

private let heldOctetsOfAll = Atomic<Int>(0)

/// A pointer to an initialised `zmq_msg_t`, with libzmq's operations on it.
///
/// The owner calls `destroy`. libzmq requires that every change of a message uses the same address.
@safe
struct MessageStorage {
  let pointer: UnsafeMutablePointer<zmq_msg_t>

  /// Refers to an initialised message of the caller.
  init(_ pointer: UnsafeMutablePointer<zmq_msg_t>) {
    unsafe self.pointer = pointer
  }

  static func empty() -> MessageStorage {
    let pointer = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)
    unsafe initialize(pointer)
    return unsafe MessageStorage(pointer)
  }

  /// Initialises raw memory as an empty message.
  static func initialize(_ pointer: UnsafeMutablePointer<zmq_msg_t>) {
    // zmq_msg_init sets the bytes that libzmq needs, and cannot fail.
    let result = unsafe zmq_msg_init(pointer)
    assert(result == 0)
  }

  func destroy() {
    close()
    unsafe pointer.deallocate()
  }

  /// Releases the payload; the caller must initialise the message again before its next use.
  func close() {
    let result = unsafe zmq_msg_close(pointer)
    precondition(result == 0, "zmq_msg_close: not a message")
  }

  /// Copies bytes into the message, which is empty; libzmq empties a message that it sends.
  func fill(copying bytes: Span<UInt8>) {
    let result =
      bytes.count >= Message.longPayloadOctets
      ? initializeCounted(octets: bytes.count) : initialize(bytes.count)
    precondition(result == 0, "no memory for a message of \(bytes.count) bytes")
    guard !bytes.isEmpty else { return }
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      unsafe data.update(from: start, count: source.count)
    }
  }

  private func initialize(_ count: Int) -> Int32 { unsafe zmq_msg_init_size(pointer, count) }

  /// Allocates a payload that ``Message/heldOctets`` counts until libzmq frees it.
  private func initializeCounted(octets count: Int) -> Int32 {
    let cost = count + Message.overheadOctets
    guard let room = unsafe malloc(count) else { return -1 }
    heldOctetsOfAll.add(cost, ordering: .relaxed)
    // libzmq calls the function on any thread, once the last message that shares the payload ends.
    return unsafe zmq_msg_init_data(
      pointer, room, count,
      { room, cost in
        unsafe free(room)
        heldOctetsOfAll.subtract(Int(bitPattern: cost), ordering: .relaxed)
      }, UnsafeMutableRawPointer(bitPattern: cost))
  }

  /// Releases the payload and makes the message empty.
  func clear() {
    close()
    unsafe Self.initialize(pointer)
  }

  /// Makes this message refer to the payload of another.
  func share(_ original: MessageStorage) {
    let result = unsafe zmq_msg_copy(pointer, original.pointer)
    precondition(result == 0, "zmq_msg_copy: not a message")
  }

  /// The address of the first byte, which is never null, even for an empty message.
  var data: UnsafeMutablePointer<UInt8> {
    guard let data = unsafe zmq_msg_data(pointer) else {
      preconditionFailure("zmq_msg_data returned null")
    }
    return unsafe data.assumingMemoryBound(to: UInt8.self)
  }

  /// The size of the payload in octets, for tests; libzmq returns it with each message received.
  var count: Int { unsafe zmq_msg_size(pointer) }

  var hasMore: Bool { unsafe zmq_msg_more(pointer) != 0 }

  var sourceDescriptor: Int32? {
    let descriptor = unsafe zmq_msg_get(pointer, ZMQ_SRCFD)
    return descriptor >= 0 ? descriptor : nil
  }

  func property(_ name: String) -> String? {
    guard let text = unsafe zmq_msg_gets(pointer, name) else { return nil }
    return unsafe String(cString: text)
  }
}
