import Testing

/// The text of a file, and the same text split into code and comments.
///
/// Each of the three has the same lines; in `code` what is in comments and string literals is
/// blank (but not what is interpolated), in `comments` everything else is.
struct SwiftText: Sendable {
  let lines: [String]
  let code: [String]
  let comments: [String]

  init(_ text: String) {
    var splitter = Splitter(bytes: Array(text.utf8))
    splitter.run()
    lines = Self.lines(of: Array(text.utf8))
    code = Self.lines(of: splitter.code)
    comments = Self.lines(of: splitter.comments)
  }

  private static func lines(of bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// A scanner that knows where comments and string literals begin and end, and nothing else.
private struct Splitter {
  enum Context {
    /// Code, with the parentheses open since the interpolation began.
    case code(parentheses: Int)
    case string(hashes: Int, isMultiline: Bool)
    case lineComment
    case blockComment
  }

  let bytes: [UInt8]
  var code: [UInt8] = []
  var comments: [UInt8] = []
  private var index = 0
  private var contexts: [Context] = [.code(parentheses: 0)]

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func run() {
    while index < bytes.count, let context = contexts.last {
      switch context {
      case .code(let parentheses): scanCode(parentheses)
      case .string(let hashes, let isMultiline): scanString(hashes, isMultiline)
      case .lineComment:
        if bytes[index] == UInt8(ascii: "\n") { contexts.removeLast() }
        advance(1, isComment: true)
      case .blockComment: scanBlockComment()
      }
    }
  }

  private mutating func scanCode(_ parentheses: Int) {
    if isNext("//") {
      enter(.lineComment, after: 2, isComment: true)
    } else if isNext("/*") {
      enter(.blockComment, after: 2, isComment: true)
    } else if let hashes = hashesBeforeQuote() {
      let isMultiline = isNext("\"\"\"", at: index + hashes)
      enter(
        .string(hashes: hashes, isMultiline: isMultiline), after: hashes + (isMultiline ? 3 : 1),
        isCode: true)
    } else if isNext("(") {
      replaceContext(with: .code(parentheses: parentheses + 1))
    } else if isNext(")"), contexts.count > 1, parentheses == 0 {
      contexts.removeLast()
      advance(1, isCode: true)
    } else if isNext(")") {
      replaceContext(with: .code(parentheses: parentheses - 1))
    } else {
      advance(1, isCode: true)
    }
  }

  private mutating func scanString(_ hashes: Int, _ isMultiline: Bool) {
    let pounds = String(repeating: "#", count: hashes)
    let quote = isMultiline ? "\"\"\"" : "\""
    if isNext("\\" + pounds + "(") {
      enter(.code(parentheses: 0), after: hashes + 2, isCode: true)
    } else if isNext("\\" + pounds) {
      advance(hashes + 1)
      // The byte that is escaped, unless it ends the line.
      if index < bytes.count, bytes[index] != UInt8(ascii: "\n") { advance(1) }
    } else if isNext(quote + pounds) {
      contexts.removeLast()
      advance(quote.utf8.count + hashes, isCode: true)
    } else {
      // A literal that is not closed ends with its line, so that one slip does not hide a file.
      if !isMultiline, isNext("\n") { contexts.removeLast() }
      advance(1)
    }
  }

  private mutating func scanBlockComment() {
    if isNext("/*") {
      enter(.blockComment, after: 2, isComment: true)
    } else if isNext("*/") {
      contexts.removeLast()
      advance(2, isComment: true)
    } else {
      advance(1, isComment: true)
    }
  }

  private mutating func enter(
    _ context: Context, after count: Int, isCode: Bool = false, isComment: Bool = false
  ) {
    contexts.append(context)
    advance(count, isCode: isCode, isComment: isComment)
  }

  private mutating func replaceContext(with context: Context) {
    contexts[contexts.count - 1] = context
    advance(1, isCode: true)
  }

  private mutating func advance(_ count: Int, isCode: Bool = false, isComment: Bool = false) {
    for byte in bytes[index..<min(index + count, bytes.count)] {
      let isNewline = byte == UInt8(ascii: "\n")
      code.append(isCode || isNewline ? byte : UInt8(ascii: " "))
      comments.append(isComment || isNewline ? byte : UInt8(ascii: " "))
    }
    index += count
  }

  private func isNext(_ text: String, at start: Int? = nil) -> Bool {
    var position = start ?? index
    for byte in text.utf8 {
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1
    }
    return true
  }

  /// The number of `#` before the quote that opens a literal here; `nil` when none opens.
  private func hashesBeforeQuote() -> Int? {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - index : nil
  }
}

@Suite struct SwiftTextTests {
  @Test(arguments: [
    (##"let a = "x { // y" // b"##, ##"let a = "        "     "##, ##"// b"##),
    (##"f("\(g("}") + 1) {")"##, ##"f("\(g(" ") + 1)  ")"##, ""),
    (##"let r = #"a " \( { "# + b"##, ##"let r = #"         "# + b"##, ""),
    (##"a /* { /* } */ { */ b"##, ##"a                   b"##, "/* { /* } */ { */"),
    (##"let q = "\"{" ; c"##, ##"let q = "   " ; c"##, ""),
    ("\"\"\"\n{ \"a\"\n\"\"\" d", "\"\"\"\n     \n\"\"\" d", ""),
    ("\"open {\nnext // c", "\"      \nnext     ", "// c"),
  ])
  func `code and comments are told apart`(text: String, code: String, comments: String) {
    let split = SwiftText(text)
    #expect(split.code.joined(separator: "\n") == code)
    #expect(split.comments.joined().replacing(/^ +| +$/, with: "") == comments)
    #expect(split.lines.count == split.code.count)
  }
}
