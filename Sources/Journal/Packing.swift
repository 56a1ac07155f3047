import CLZ4

/// What LZ4 makes of bytes.
///
/// Records of one batch are much alike: to pack them takes less of the processor than to write what
/// they would be, and to write it again when the write-ahead log is put away.
@safe struct Packing: ~Copyable {
  /// Fewer bytes are not worth it: they are a page as they are.
  static let fewestBytes = 1024
  /// No more than this is unpacked, whatever a row says.
  private static let mostBytes: UInt64 = 1 << 30

  /// How much LZ4 may overlook for speed: 2 takes an eighth less time than 1, for 3 % more bytes.
  private static let acceleration: Int32 = 2

  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0
  /// LZ4's table of what it has seen: 16 KB, which are not cleared for each group.
  private var stream: UnsafeMutablePointer<LZ4_stream_t>?

  deinit {
    unsafe memory?.deallocate()
    unsafe LZ4_freeStream(stream)
  }

  init() {}

  /// Whether nothing is packed.
  var isEmpty: Bool { count == 0 }

  /// Forgets what was packed.
  mutating func clear() { count = 0 }

  /// Packs bytes; nothing is packed if there are few, or if it does not save an eighth.
  mutating func pack(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.fewestBytes, bytes.count <= Int(LZ4_MAX_INPUT_SIZE) else { return }
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
      // Nothing refers to the group before, so each is unpacked alone.
      unsafe LZ4_resetStream_fast(stream)
      // 0 if it would not fit.
      return unsafe LZ4_compress_fast_continue(
        stream, source.baseAddress?.assumingMemoryBound(to: CChar.self), target,
        Int32(source.count), Int32(room), Self.acceleration)
    }
    count = max(0, Int(result))
    guard count == 0 else { return }
    // The stream's state is undefined behind a failure.
    unsafe LZ4_freeStream(stream)
    unsafe self.stream = nil
  }

  /// What was packed.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // What is there was written, and stays in place while this is borrowed.
      let buffer = unsafe UnsafeRawBufferPointer(start: memory, count: count)
      let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// What was packed into `bytes`; nil if it is not `size` bytes.
  static func unpack(_ bytes: Span<UInt8>, size: UInt64) -> [UInt8]? {
    guard size > 0, size <= mostBytes, bytes.count <= Int(Int32.max) else { return nil }
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
