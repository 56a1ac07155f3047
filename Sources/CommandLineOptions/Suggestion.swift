/// Finds the words that somebody may have meant.
package enum Suggestion {
  /// The known words that are most like a mistyped one; none if no word is like it.
  ///
  /// Words count as alike if one begins with the other, or if at most a third of the letters has to be
  /// put in, left out, exchanged or swapped with a neighbour. Dashes do not count.
  static func words(like typed: String, among known: [String]) -> [String] {
    let plain = comparableLetters(typed)
    guard !plain.isEmpty else { return [] }
    let begun = known.filter { $0.hasPrefix(typed) || typed.hasPrefix($0) }
    let near = known.map { (word: $0, distance: editDistance(plain, comparableLetters($0))) }
      .filter { $0.distance <= max(1, max(plain.count, comparableLetters($0.word).count) / 3) }
    guard let least = near.map(\.distance).min() else { return begun }
    let nearest = near.filter { $0.distance == least }.map(\.word)
    return least == 0 || begun.isEmpty ? nearest : begun
  }

  /// The known word that is most like a mistyped one; nil if no word is like it.
  package static func nearest(_ typed: String, among known: [String]) -> String? {
    words(like: typed, among: known).first
  }

  private static func comparableLetters(_ word: String) -> String {
    word.lowercased().filter { $0 != "-" && $0 != "_" }
  }

  /// The least number of letters put in, left out, exchanged or swapped with a neighbour.
  ///
  /// Only the first 64 letters of each word count.
  package static func editDistance(_ one: String, _ other: String) -> Int {
    let (left, right) = (Array(one.prefix(64)), Array(other.prefix(64)))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var rows = [Array(0...right.count)]
    for (row, letter) in left.enumerated() {
      var next = [row + 1]
      for (column, other) in right.enumerated() {
        var least = min(next[column], rows[row][column + 1]) + 1
        least = min(least, rows[row][column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          least = min(least, rows[row - 1][column - 1] + 1)
        }
        next.append(least)
      }
      rows.append(next)
    }
    return rows[left.count][right.count]
  }
}
