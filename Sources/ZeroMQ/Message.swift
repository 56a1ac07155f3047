import CLinux
import CZeroMQ

/// One frame: a reference-counted run of bytes with the facts libzmq knows about its sender.
///
/// The `zmq_msg_t` lives at an address of its own: libzmq keeps short payloads inside it and
/// marks it when it is shared, so it may neither move nor be copied by the language. Keep one
/// message and receive into it again and again; that allocates nothing here.
package struct Message: ~Copyable {
  let storage: MessageStorage

  /// Makes an empty message, to receive into.
  package init() {
    storage = MessageStorage.empty()
  }

  /// Makes a message with a copy of an array.
  package init(copying bytes: [UInt8]) {
    storage = MessageStorage.copy(of: bytes.span)
  }

  private init(storage: MessageStorage) {
    self.storage = storage
  }

  deinit {
    storage.destroy()
  }

  /// Makes another message with the same bytes; long payloads are shared, not copied.
  ///
  /// Both may be sent, on different sockets and in any order. Mutating, because libzmq marks the
  /// original as shared.
  package mutating func share() -> Message {
    let copy = MessageStorage.empty()
    copy.share(storage)
    return Message(storage: copy)
  }

  /// Replaces the content with a copy of some bytes.
  package mutating func replace(copying bytes: Span<UInt8>) {
    storage.replace(copying: bytes)
  }

  /// The frame as a value to read from.
  package var frame: Frame {
    @_lifetime(borrow self)
    get {
      let frame = Frame(storage)
      return unsafe _overrideLifetime(frame, borrowing: self)
    }
  }

  /// The payload, valid as long as the message is neither changed, sent nor destroyed.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let span = Frame(storage).bytes
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The number of bytes in the payload.
  package var count: Int { storage.count }

  /// Whether more frames of the same multipart message follow this received one.
  package var more: Bool { storage.more }

  /// A copy of the payload.
  package func copyBytes() -> [UInt8] { frame.copyBytes() }

  /// Where the sender is; see ``Frame/peerAddress``.
  package var peerAddress: PeerAddress? { frame.peerAddress }

  /// The user the ZAP handler named; see ``Frame/userID``.
  package var userID: String? { frame.userID }
}

/// A frame of a ``Message`` or ``Multipart``, lent for reading.
package struct Frame: ~Copyable, ~Escapable {
  private let storage: MessageStorage

  @_lifetime(borrow storage)
  init(_ storage: borrowing MessageStorage) {
    self.storage = copy storage
  }

  /// The payload.
  package var bytes: Span<UInt8> {
    @_lifetime(copy self)
    get {
      // The address is the message's own, or within its zmq_msg_t, which does not move.
      let span = unsafe Span(_unsafeStart: storage.data, count: storage.count)
      return unsafe _overrideLifetime(span, copying: self)
    }
  }

  /// The number of bytes in the payload.
  package var count: Int { storage.count }

  /// A copy of the payload.
  package func copyBytes() -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: storage.data, count: storage.count))
  }

  /// Where the sender is, when it came over `ipc` or `tcp`.
  ///
  /// Read it on a payload frame. The routing id in front of it is made by the ROUTER and has
  /// no such property when a poll preceded the receive.
  package var peerAddress: PeerAddress? {
    storage.property("Peer-Address").map(PeerAddress.init(parsing:))
  }

  /// The user id the ZAP handler admitted the sender with.
  package var userID: String? { storage.property("User-Id") }

  /// The descriptor of the connection it came through, `nil` within the process.
  ///
  /// A hint: the number may belong to another connection by now.
  package var sourceDescriptor: Int32? { storage.sourceDescriptor }
}

