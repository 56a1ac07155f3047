/// Bytes that grow at their end, in memory of their own.
///
/// An array checks at every append whether it is shared; this never is. All of a message is written
/// here, and copied once.
@safe struct ByteBuffer: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// How many bytes there are.
  private(set) var count = 0

  /// Makes an empty buffer.
  init(reserving capacity: Int) {
    self.capacity = max(capacity, 16)
    unsafe memory = .allocate(byteCount: self.capacity, alignment: 1)
  }

  deinit { unsafe memory.deallocate() }

  /// The bytes.
  var array: [UInt8] {
    let count = count
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, initialised in
      if let base = target.baseAddress {
        unsafe UnsafeMutableRawPointer(base).copyMemory(from: memory, byteCount: count)
      }
      initialised = count
    }
  }

  /// Appends a byte.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    write(byte)
  }

  /// Appends the bytes of a literal.
  @inline(__always)
  mutating func append(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    write(text)
  }

  /// Appends bytes.
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    reserve(bytes.count)
    // Room has just been made.
    unsafe (memory + count).copyMemory(from: base, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends bytes.
  mutating func append(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  /// Appends bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  /// Appends the UTF-8 of a text.
  mutating func append(_ text: String) {
    let isContiguous: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      unsafe append(UnsafeRawBufferPointer(utf8))
    }
    guard isContiguous == nil else { return }
    for byte in text.utf8 { append(byte) }
  }

  /// Forgets the bytes, to write others into the same memory.
  mutating func removeAll() { count = 0 }

  /// Continues a CRC-32 over the bytes.
  borrowing func checksum(from seed: UInt32) -> UInt32 {
    // What is there was written.
    let span = unsafe Span<UInt8>(
      _unsafeStart: memory.assumingMemoryBound(to: UInt8.self), count: count)
    return crc32(span, seed: seed)
  }

  /// Appends a literal in quotes with what goes before and behind it, at once.
  @inline(__always)
  mutating func appendQuoted(_ text: StaticString, hasComma: Bool, hasColon: Bool) {
    reserve(text.utf8CodeUnitCount + 4)
    if hasComma { write(0x2C) }
    write(0x22)
    write(text)
    write(0x22)
    if hasColon { write(0x3A) }
  }

  /// Appends eight bytes.
  @inline(__always)
  mutating func append(_ word: ByteWord) {
    reserve(8)
    // Room has just been made.
    unsafe memory.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  /// Appends the decimal digits of a number.
  mutating func appendDigits(_ value: UInt64) {
    let size = Self.digits(of: value)
    reserve(size)
    count += size
    var position = count
    var rest = value
    // Two digits a division.
    while rest >= 10 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      position -= 2
      // Within the digits counted above, for which room was made.
      unsafe memory.storeBytes(
        of: 0x3030 + UInt16(truncatingIfNeeded: (pair / 10) | ((pair % 10) << 8)).littleEndian,
        toByteOffset: position, as: UInt16.self)
      rest = quotient
    }
    // An odd digit is left over, which comes first.
    guard position > count - size else { return }
    unsafe memory.storeBytes(
      of: 0x30 + UInt8(truncatingIfNeeded: rest), toByteOffset: position - 1, as: UInt8.self)
  }

  /// How many digits a number has; 64 bits have at most 20.
  private static func digits(of value: UInt64) -> Int {
    var size = 1
    var limit: UInt64 = 10
    while value >= limit {
      size += 1
      guard size < 20 else { break }
      limit *= 10
    }
    return size
  }

  // Room must have been made for these.

  @inline(__always)
  private mutating func write(_ byte: UInt8) {
    unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  private mutating func write(_ text: StaticString) {
    let size = text.utf8CodeUnitCount
    unsafe (memory + count).copyMemory(from: text.utf8Start, byteCount: size)
    count += size
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let wanted = max(capacity * 2, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = larger
    capacity = wanted
  }
}
