/// Writes JSON straight into bytes, with members in the order of the calls.
///
/// The writer appends a comma after each value, and removes it at the end of an object or list. So
/// it needs no check before a name or a value. The writer owns its memory. An array would check at
/// every append whether its memory is shared; the writer's memory never is.
@safe
package struct JSONWriter: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// Whether the memory belongs to the caller, who frees it after the writer's end.
  private var isMemoryBorrowed = false
  /// The byte offset at which the next name or value will begin.
  package private(set) var position = 0
  private static let comma: UInt8 = 0x2C

  /// Makes a writer with room for `capacity` bytes, at least 16.
  package init(reserving capacity: Int = 256) {
    self.capacity = max(capacity, 16)
    unsafe memory = .allocate(byteCount: self.capacity, alignment: 1)
  }

  /// Makes a writer in memory that the caller keeps alive longer than the writer.
  @unsafe
  private init(borrowing memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { preconditionFailure("no memory is lent") }
    unsafe self.memory = unsafe start
    capacity = memory.count
    isMemoryBorrowed = true
  }

  deinit { if !isMemoryBorrowed { unsafe memory.deallocate() } }

  /// Calls `body` with a writer that uses 1,024 bytes of the stack, and the heap if these do not
  /// suffice.
  package static func withStackMemory(_ body: (inout JSONWriter) -> Void) {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
      var json = unsafe JSONWriter(borrowing: memory)
      body(&json)
    }
  }

  /// A copy of the JSON written so far; O(size).
  package var bytes: [UInt8] { copy(ofFirst: count) }

  package var written: Span<UInt8> {
    @_lifetime(borrow self)
    get { span(0..<count) }
  }

  /// The bytes written so far, with the comma after the last value.
  ///
  /// Binary values may end with the byte of a comma.
  package var writtenWithComma: Span<UInt8> {
    @_lifetime(borrow self)
    get { span(0..<position) }
  }

  /// Removes all bytes, but keeps the memory.
  package mutating func removeAll() { position = 0 }

  /// Removes the bytes from the offset `start` on, an earlier `position` of the writer.
  package mutating func remove(from start: Int) {
    precondition(start >= 0 && start <= position)
    position = start
  }

  /// The number of bytes written, without the comma after the last value.
  package var count: Int { position - (lastByte == Self.comma ? 1 : 0) }

  @inline(__always)
  package mutating func beginObject() { append(0x7B) }

  package mutating func endObject() { appendEnd(0x7D) }

  @inline(__always)
  package mutating func beginArray() { append(0x5B) }

  package mutating func endArray() { appendEnd(0x5D) }

  /// Writes a member name, which must need no escapes; the value follows.
  @inline(__always)
  package mutating func name(_ name: StaticString) {
    reserve(name.utf8CodeUnitCount + 3)
    write(0x22)
    write(name)
    write(0x22)
    write(0x3A)
  }

  /// Writes a name that is not a literal, with escapes if needed.
  package mutating func dynamicName(_ name: String) { appendString(name.utf8.span, 0x3A) }

  package mutating func string(_ text: String) { appendString(text.utf8.span, Self.comma) }

  package mutating func string(utf8 bytes: Span<UInt8>) { appendString(bytes, Self.comma) }

  /// Writes a text that needs no escapes; ids and names of navs never do.
  package mutating func word(_ unescaped: String) {
    assert(unescaped.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
    word(unescaped.utf8.span)
  }

  package mutating func word(_ id: ScreenID) { id.withBytes { word($0) } }

  @inline(__always)
  private mutating func word(_ text: Span<UInt8>) {
    let size = text.count
    reserve(size &+ 10)
    write(0x22)
    if size >= 8, size <= 16 {
      // The second word overlaps the first.
      store(ByteWord(text, at: 0), at: position)
      store(ByteWord(text, at: size &- 8), at: position &+ size &- 8)
      position &+= size
    } else if size > 0, size < 8 {
      store(ByteWord(padding: text), at: position)
      position &+= size
    } else {
      write(text)
    }
    write(0x22)
    write(0x2C)
  }

  package mutating func integer(_ value: UInt64) {
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

  @inline(__always)
  package mutating func bool(_ value: Bool) {
    if value { append("true,") } else { append("false,") }
  }

  package mutating func null() { append("null,") }

  /// Writes a value that is already encoded as JSON.
  package mutating func raw(_ value: [UInt8]) { append(value.span, Self.comma) }

  package mutating func raw(_ value: Span<UInt8>) { append(value, Self.comma) }

  /// Writes JSON unchanged; if a value follows, the text must end with a comma.
  @inline(__always)
  package mutating func literal(_ text: StaticString) { append(text) }

  /// Writes bytes unchanged.
  package mutating func literal(_ bytes: Span<UInt8>) { append(bytes) }

  package mutating func raw(_ head: Span<UInt8>, and tail: Span<UInt8>) {
    append(head)
    append(tail, Self.comma)
  }

  /// Writes values that `writtenWithComma` of another writer returned.
  package mutating func raw(withComma bytes: [UInt8]) { append(bytes.span) }

  /// Writes 64 bits as 16 hex digits in quotes.
  package mutating func hex(_ bits: UInt64) {
    reserve(19)
    write(0x22)
    writeHex(bits)
    write(0x22)
    write(0x2C)
  }

  /// Writes 96 bits as 24 hex digits in quotes.
  package mutating func hex(_ high: UInt32, _ low: UInt64) {
    reserve(27)
    write(0x22)
    store(ByteWord(hexDigitsOf: high), at: position)
    position &+= 8
    writeHex(low)
    write(0x22)
    write(0x2C)
  }

  // Binary values, which journal rows have beside JSON.

  /// Writes a number with seven bits in each byte, the least significant first.
  @inline(__always)
  package mutating func binary(_ number: UInt64) {
    reserve(10)
    var rest = number
    // A local variable: as far as the compiler knows, storing a byte could change `position`.
    var end = position
    while rest > 0x7F {
      unsafe memory.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: end, as: UInt8.self)
      end &+= 1
      rest >>= 7
    }
    unsafe memory.storeBytes(
      of: UInt8(truncatingIfNeeded: rest), toByteOffset: end, as: UInt8.self)
    position = end &+ 1
  }

  /// Writes the size of a text, and its bytes.
  @inline(__always)
  package mutating func binary(_ text: Span<UInt8>) {
    binary(UInt64(text.count))
    append(text)
  }

  /// Writes a number as 8 bytes, the least significant first.
  @inline(__always)
  package mutating func binary(word: UInt64) {
    reserve(8)
    unsafe memory.storeBytes(of: word.littleEndian, toByteOffset: position, as: UInt64.self)
    position &+= 8
  }

  // Reading back.

  /// The last byte; 0 if there is none.
  private var lastByte: UInt8 {
    position > 0 ? unsafe memory.load(fromByteOffset: position &- 1, as: UInt8.self) : 0
  }

  /// Copies the first `size` bytes; `size` is at most `position`.
  private func copy(ofFirst size: Int) -> [UInt8] {
    precondition(size >= 0 && size <= position)
    // The first `position` bytes are initialised. `[UInt8](buffer)` copies by code for bytes. The
    // initialiser that lends uninitialised memory looks its type up at each call, which costs more.
    return unsafe [UInt8](UnsafeRawBufferPointer(start: memory, count: size))
  }

  /// The bytes at a range of offsets, which must end at or before `position`.
  @_lifetime(borrow self)
  private func span(_ range: Range<Int>) -> Span<UInt8> {
    precondition(range.lowerBound >= 0 && range.upperBound <= position)
    // The bytes are initialised, and stay in place while this is borrowed.
    let span = unsafe Span<UInt8>(
      _unsafeStart: (memory + range.lowerBound).assumingMemoryBound(to: UInt8.self),
      count: range.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  // Appending.

  /// Closes an object or list: removes a comma at the end, if there is one, and appends `end` and a
  /// comma.
  private mutating func appendEnd(_ end: UInt8) {
    precondition(position > 0)
    reserve(2)
    if lastByte == 0x2C { position &-= 1 }
    write(end)
    write(0x2C)
  }

  @inline(__always)
  private mutating func append(_ first: UInt8, _ second: UInt8) {
    reserve(2)
    write(first)
    write(second)
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    reserve(1)
    write(byte)
  }

  @inline(__always)
  private mutating func append(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    write(text)
  }

  private mutating func append(_ bytes: Span<UInt8>, _ end: UInt8) {
    reserve(bytes.count + 1)
    write(bytes)
    write(end)
  }

  private mutating func append(_ bytes: Span<UInt8>) {
    reserve(bytes.count)
    write(bytes)
  }

  /// Appends a JSON string with quotes and escapes, followed by the byte `end`.
  private mutating func appendString(_ text: Span<UInt8>, _ end: UInt8) {
    // Words are stored whole, so up to seven bytes beyond the text are written.
    reserve(text.count &+ 10)
    write(0x22)
    let plain = writeUntilEscape(text)
    if plain < text.count { return appendEscaped(text, from: plain, end) }
    write(0x22)
    write(end)
  }

  // The functions below do not check the capacity: their callers have called `reserve`.

  @inline(__always)
  private mutating func write(_ byte: UInt8) {
    unsafe memory.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
    position &+= 1
  }

  @inline(__always)
  private mutating func write(_ text: StaticString) {
    let size = text.utf8CodeUnitCount
    unsafe (memory + position).copyMemory(from: text.utf8Start, byteCount: size)
    position &+= size
  }

  @inline(__always)
  private mutating func write(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return }
      unsafe (memory + position).copyMemory(from: base, byteCount: source.count)
    }
    position &+= bytes.count
  }

  @inline(__always)
  private func store(_ word: ByteWord, at offset: Int) {
    unsafe memory.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private mutating func writeHex(_ bits: UInt64) {
    store(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits >> 32)), at: position)
    store(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits)), at: position &+ 8)
    position &+= 16
  }

  /// Writes the digits of a number below 100,000,000 without leading zeros.
  @inline(__always)
  private mutating func writeDigits(_ value: UInt64) {
    let (word, size) = ByteWord.trimmedDigits(of: value)
    store(word, at: position)
    position &+= size
  }

  @inline(never)
  private mutating func writeLongDigits(_ value: UInt64) {
    let unit: UInt64 = 100_000_000
    let (rest, last) = value.quotientAndRemainder(dividingBy: unit)
    if rest < unit {
      writeDigits(rest)
    } else {
      writeDigits(rest / unit)
      store(ByteWord(digitsOf: rest % unit), at: position)
      position &+= 8
    }
    store(ByteWord(digitsOf: last), at: position)
    position &+= 8
  }

  /// Writes a text in words of eight bytes, up to the first word with a byte that needs an escape.
  ///
  /// Returns the number of bytes written.
  @inline(__always)
  private mutating func writeUntilEscape(_ text: Span<UInt8>) -> Int {
    let start = position
    let size = text.count
    guard size >= 8 else {
      guard size > 0 else { return 0 }
      let word = ByteWord(padding: text)
      guard word.escapeMarks == 0 else { return 0 }
      store(word, at: start)
      position = start &+ size
      return size
    }
    let last = size &- 8
    var index = 0
    // Two words at a time, because most texts are titles.
    while index <= last &- 8 {
      // Both words are in bounds by the loop's condition.
      let first = unsafe ByteWord(unchecked: text, at: index)
      let second = unsafe ByteWord(unchecked: text, at: index &+ 8)
      if first.escapeMarks | second.escapeMarks != 0 { break }
      store(first, at: start &+ index)
      store(second, at: start &+ index &+ 8)
      index &+= 16
    }
    while index < last {
      let word = ByteWord(text, at: index)
      guard word.escapeMarks == 0 else {
        position = start &+ index
        return index
      }
      store(word, at: start &+ index)
      index &+= 8
    }
    // The last word may overlap the one before.
    let word = ByteWord(text, at: last)
    guard word.escapeMarks == 0 else {
      index = min(index, last)
      position = start &+ index
      return index
    }
    store(word, at: start &+ last)
    position = start &+ size
    return size
  }

  @inline(never)
  private mutating func appendEscaped(_ text: Span<UInt8>, from start: Int, _ end: UInt8) {
    var index = start
    while index < text.count {
      let special = ByteWord.firstToEscape(in: text, from: index)
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
    if capacity &- position < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let wanted = max(capacity * 2, position + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe larger.copyMemory(from: memory, byteCount: position)
    if !isMemoryBorrowed { unsafe memory.deallocate() }
    isMemoryBorrowed = false
    unsafe memory = larger
    capacity = wanted
  }
}

extension [UInt8] {
  package init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { buffer in unsafe [UInt8](buffer) }
  }
}
