import CZeroMQ

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
