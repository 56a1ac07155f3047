internal import CNavd
import CLinux
import NavigationCore

// The functions of navd.h for programs without a library for JSON; navd.h documents them.

/// See navd.h.
@c @implementation
public func navd_json_get(
  _ json: UnsafePointer<CChar>?, _ pointer: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
  guard let (tape, index) = unsafe element(json, pointer) else { return nil }
  return unsafe mallocCopy(tape.string(index).map { Array($0.utf8) } ?? tape.raw(index))
}

/// See navd.h.
@c @implementation
public func navd_json_count(
  _ json: UnsafePointer<CChar>?, _ pointer: UnsafePointer<CChar>?
) -> CInt {
  guard let (tape, index) = unsafe element(json, pointer),
    tape.kind(index) == .array || tape.kind(index) == .object
  else { return -1 }
  return CInt(clamping: tape.count(index))
}

/// See navd.h.
@c @implementation
public func navd_json_string(_ text: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? {
  guard let text = unsafe text, let text = unsafe String(validatingCString: text) else {
    return nil
  }
  return unsafe mallocCopy(OpaqueJSON.string(text).bytes)
}

/// See navd.h.
@c @implementation
public func navd_string_free(_ string: UnsafeMutablePointer<CChar>?) { unsafe free(string) }

private func element(
  _ json: UnsafePointer<CChar>?, _ pointer: UnsafePointer<CChar>?
) -> (tape: JSONTape, index: Int)? {
  guard let json = unsafe json, let pointer = unsafe pointer,
    let json = unsafe String(validatingCString: json),
    let pointer = unsafe String(validatingCString: pointer),
    pointer.isEmpty || pointer.utf8.first == UInt8(ascii: "/")
  else { return nil }
  var tape = JSONTape()
  do { try tape.read(Array(json.utf8), maximumDepth: 64) } catch { return nil }
  var index = tape.root
  for token in pointer.slashSeparatedParts.dropFirst() {
    guard let next = child(tape, index, unescaped(token)) else { return nil }
    index = next
  }
  return (tape, index)
}

/// Replaces the escapes of a JSON pointer: ~1 is a slash, and ~0 a tilde.
private func unescaped(_ token: String) -> String {
  var result = ""
  var isEscaped = false
  for character in token.unicodeScalars {
    if isEscaped {
      result += character == "1" ? "/" : character == "0" ? "~" : "~\(character)"
      isEscaped = false
    } else if character == "~" {
      isEscaped = true
    } else {
      result.unicodeScalars.append(character)
    }
  }
  return result
}

private func child(_ tape: JSONTape, _ index: Int, _ token: String) -> Int? {
  guard tape.kind(index) == .array else { return tape.member(token, of: index) }
  guard let place = Int(token) else { return nil }
  let count = tape.count(index)
  let wanted = place < 0 ? count + place : place
  guard wanted >= 0, wanted < count else { return nil }
  return tape.elements(of: index) { $0 }[wanted]
}
