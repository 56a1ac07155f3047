import CJournal

/// A buffer for the output of LZ4.
///
/// Rows of one batch resemble each other. Compressing them takes less processor time than writing
/// the same rows uncompressed, once into the write-ahead log and again at the checkpoint.
@safe struct LZ4Buffer: ~Copyable {
  /// The minimum of bytes to compress; fewer bytes fit into one page anyway.
  static let minimumBytes = 1024
  /// The maximum of uncompressed bytes that `unpack` accepts, whatever size a damaged row has.
  private static let maximumUnpackedBytes: UInt64 = 1 << 30

  /// LZ4's acceleration: 4 takes a sixth less instructions than 1, for 10 % more bytes.
  private static let acceleration: Int32 = 4

  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0
  /// LZ4's hash table of 16 KB, which is reused for each group without clearing it.
  private var stream: UnsafeMutablePointer<LZ4_stream_t>?

  deinit {
    unsafe memory?.deallocate()
    unsafe LZ4_freeStream(stream)
  }

  var isEmpty: Bool { count == 0 }

  mutating func clear() { count = 0 }

  /// Compresses bytes; the buffer stays empty for fewer than 1,024 bytes, or if that saves less
  /// than an eighth.
  mutating func pack(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.minimumBytes, bytes.count <= Int(LZ4_MAX_INPUT_SIZE) else { return }
    let room = bytes.count - bytes.count / 8
    if room > capacity {
      unsafe memory?.deallocate()
      unsafe memory = .allocate(byteCount: room, alignment: 1)
      capacity = room
    }
    if unsafe stream == nil { unsafe stream = LZ4_createStream() }
    guard let stream = unsafe stream,
      let target = unsafe memory?.assumingMemoryBound(to: CChar.self)
    else { return }
    let result = unsafe bytes.withUnsafeBytes { source in
      // No group refers to an earlier one, so each can be decompressed alone.
      unsafe LZ4_resetStream_fast(stream)
      // LZ4 returns 0 if the output does not fit.
      return unsafe LZ4_compress_fast_continue(
        stream, source.baseAddress?.assumingMemoryBound(to: CChar.self), target,
        Int32(source.count), Int32(room), Self.acceleration)
    }
    count = max(0, Int(result))
    guard count == 0 else { return }
    // The state of the stream is undefined after a failure.
    unsafe LZ4_freeStream(stream)
    unsafe self.stream = nil
  }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // The bytes are initialised, and stay in place while this is borrowed.
      let buffer = unsafe UnsafeRawBufferPointer(start: memory, count: count)
      let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Decompresses bytes; returns nil unless the result has exactly `size` bytes.
  static func unpack(_ bytes: Span<UInt8>, size: UInt64) -> [UInt8]? {
    guard size > 0, size <= maximumUnpackedBytes, bytes.count <= Int(Int32.max) else { return nil }
    var isWhole = false
    let unpacked = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { target, written in
      let result = unsafe bytes.withUnsafeBytes { source in
        unsafe LZ4_decompress_safe(
          source.baseAddress?.assumingMemoryBound(to: CChar.self),
          UnsafeMutableRawPointer(target.baseAddress)?.assumingMemoryBound(to: CChar.self),
          Int32(source.count), Int32(size))
      }
      isWhole = result == Int32(size)
      written = isWhole ? Int(size) : 0
    }
    return isWhole ? unpacked : nil
  }
}
