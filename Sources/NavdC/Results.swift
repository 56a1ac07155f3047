internal import CNavd
import CLinux

// What the functions of C give back.

/// Where a function of C puts its error; NULL for nowhere.
typealias ErrorPlace = UnsafeMutablePointer<OpaquePointer?>

/// Runs a function that can fail, and gives its error to C.
func attempt(_ place: ErrorPlace?, _ body: () throws(Failure) -> Void) -> navd_status {
  if let place = unsafe place { unsafe place.pointee = nil }
  do throws(Failure) {
    try body()
    return NAVD_OK
  } catch {
    if let place = unsafe place { unsafe place.pointee = Handles.add(ErrorText(error)) }
    return error.status
  }
}

/// A copy for C, of malloc(3).
func owned(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
  guard let copy = unsafe malloc(bytes.count + 1) else { return nil }
  unsafe bytes.withUnsafeBytes { bytes in
    if let start = bytes.baseAddress { unsafe copy.copyMemory(from: start, byteCount: bytes.count) }
  }
  unsafe copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
  return unsafe copy.assumingMemoryBound(to: CChar.self)
}
