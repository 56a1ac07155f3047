extension UInt8 {
  /// Whether the byte is a letter or a digit of ASCII.
  package var isLetterOrDigit: Bool { (self | 0x20) &- 0x61 <= 25 || self &- 0x30 <= 9 }
}
