extension [UInt8] {
  /// The octets as text, with replacement characters for what is not UTF-8.
  var text: String { String(decoding: self, as: UTF8.self) }

  /// The lines between line feeds, the last one also without one behind it.
  var lines: [ArraySlice<UInt8>] { split(separator: 0x0A, omittingEmptySubsequences: false) }
}
