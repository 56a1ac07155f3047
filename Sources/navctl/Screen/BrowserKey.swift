import NavigationCore

enum BrowserKey: Hashable, Sendable {
  case text(Unicode.Scalar)
  case up, down, left, right, pageUp, pageDown, home, end
  case enter, escape, backspace, delete
  case tab, backTab
  /// Control with C.
  case interrupt
  /// Control with U, which empties a line.
  case clearLine
  /// Control with L, which draws the screen anew.
  case redraw
  case other

  init(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 3: self = .interrupt
    case 8, 0x7F: self = .backspace
    case 9: self = .tab
    case 10, 13: self = .enter
    case 12: self = .redraw
    case 21: self = .clearLine
    case 27: self = .escape
    case 0..<0x20, 0x80..<0xA0: self = .other
    default: self = .text(scalar)
    }
  }
}

struct LineEditor: Hashable, Sendable {
  private(set) var textBeforeCursor = ""
  private var textAfterCursor = ""

  init(_ text: String = "") { textBeforeCursor = text }

  var text: String { textBeforeCursor + textAfterCursor }

  private static let maximumLength = 500

  /// Edits the line by a key; returns false for a key that does not edit.
  mutating func edit(by key: BrowserKey) -> Bool {
    switch key {
    case .text(let scalar):
      guard text.count < Self.maximumLength else { return true }
      textBeforeCursor.unicodeScalars.append(scalar)
    case .backspace: if !textBeforeCursor.isEmpty { textBeforeCursor.removeLast() }
    case .delete: if !textAfterCursor.isEmpty { textAfterCursor.removeFirst() }
    case .left:
      if let last = textBeforeCursor.popLast() { textAfterCursor = String(last) + textAfterCursor }
    case .right:
      if !textAfterCursor.isEmpty { textBeforeCursor.append(textAfterCursor.removeFirst()) }
    case .home: (textBeforeCursor, textAfterCursor) = ("", text)
    case .end: (textBeforeCursor, textAfterCursor) = (text, "")
    case .clearLine: (textBeforeCursor, textAfterCursor) = ("", "")
    default: return false
    }
    return true
  }
}

/// Discards the escape sequences that ncurses does not know.
///
/// ncurses delivers such a sequence as Escape and its characters, which are keys of `navctl ui`. An
/// Escape that arrives together with other keys therefore begins a sequence: ncurses has waited for
/// the next key before it delivers Escape alone.
struct EscapeFilter: Hashable, Sendable {
  private enum Position: Hashable { case outside, afterEscape, inSequence }

  private var position = Position.outside

  /// Filters all keys that have arrived; in place of each complete sequence, it returns `other`.
  mutating func filter(_ keys: [BrowserKey]) -> [BrowserKey] {
    var taken: [BrowserKey] = []
    for (index, key) in keys.enumerated() {
      if let key = filteredKey(key, hasMoreKeys: index + 1 < keys.count) { taken.append(key) }
    }
    return taken
  }

  /// Filters a key; nil within a sequence, which keys that arrive later can continue.
  private mutating func filteredKey(_ key: BrowserKey, hasMoreKeys: Bool) -> BrowserKey? {
    switch (position, key) {
    case (_, .interrupt): break  // It ends the command, wherever it stands.
    case (_, .escape):
      guard hasMoreKeys else { break }
      position = .afterEscape
      return nil
    case (.outside, _): break
    case (.afterEscape, .text("[")), (.afterEscape, .text("O")):
      position = .inSequence
      return nil
    case (.inSequence, .text(let scalar)) where Self.isInsideSequence(scalar): return nil
    case (.afterEscape, _), (.inSequence, _):
      position = .outside
      return .other
    }
    position = .outside
    return key
  }

  private static func isInsideSequence(_ scalar: Unicode.Scalar) -> Bool {
    // The function keys of the Linux console have a second bracket.
    (0x20...0x3F).contains(scalar.value) || scalar == "["
  }
}
