import CZlib

/// An error in a gzip file, with zlib's message.
package struct GzipError: Error, Hashable, Sendable {
  package var reason: String
}

/// A stream of zlib at a fixed address, because zlib keeps a pointer to it.
@safe
package struct ZStream: ~Copyable {
  let pointer: UnsafeMutablePointer<z_stream>
  private let end: (UnsafeMutablePointer<z_stream>) -> Void

  /// Prepares a stream; `begin` calls zlib's init function, and `end` frees the stream's memory.
  init(
    _ begin: (UnsafeMutablePointer<z_stream>) -> Int32,
    end: @escaping (UnsafeMutablePointer<z_stream>) -> Void
  ) {
    unsafe pointer = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe pointer.initialize(to: z_stream())
    unsafe self.end = end
    let code = unsafe begin(pointer)
    precondition(code == Z_OK, "zlib begins with code \(code)")
  }

  deinit {
    unsafe end(pointer)
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }
}

/// Compresses bytes to a gzip file (RFC 1952), piece by piece, in about 256 KiB of memory.
///
/// Law: the results of `append` and `finish`, concatenated, are a gzip file of the appended bytes.
package struct GzipWriter: ~Copyable {
  private let stream: ZStream
  private static let chunkSize = 65_536

  /// Begins a file; `level` goes from 1, the fastest, to 9, the smallest file.
  package init(level: Int32 = 6) {
    precondition((1...9).contains(level), "level \(level)")
    stream = unsafe ZStream(
      {
        // 15 bits of window, and 16 for the form of gzip.
        unsafe deflateInit2_(
          $0, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          Int32(MemoryLayout<z_stream>.size))
      }, end: { unsafe deflateEnd($0) })
  }

  /// Compresses more bytes; returns the next bytes of the file, or none while zlib collects input.
  package mutating func append(_ bytes: [UInt8]) -> [UInt8] { deflate(bytes, Z_NO_FLUSH) }

  /// Ends the file, and returns its last bytes; the caller must not append more.
  package mutating func finish() -> [UInt8] { deflate([], Z_FINISH) }

  private func deflate(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
    var output: [UInt8] = []
    var input = bytes
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe stream.pointer.pointee.next_in = input.baseAddress
      unsafe stream.pointer.pointee.avail_in = UInt32(input.count)
      while true {
        let start = output.count
        var room = 0
        output.append(contentsOf: repeatElement(0, count: min(Self.chunkSize, input.count + 1024)))
        unsafe output.withUnsafeMutableBufferPointer { output in
          unsafe stream.pointer.pointee.next_out = output.baseAddress?.advanced(by: start)
          unsafe stream.pointer.pointee.avail_out = UInt32(output.count - start)
          let code = unsafe CZlib.deflate(stream.pointer, flush)
          precondition(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
          room = Int(unsafe stream.pointer.pointee.avail_out)
        }
        output.removeLast(room)
        // Room that is left means that zlib has nothing more to write.
        if room > 0 { return }
      }
    }
    return output
  }
}

/// Reads a gzip file piece by piece, in about 200 KiB of memory.
package struct GzipReader: ~Copyable {
  private let stream: ZStream
  private var input: [UInt8] = []
  private var inputOffset = 0
  /// Whether the whole file has been read, its checksum included.
  package private(set) var isAtEnd = false
  private static let chunkSize = 65_536

  package init() {
    stream = unsafe ZStream(
      {
        unsafe inflateInit2_($0, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      }, end: { unsafe inflateEnd($0) })
  }

  /// Whether the caller appended bytes after the end of the gzip file.
  package private(set) var hasSurplus = false
  /// Whether the caller has not appended any bytes yet.
  package private(set) var hasNoInput = true

  /// Adds the next bytes of the file; callers must first call `next` until it returns nil.
  package mutating func append(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    hasNoInput = false
    guard !isAtEnd else {
      hasSurplus = true
      return
    }
    assert(inputOffset == input.count, "bytes before were not read")
    input = bytes
    inputOffset = 0
  }

  /// Returns the next decompressed bytes, at most 64 KiB; nil at the end, or to request more input.
  package mutating func next() throws(GzipError) -> [UInt8]? {
    guard !isAtEnd, inputOffset < input.count else { return nil }
    var output = [UInt8](repeating: 0, count: Self.chunkSize)
    var (code, used, made) = (Z_OK, 0, 0)
    let start = inputOffset
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        let pointer = unsafe stream.pointer
        unsafe pointer.pointee.next_in = input.baseAddress?.advanced(by: start)
        unsafe pointer.pointee.avail_in = UInt32(input.count - start)
        unsafe pointer.pointee.next_out = output.baseAddress
        unsafe pointer.pointee.avail_out = UInt32(output.count)
        code = unsafe inflate(pointer, Z_NO_FLUSH)
        used = unsafe input.count - start - Int(pointer.pointee.avail_in)
        made = unsafe output.count - Int(pointer.pointee.avail_out)
      }
    }
    inputOffset += used
    switch code {
    case Z_STREAM_END:
      isAtEnd = true
      hasSurplus = inputOffset < input.count
    case Z_OK, Z_BUF_ERROR: break
    default:
      let text = unsafe stream.pointer.pointee.msg.map { unsafe String(cString: $0) }
      throw GzipError(reason: text ?? "code \(code)")
    }
    guard made > 0 else {
      assert(isAtEnd || inputOffset == input.count, "zlib stands still")
      return nil
    }
    output.removeLast(Self.chunkSize - made)
    return output
  }
}
