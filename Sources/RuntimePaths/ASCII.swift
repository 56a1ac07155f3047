extension UInt8 {
  package var isLetterOrDigit: Bool { (self | 0x20) &- 0x61 <= 25 || self &- 0x30 <= 9 }
}

/// Percent-encodes a text for a URL, except letters, digits and the characters of `kept`.
package func percentEncoded(_ text: String, keeping kept: String = "-._~") -> String {
  text.utf8.reduce(into: "") { encoded, octet in
    if octet.isLetterOrDigit || kept.utf8.contains(octet) {
      encoded.unicodeScalars.append(Unicode.Scalar(octet))
    } else {
      encoded += (octet < 16 ? "%0" : "%") + String(octet, radix: 16, uppercase: true)
    }
  }
}
