/// A byte buffer that is filled again and again in the same memory.
@safe struct ScratchBuffer: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private let usualCapacity: Int
  private(set) var count = 0

  /// The maximum size of a number: 64 bits in bytes of seven bits.
  private static let mostNumberBytes = 10

  /// Makes an empty buffer with room for `capacity` bytes.
  init(capacity: Int) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 1)
    self.capacity = capacity
    usualCapacity = capacity
  }

  deinit { unsafe memory.deallocate() }

  /// Empties the buffer.
  mutating func clear() {
    count = 0
    // Much longer contents are rare, so their memory is not kept.
    if capacity > 4 * usualCapacity { replaceMemory(usualCapacity) }
  }

  /// The contents.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // The bytes are initialised, and stay in place while this is borrowed.
      let span = unsafe Span<UInt8>(
        _unsafeStart: memory.assumingMemoryBound(to: UInt8.self), count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Appends bytes.
  mutating func append(_ bytes: Span<UInt8>) {
    makeRoom(bytes.count)
    unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      // The capacity was checked above.
      unsafe (memory + count).copyMemory(from: start, byteCount: buffer.count)
    }
    count += bytes.count
  }

  /// Replaces the first byte, which must exist.
  mutating func replaceFirst(by byte: UInt8) {
    precondition(count > 0, "there is no first byte")
    unsafe memory.storeBytes(of: byte, as: UInt8.self)
  }

  /// Appends a byte.
  mutating func append(_ byte: UInt8) {
    makeRoom(1)
    unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Makes room for this many numbers.
  @inline(__always)
  mutating func makeRoom(numbers: Int) { makeRoom(numbers * Self.mostNumberBytes) }

  /// Appends a number with seven bits in each byte, the least significant first.
  ///
  /// The caller has made room for it.
  @inline(__always)
  mutating func append(number: UInt64) {
    assert(count + Self.mostNumberBytes <= capacity, "no room was made")
    var rest = number
    while rest > 0x7F {
      unsafe memory.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      count += 1
      rest >>= 7
    }
    unsafe memory.storeBytes(
      of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  private mutating func makeRoom(_ more: Int) {
    if count + more > capacity { replaceMemory(max(count + more, capacity * 2)) }
  }

  private mutating func replaceMemory(_ wanted: Int) {
    let other = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe other.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = other
    capacity = wanted
  }
}
