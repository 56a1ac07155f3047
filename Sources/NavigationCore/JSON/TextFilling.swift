// Values in place of their names in braces: in a text, and in the texts of a JSON value.

extension String {
  /// The text with a value in place of each `{name}`; names without a value stay.
  package func filled(with values: [Text: String]) -> String {
    let octets = Array(utf8)[...].filled(with: values.mapValues { Array($0.utf8) })
    return String(decoding: octets, as: UTF8.self)
  }
}

extension OpaqueJSON {
  /// The value with values in its texts, but not in the names of members.
  package func filled(with values: [Text: String]) -> OpaqueJSON {
    let escaped = values.mapValues { value in
      Array(JSONWriter.value { $0.string(value) }.dropFirst().dropLast())
    }
    var filled: [UInt8] = []
    var at = 0
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: "\"") else {
        filled.append(bytes[at])
        at += 1
        continue
      }
      var end = at + 1
      while bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
      let next = bytes[(end + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
      let isName = next == UInt8(ascii: ":")
      filled += bytes[at...end].filled(with: isName ? [:] : escaped)
      at = end + 1
    }
    return OpaqueJSON(validated: filled)
  }
}

extension ArraySlice<UInt8> {
  fileprivate func filled(with values: [Text: [UInt8]]) -> [UInt8] {
    var filled: [UInt8] = []
    var rest = self
    while let octet = rest.popFirst() {
      if octet == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")),
        let value = values[Text(String(decoding: rest[..<end], as: UTF8.self))]
      {
        filled += value
        rest = rest[(end + 1)...]
      } else {
        filled.append(octet)
      }
    }
    return filled
  }
}
