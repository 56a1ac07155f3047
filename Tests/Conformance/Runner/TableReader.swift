/// Reads tables of cases; anything it does not know is an error.
///
/// A row begins in the first column with its id and its sources. Indented below are the lines
/// `Given`, `When` and `Then` in words, and the script. `#` begins a line of comment.
package struct TableReader {
  private let file: String
  private var cases: [ConformanceCase] = []
  private var current: ConformanceCase?

  /// Reads the rows of one file.
  ///
  /// - Parameters:
  ///   - text: what the file holds.
  ///   - file: the name to use in failures.
  /// - Returns: the rows in the order of the file.
  /// - Throws: `ConformanceFailure` with the line that is not understood.
  package static func read(_ text: String, file: String) throws(ConformanceFailure)
    -> [ConformanceCase]
  {
    var reader = TableReader(file: file)
    var number = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      try reader.take(line, number)
    }
    try reader.finish()
    return reader.cases
  }

  private init(file: String) { self.file = file }

  private mutating func take(_ line: Substring, _ number: Int) throws(ConformanceFailure) {
    let body = line.drop { $0 == " " }
    guard let first = body.first, first != "#" else { return }
    var cursor = ScriptCursor(body)
    if line.first != " " {
      try finish()
      let id = try read(number) { cursor throws(ScriptCursor.Unreadable) in try cursor.word() }
      guard id.count == 5, id.hasPrefix("C-"), id.dropFirst(2).allSatisfy(\.isNumber) else {
        throw failure(number, "\(id) is not the id of a row")
      }
      current = ConformanceCase(id: id, file: file, line: number)
      current?.source = cursor.rest()
      return
    }
    guard current != nil else { throw failure(number, "a line outside of a row") }
    if cursor.take("Given") {
      current?.given = cursor.rest()
    } else if cursor.take("When") {
      current?.when = cursor.rest()
    } else if cursor.take("Then") {
      current?.then = cursor.rest()
    } else if cursor.take("code"), cursor.isAtEnd {
      current?.isCode = true
    } else {
      let command = try read(number) { _ throws(ScriptCursor.Unreadable) in
        try ScriptReader.command(body)
      }
      current?.lines.append(ScriptLine(number: number, text: String(body), command: command))
    }

    func read<Value>(
      _ number: Int,
      _ body: (inout ScriptCursor) throws(ScriptCursor.Unreadable) -> Value
    ) throws(ConformanceFailure) -> Value {
      do { return try body(&cursor) } catch { throw failure(number, error.text) }
    }
  }

  private func failure(_ line: Int, _ text: String) -> ConformanceFailure {
    ConformanceFailure(file: file, line: line, id: current?.id, text: text)
  }

  /// Ends the row that is being read.
  private mutating func finish() throws(ConformanceFailure) {
    guard let row = current else { return }
    for (name, text) in [
      ("source", row.source), ("Given", row.given), ("When", row.when), ("Then", row.then),
    ] where text.isEmpty {
      throw failure(row.line, "the row has no \(name)")
    }
    if row.isCode {
      guard row.lines.isEmpty else { throw failure(row.line, "both code and a script") }
    } else {
      try check(row)
    }
    cases.append(row)
    current = nil
  }

  /// Every step is followed by something that is expected of it, every op by what it is answered.
  private func check(_ row: ConformanceCase) throws(ConformanceFailure) {
    var open: (line: Int, needsReply: Bool)?
    var expectations = 0
    var hasStep = false
    for line in row.lines {
      switch line.command {
      case .fact: break
      case .step(let step):
        if let open { throw failure(open.line, "nothing is expected of this step") }
        hasStep = true
        switch step {
        case .operation, .again, .reply, .request: open = (line.number, true)
        case .advance, .restart, .lose, .hello: open = (line.number, false)
        }
      case .expectation(let expectation):
        expectations += 1
        guard hasStep || expectation.isAboutState else {
          throw failure(line.number, "an expectation without a step is never reached")
        }
        if open.map({ !$0.needsReply || expectation.isAboutReply }) == true { open = nil }
      }
    }
    if let open { throw failure(open.line, "nothing is expected of this step") }
    guard expectations > 0 else { throw failure(row.line, "the row has no script") }
  }
}
