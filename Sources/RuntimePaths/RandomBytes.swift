import CLinux

/// Random bytes from getrandom(2), for nonces and identifiers.
package func randomBytes(_ count: Int) throws(SystemError) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  var filled = 0
  while filled < count {
    let start = filled
    let got = retryingOnInterrupt {
      unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe getrandom(buffer.baseAddress?.advanced(by: start), buffer.count - start, 0)
      }
    }
    guard got > 0 else { throw .last("read random bytes", "") }
    filled += got
  }
  return bytes
}

package func randomUInt64() throws(SystemError) -> UInt64 {
  try randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
}
