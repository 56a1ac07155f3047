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
