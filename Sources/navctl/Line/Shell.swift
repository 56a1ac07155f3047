import CommandLineOptions
import NavigationCore

enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The candidate in place of which the completion script offers files and directories.
  static let filesPlaceholder = Completion.Candidate(text: ":files", summary: "")

  /// Joins the words that bash splits at `=` and `:`.
  func rejoined(_ words: [String]) -> [String] {
    guard self == .bash else { return words }
    var joined: [String] = []
    var continues = false
    for (index, word) in words.enumerated() {
      let isBreak = Self.bashWordBreaks.contains(word)
      let isLast = index + 1 == words.count
      if (continues || isBreak), !joined.isEmpty, !(isLast && isBreak && joined.last == "") {
        joined[joined.count - 1] += word
      } else {
        joined.append(word)
      }
      continues = isBreak
    }
    return joined
  }

  private static let bashWordBreaks: Set<String> = ["=", ":", "::"]

  func candidateLine(_ word: Completion.Candidate, behind completion: Completion) -> String {
    if word == Self.filesPlaceholder { return word.text }
    let summary = word.summary.filter { !$0.isNewline && $0 != "\t" }
    switch self {
    case .bash:
      let done = completion.prefix.lastIndex(of: ":").map { completion.prefix[...$0].count } ?? 0
      return String(word.text.dropFirst(done))
    case .zsh: return completion.textBeforeCandidate + word.text + "\t" + summary
    case .fish:
      return completion.textBeforeCandidate + word.text + (summary.isEmpty ? "" : "\t" + summary)
    }
  }

  /// The completion script, which asks navctl itself what can follow.
  var script: String {
    let octets =
      switch self {
      case .bash: PackageResources.navctl_bash
      case .zsh: PackageResources.navctl_zsh
      case .fish: PackageResources.navctl_fish
      }
    return String(decoding: octets.dropLast(), as: UTF8.self)
  }
}