/// Room for one whole multipart message, filled again and again by ``Socket/receive(into:)-(Multipart)``.
///
/// Law: `count <= capacity`, and `count + droppedFrames` is the number of frames that arrived.
@safe
package struct Multipart: ~Copyable {
  /// The number of frames that can be kept.
  package let capacity: Int
  /// The number of frames kept.
  package private(set) var count = 0
  /// The number of frames beyond ``capacity`` that were read and thrown away.
  package private(set) var droppedFrames = 0
  /// The bytes of all frames that arrived, also of those thrown away.
  package private(set) var byteCount = 0

  // `capacity` messages and a spare one for frames to throw away; all are always initialised.
  private let frames: UnsafeMutablePointer<zmq_msg_t>

  /// Makes room for a number of frames, at least one.
  package init(capacity: Int) {
    precondition(capacity > 0, "capacity=\(capacity)")
    self.capacity = capacity
    unsafe frames = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: capacity + 1)
    for index in 0...capacity {
      unsafe MessageStorage.initialize(frames + index)
    }
  }

  deinit {
    for index in 0...capacity {
      unsafe MessageStorage(frames + index).close()
    }
    unsafe frames.deallocate()
  }

  /// The frame at an index below ``count``.
  package subscript(index: Int) -> Frame {
    @_lifetime(borrow self)
    get {
      precondition(index >= 0 && index < count, "frame \(index) of \(count)")
      let frame = unsafe Frame(MessageStorage(frames + index))
      return unsafe _overrideLifetime(frame, borrowing: self)
    }
  }

  /// Copies of all frames kept.
  package func copyFrames() -> [[UInt8]] {
    var copies: [[UInt8]] = []
    copies.reserveCapacity(count)
    for index in 0..<count { copies.append(self[index].copyBytes()) }
    return copies
  }

  /// Forgets the message before; the payloads stay until they are overwritten.
  mutating func begin() {
    count = 0
    droppedFrames = 0
    byteCount = 0
  }

  /// Where the next frame goes: the spare message when all others are taken.
  var next: MessageStorage {
    unsafe MessageStorage(frames + count)
  }

  /// Counts the frame just received into ``next``.
  mutating func advance(_ bytes: Int) {
    byteCount += bytes
    if count < capacity { count += 1 } else { droppedFrames += 1 }
  }
}

/// A pointer to an initialised `zmq_msg_t`, with the operations on it; whoever makes one destroys it.
///
/// Every change of a message goes through the same address, as libzmq requires.
@safe
struct MessageStorage {
  let pointer: UnsafeMutablePointer<zmq_msg_t>

  /// Takes an initialised message that somebody else owns.
  init(_ pointer: UnsafeMutablePointer<zmq_msg_t>) {
    unsafe self.pointer = pointer
  }

  static func empty() -> MessageStorage {
    let pointer = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)
    unsafe initialize(pointer)
    return unsafe MessageStorage(pointer)
  }

  static func copy(of bytes: Span<UInt8>) -> MessageStorage {
    let storage = empty()
    storage.replace(copying: bytes)
    return storage
  }

  /// Makes raw memory an empty message.
  static func initialize(_ pointer: UnsafeMutablePointer<zmq_msg_t>) {
    // zmq_msg_init sets the bytes it needs and cannot fail; the rest is never read.
    let result = unsafe zmq_msg_init(pointer)
    assert(result == 0)
  }

  func destroy() {
    close()
    unsafe pointer.deallocate()
  }

  /// Releases the payload; the message must be initialised again before its next use.
  func close() {
    let result = unsafe zmq_msg_close(pointer)
    precondition(result == 0, "zmq_msg_close: not a message")
  }

  func replace(copying bytes: Span<UInt8>) {
    close()
    fill(copying: bytes)
  }

  /// Replaces nothing by a copy of some bytes; the message must be empty, as it is once it is sent.
  func fill(copying bytes: Span<UInt8>) {
    let result = unsafe zmq_msg_init_size(pointer, bytes.count)
    precondition(result == 0, "no memory for a message of \(bytes.count) bytes")
    guard !bytes.isEmpty else { return }
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      unsafe data.update(from: start, count: source.count)
    }
  }

  /// Makes the message empty.
  func clear() {
    close()
    unsafe Self.initialize(pointer)
  }

  /// Makes this message refer to the payload of another and marks that one as shared.
  func share(_ original: MessageStorage) {
    let result = unsafe zmq_msg_copy(pointer, original.pointer)
    precondition(result == 0, "zmq_msg_copy: not a message")
  }

  /// The first byte; never null, not even for an empty message.
  var data: UnsafeMutablePointer<UInt8> {
    guard let data = unsafe zmq_msg_data(pointer) else {
      preconditionFailure("zmq_msg_data returned null")
    }
    return unsafe data.assumingMemoryBound(to: UInt8.self)
  }

  var count: Int { unsafe zmq_msg_size(pointer) }

  var more: Bool { unsafe zmq_msg_more(pointer) != 0 }

  var sourceDescriptor: Int32? {
    let descriptor = unsafe zmq_msg_get(pointer, ZMQ_SRCFD)
    return descriptor >= 0 ? descriptor : nil
  }

  func property(_ name: String) -> String? {
    guard let text = unsafe zmq_msg_gets(pointer, name) else { return nil }
    return unsafe String(cString: text)
  }
}
