import CZeroMQ

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
