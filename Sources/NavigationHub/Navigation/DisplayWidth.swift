import NavigationCore

/// The width of texts, in columns of a fixed-width font such as a terminal's.
package enum DisplayWidth {
  /// The columns of a text: one a grapheme cluster, two if it is wide in East Asian typography or a
  /// flag, none for a sign that is never drawn, such as a soft hyphen.
  package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

  package static func columns(of character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let scalar = scalars.first else { return 0 }
    if isWide(scalar.value) { return 2 }
    if scalar.properties.isDefaultIgnorableCodePoint { return 0 }
    // A text symbol with the emoji variation selector or a skin tone is drawn as a wide emoji.
    let isEmoji = scalars.contains { $0 == "\u{FE0F}" || (0x1F3FB...0x1F3FF).contains($0.value) }
    let isFlag = (0x1F1E6...0x1F1FF).contains(scalar.value) && scalars.count == 2
    return isEmoji || isFlag ? 2 : 1
  }

  /// The longest prefix of a text that takes at most `limit` columns.
  package static func prefix(of text: String, columns limit: Int) -> String {
    var used = 0
    var result = ""
    for character in text {
      used += columns(of: character)
      guard used <= limit else { break }
      result.append(character)
    }
    assert(text.hasPrefix(result))
    assert(columns(of: result) <= max(limit, 0))
    return result
  }

  /// Code points with the East Asian Width property W or F (Unicode Standard Annex 11).
  ///
  /// Two ranges are one where all code points between them are unassigned.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
    0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
    0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
    0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
    0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
    0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
    0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CD5, 0x1B000...0x1B2FB, 0x1F004...0x1F004,
    0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320,
    0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA,
    0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E,
    0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E,
    0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4,
    0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2,
    0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC,
    0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945,
    0x1F947...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
  ]

  private static func isWide(_ scalar: UInt32) -> Bool {
    guard scalar >= 0x1100 else { return false }
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    assert(low == wideRanges.count || wideRanges[low].upperBound >= scalar)
    assert(low == 0 || wideRanges[low - 1].upperBound < scalar, "a range before holds \(scalar)")
    return low < wideRanges.count && wideRanges[low].contains(scalar)
  }
}
