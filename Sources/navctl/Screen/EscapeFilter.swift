/// Discards the escape sequences that ncurses does not know.
///
/// ncurses delivers such a sequence as Escape and its characters, which are keys of `navctl ui`. An
/// Escape that arrives together with other keys therefore begins a sequence: ncurses has waited for
/// the next key before it delivers Escape alone.
struct EscapeFilter: Hashable, Sendable {
  private enum Place: Hashable { case outside, afterEscape, inSequence }

  private var place = Place.outside

  init() {}

  /// Takes all keys that have arrived, oldest first, and returns each whole sequence as `other`.
  ///
  /// Nothing is pending behind the last key.
  mutating func take(_ keys: [BrowserKey]) -> [BrowserKey] {
    var taken: [BrowserKey] = []
    for (index, key) in keys.enumerated() {
      if let key = take(key, isPending: index + 1 < keys.count) { taken.append(key) }
    }
    return taken
  }

  /// Takes a key; nil within a sequence, which can continue with the keys that arrive later.
  private mutating func take(_ key: BrowserKey, isPending: Bool) -> BrowserKey? {
    switch (place, key) {
    case (_, .interrupt): break  // It ends the command, wherever it stands.
    case (_, .escape):
      guard isPending else { break }
      place = .afterEscape
      return nil
    case (.outside, _): break
    case (.afterEscape, .text("[")), (.afterEscape, .text("O")):
      place = .inSequence
      return nil
    case (.inSequence, .text(let scalar)) where Self.continues(scalar): return nil
    case (.afterEscape, _), (.inSequence, _):
      place = .outside
      return .other
    }
    place = .outside
    return key
  }

  /// Whether a character stands before the final one of a sequence.
  private static func continues(_ scalar: Unicode.Scalar) -> Bool {
    // The function keys of the Linux console have a second bracket.
    (0x20...0x3F).contains(scalar.value) || scalar == "["
  }
}
