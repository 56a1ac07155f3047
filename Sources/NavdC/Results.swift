internal import CNavd
import CLinux

// What the functions of C give back.

/// Runs a function that can fail, and stores its error in `place` unless that is NULL.
func attempt(
  _ place: UnsafeMutablePointer<OpaquePointer?>?, _ body: () throws(Failure) -> Void
) -> navd_status {
  if let place = unsafe place { unsafe place.pointee = nil }
  do throws(Failure) {
    try body()
    return NAVD_OK
  } catch {
    if let place = unsafe place { unsafe place.pointee = Handles.add(ErrorText(error)) }
    return error.status
  }
}

/// A copy with a final NUL byte, which C frees with free(3).
func mallocCopy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
  guard let copy = unsafe malloc(bytes.count + 1) else { return nil }
  unsafe bytes.withUnsafeBytes { bytes in
    if let start = bytes.baseAddress { unsafe copy.copyMemory(from: start, byteCount: bytes.count) }
  }
  unsafe copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
  return unsafe copy.assumingMemoryBound(to: CChar.self)
}
