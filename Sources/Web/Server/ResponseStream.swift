import CMicroHTTPD

/// The body of a response that goes on, such as a stream of messages.
///
/// All methods run on the server's thread. The server retains the stream while the response lasts.
@safe
final class ResponseStream {
  /// The number of sent octets at which the buffer drops them.
  private static let compactionBytes = 65_536

  /// The octets that wait for the socket, from `firstUnsent` on; those before were sent.
  private var buffer: [UInt8] = []
  private var firstUnsent = 0
  private var isEnding = false
  private var isAborted = false
  private var connection: OpaquePointer?
  private var isSuspended = false
  /// How many octets libmicrohttpd has taken for the socket so far.
  private(set) var takenBytes: UInt64 = 0
  /// Whether the response is over, or its connection closed.
  private(set) var isOver = false
  /// Called once, when libmicrohttpd has released the response.
  var whenOver: () -> Void = {}

  var pendingBytes: Int { buffer.count - firstUnsent }

  /// Whether nothing waits for the socket, also not in libmicrohttpd.
  ///
  /// `copyPending` moves up to 16 KiB into the buffer of libmicrohttpd. libmicrohttpd asks for more,
  /// and this stream suspends it, only after the socket has taken all of them.
  var isDrained: Bool { pendingBytes == 0 && isSuspended }

  /// The size of the buffer, with the sent octets that it has not dropped yet.
  var bufferedBytes: Int { buffer.count }

  func send(_ bytes: [UInt8]) {
    guard !isEnding, !isOver else { return }
    if firstUnsent == buffer.count {
      buffer = bytes
      firstUnsent = 0
    } else {
      buffer += bytes
    }
    resume()
  }

  /// Ends the response after the socket has taken all waiting octets.
  func end() {
    isEnding = true
    resume()
  }

  func abort() {
    isAborted = true
    resume()
    guard let connection = unsafe connection, !isOver else { return }
    // A connection that waits for its peer notices only this.
    unsafe navd_http_shut_down(connection)
  }

  func begin(_ connection: OpaquePointer) { unsafe self.connection = connection }

  /// The connection's descriptor; -1 before the response begins.
  var descriptor: Int32 {
    guard let connection = unsafe connection else { return -1 }
    return unsafe navd_http_connection_descriptor(connection)
  }

  /// Copies the next octets for libmicrohttpd, which alone calls it; returns their number.
  func copyPending(to target: UnsafeMutablePointer<CChar>, _ limit: Int) -> Int {
    if isAborted { return Int(MHD_CONTENT_READER_END_WITH_ERROR_) }
    let count = min(pendingBytes, limit)
    guard count > 0 else {
      if isEnding { return Int(MHD_CONTENT_READER_END_OF_STREAM_) }
      // Without this, libmicrohttpd would ask again at once, for ever.
      if let connection = unsafe connection { unsafe MHD_suspend_connection(connection) }
      isSuspended = true
      return 0
    }
    unsafe buffer[firstUnsent..<firstUnsent + count].withUnsafeBytes { bytes in
      let room = unsafe UnsafeMutableRawBufferPointer(start: target, count: limit)
      unsafe room.copyMemory(from: bytes)
    }
    firstUnsent += count
    takenBytes += UInt64(count)
    if firstUnsent == buffer.count {
      (buffer, firstUnsent) = ([], 0)
    } else if firstUnsent >= Self.compactionBytes {
      // A peer that is always behind would otherwise keep all that it ever got.
      buffer.removeFirst(firstUnsent)
      firstUnsent = 0
    }
    return count
  }

  /// Notes that libmicrohttpd has released the response.
  func noteReleased() {
    isOver = true
    unsafe connection = nil
    whenOver()
  }

  private func resume() {
    guard isSuspended, let connection = unsafe connection else { return }
    isSuspended = false
    unsafe MHD_resume_connection(connection)
  }
}
