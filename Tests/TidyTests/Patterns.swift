import Foundation

extension SourceFile {
  /// What of a file a pattern is looked for in.
  enum Part: Sendable {
    case everything, code, comments
  }

  /// Where a pattern occurs: the line, from 1, and the text of the first group (or of it all).
  func matches(of pattern: String, in part: Part) -> [(line: Int, capture: String)] {
    let lines =
      switch part {
      case .everything: text.lines
      case .code: text.code
      case .comments: text.comments
      }
    let joined = lines.joined(separator: "\n")
    let whole = NSRange(joined.startIndex..., in: joined)
    guard
      let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
    else { preconditionFailure("pattern=\(pattern)") }
    return expression.matches(in: joined, range: whole).map { match in
      let captured = match.numberOfRanges > 1 ? match.range(at: 1) : match.range
      guard let range = Range(captured, in: joined) else {
        preconditionFailure("pattern=\(pattern) range=\(captured)")
      }
      let line = joined[..<range.lowerBound].utf8.count { $0 == UInt8(ascii: "\n") } + 1
      return (line, String(joined[range]))
    }
  }
}
