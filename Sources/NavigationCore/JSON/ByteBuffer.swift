/// A byte buffer that grows at its end and owns its memory.
///
/// The writer encodes a whole message here and copies it once. An array would check at every append
/// whether it is shared; this buffer never is.
@safe struct ByteBuffer: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// Whether the memory belongs to a caller, who keeps it alive as long as this buffer.
  private var isLent = false
  private(set) var count = 0

  /// Makes an empty buffer with room for `capacity` bytes, at least 16.
  init(reserving capacity: Int) {
    self.capacity = max(capacity, 16)
    unsafe memory = .allocate(byteCount: self.capacity, alignment: 1)
  }

  /// Makes an empty buffer in memory that the caller keeps alive longer than the buffer.
  @unsafe
  init(lent memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { preconditionFailure("no memory is lent") }
    unsafe self.memory = unsafe start
    capacity = memory.count
    isLent = true
  }

  deinit { if !isLent { unsafe memory.deallocate() } }

  /// The last byte; 0 if the buffer is empty.
  var last: UInt8 {
    count > 0 ? unsafe memory.load(fromByteOffset: count &- 1, as: UInt8.self) : 0
  }

  /// Copies the first `size` bytes; `size` is at most `count`.
  func prefix(_ size: Int) -> [UInt8] {
    precondition(size >= 0 && size <= count)
    // The first `count` bytes are initialised. `[UInt8](buffer)` copies by code for bytes. The
    // initialiser that lends uninitialised memory looks its type up at each call, which costs more.
    return unsafe [UInt8](UnsafeRawBufferPointer(start: memory, count: size))
  }

  /// Removes all bytes, but keeps the memory.
  mutating func removeAll() { count = 0 }

  /// Removes the bytes from `size` on; `size` is at most `count`.
  mutating func remove(from size: Int) {
    precondition(size >= 0 && size <= count)
    count = size
  }

  /// A part of the bytes, which must be within `count`.
  @_lifetime(borrow self)
  func bytes(_ range: Range<Int>) -> Span<UInt8> {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    // The bytes are initialised, and stay in place while this is borrowed.
    let span = unsafe Span<UInt8>(
      _unsafeStart: (memory + range.lowerBound).assumingMemoryBound(to: UInt8.self),
      count: range.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Closes an object or list: removes a comma at the end, if there is one, and appends `end` and a
  /// comma.
  mutating func appendEnd(_ end: UInt8) {
    precondition(count > 0)
    reserve(2)
    if last == 0x2C { count &-= 1 }
    write(end)
    write(0x2C)
  }

  @inline(__always)
  mutating func append(_ first: UInt8, _ second: UInt8) {
    reserve(2)
    write(first)
    write(second)
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    write(byte)
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    write(text)
  }

  /// Appends a member name, which needs no escapes, in quotes and followed by a colon.
  @inline(__always)
  mutating func appendName(_ name: StaticString) {
    reserve(name.utf8CodeUnitCount + 3)
    write(0x22)
    write(name)
    write(0x22)
    write(0x3A)
  }

  mutating func append(_ bytes: Span<UInt8>, _ end: UInt8) {
    reserve(bytes.count + 1)
    write(bytes)
    write(end)
  }

  mutating func append(_ bytes: Span<UInt8>) {
    reserve(bytes.count)
    write(bytes)
  }

  /// Appends a JSON string with quotes and escapes, followed by the byte `end`.
  mutating func appendString(_ text: Span<UInt8>, _ end: UInt8) {
    // Words are stored whole, so up to seven bytes beyond the text are written.
    reserve(text.count &+ 10)
    write(0x22)
    let plain = writePlain(text)
    if plain < text.count { return appendEscaped(text, from: plain, end) }
    write(0x22)
    write(end)
  }

  /// Appends a text that needs no escapes, in quotes and followed by a comma.
  mutating func appendWord(_ text: Span<UInt8>) {
    let size = text.count
    reserve(size &+ 10)
    write(0x22)
    if size >= 8, size <= 16 {
      // The second word overlaps the first.
      store(ByteWord(text, at: 0), at: count)
      store(ByteWord(text, at: size &- 8), at: count &+ size &- 8)
      count &+= size
    } else if size > 0, size < 8 {
      store(ByteWord(padding: text), at: count)
      count &+= size
    } else {
      write(text)
    }
    write(0x22)
    write(0x2C)
  }

  /// Appends 64 bits as 16 hex digits in quotes, followed by a comma.
  mutating func appendHex(_ bits: UInt64) {
    reserve(19)
    write(0x22)
    writeHex(bits)
    write(0x22)
    write(0x2C)
  }

  /// Appends 128 bits as 32 hex digits in quotes, followed by a comma.
  mutating func appendHex(_ high: UInt64, _ low: UInt64) {
    reserve(35)
    write(0x22)
    writeHex(high)
    writeHex(low)
    write(0x22)
    write(0x2C)
  }

  /// Appends 96 bits as 24 hex digits in quotes, followed by a comma.
  mutating func appendHex(_ high: UInt32, _ low: UInt64) {
    reserve(27)
    write(0x22)
    store(ByteWord(hexDigitsOf: high), at: count)
    count &+= 8
    writeHex(low)
    write(0x22)
    write(0x2C)
  }

  /// Appends the decimal digits of a number, followed by a comma.
  mutating func appendInteger(_ value: UInt64) {
    // At most three words of 8 bytes, and the comma. A word may be stored with bytes beyond its
    // digits.
    reserve(25)
    if value < 10 {
      write(0x30 | UInt8(truncatingIfNeeded: value))
    } else if value < 100_000_000 {
      writeDigits(value)
    } else {
      writeLongDigits(value)
    }
    write(0x2C)
  }

  // The functions below do not check the capacity: their callers have called `reserve`.

  @inline(__always)
  private mutating func write(_ byte: UInt8) {
    unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  @inline(__always)
  private mutating func write(_ text: StaticString) {
    let size = text.utf8CodeUnitCount
    unsafe (memory + count).copyMemory(from: text.utf8Start, byteCount: size)
    count &+= size
  }

  @inline(__always)
  private mutating func write(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return }
      unsafe (memory + count).copyMemory(from: base, byteCount: source.count)
    }
    count &+= bytes.count
  }

  @inline(__always)
  private func store(_ word: ByteWord, at offset: Int) {
    unsafe memory.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private mutating func writeHex(_ bits: UInt64) {
    store(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits >> 32)), at: count)
    store(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits)), at: count &+ 8)
    count &+= 16
  }

  /// Writes the digits of a number below 100,000,000 without leading zeros.
  @inline(__always)
  private mutating func writeDigits(_ value: UInt64) {
    let (word, size) = ByteWord.trimmedDigits(of: value)
    store(word, at: count)
    count &+= size
  }

  @inline(never)
  private mutating func writeLongDigits(_ value: UInt64) {
    let unit: UInt64 = 100_000_000
    let (rest, last) = value.quotientAndRemainder(dividingBy: unit)
    if rest < unit {
      writeDigits(rest)
    } else {
      writeDigits(rest / unit)
      store(ByteWord(digitsOf: rest % unit), at: count)
      count &+= 8
    }
    store(ByteWord(digitsOf: last), at: count)
    count &+= 8
  }

  /// Writes a text that needs no escapes, eight bytes at a time.
  ///
  /// Stops at the first word that has a byte to escape; returns the number of bytes written.
  @inline(__always)
  private mutating func writePlain(_ text: Span<UInt8>) -> Int {
    let start = count
    let size = text.count
    guard size >= 8 else {
      guard size > 0 else { return 0 }
      let word = ByteWord(padding: text)
      guard !word.needsEscape else { return 0 }
      store(word, at: start)
      count = start &+ size
      return size
    }
    let last = size &- 8
    var index = 0
    // Two words at a time, because most texts are titles.
    while index <= last &- 8 {
      // Both words are in bounds by the loop's condition.
      let first = unsafe ByteWord(unchecked: text, at: index)
      let second = unsafe ByteWord(unchecked: text, at: index &+ 8)
      if first.escapes | second.escapes != 0 { break }
      store(first, at: start &+ index)
      store(second, at: start &+ index &+ 8)
      index &+= 16
    }
    while index < last {
      let word = ByteWord(text, at: index)
      guard !word.needsEscape else {
        count = start &+ index
        return index
      }
      store(word, at: start &+ index)
      index &+= 8
    }
    // The last word may overlap the one before.
    let word = ByteWord(text, at: last)
    guard !word.needsEscape else {
      index = min(index, last)
      count = start &+ index
      return index
    }
    store(word, at: start &+ last)
    count = start &+ size
    return size
  }

  @inline(never)
  private mutating func appendEscaped(_ text: Span<UInt8>, from start: Int, _ end: UInt8) {
    var index = start
    while index < text.count {
      let special = ByteWord.firstSpecial(in: text, from: index)
      append(text.extracting(index..<special))
      guard special < text.count else { break }
      appendEscape(text[special])
      index = special + 1
    }
    append(0x22, end)
  }

  private mutating func appendEscape(_ byte: UInt8) {
    switch byte {
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    case 0x22, 0x5C: append(0x5C, byte)
    default:
      append("\\u00")
      append(Self.hexDigit(byte >> 4), Self.hexDigit(byte & 15))
    }
  }

  private static func hexDigit(_ digit: UInt8) -> UInt8 {
    digit < 10 ? 0x30 + digit : 0x57 + digit
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity &- count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let wanted = max(capacity * 2, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    if !isLent { unsafe memory.deallocate() }
    isLent = false
    unsafe memory = larger
    capacity = wanted
  }
}

extension [UInt8] {
  package init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { buffer in unsafe [UInt8](buffer) }
  }
}
