import CommandLineOptions
import NavigationCore

enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The candidate in place of which the completion script offers files and directories.
  static let filesPlaceholder = Completion.Word(text: ":files", summary: "")

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

  func candidateLine(_ word: Completion.Word, behind completion: Completion) -> String {
    if word == Self.filesPlaceholder { return word.text }
    let summary = word.summary.filter { !$0.isNewline && $0 != "\t" }
    switch self {
    case .bash:
      let done = completion.prefix.lastIndex(of: ":").map { completion.prefix[...$0].count } ?? 0
      return String(word.text.dropFirst(done))
    case .zsh: return completion.leading + word.text + "\t" + summary
    case .fish: return completion.leading + word.text + (summary.isEmpty ? "" : "\t" + summary)
    }
  }

  var script: String {
    switch self {
    case .bash:
      #"""
      # Completion of navctl for bash. navctl itself knows what can follow.
      _navctl() {
        local line
        COMPREPLY=()
        while IFS= read -r line; do
          if [[ $line == :files ]]; then
            compopt -o default
          else
            [[ $line == *= ]] && compopt -o nospace
            COMPREPLY+=("$(printf %q "$line")")
          fi
        done < <("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
      }
      complete -F _navctl navctl
      """#
    case .zsh:
      #"""
      #compdef navctl
      # Completion of navctl for zsh. navctl itself knows what can follow.
      _navctl() {
        local line hasFiles
        local -a texts descriptions keys
        while IFS= read -r line; do
          if [[ $line == :files ]]; then
            hasFiles=1
          elif [[ ${line%%$'\t'*} == *= ]]; then
            keys+=("${line%%$'\t'*}")
          else
            texts+=("${line%%$'\t'*}")
            descriptions+=("${line%%$'\t'*}  ${line#*$'\t'}")
          fi
        done < <("${words[1]}" completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
        (( ${#texts} )) && compadd -l -d descriptions -a texts
        (( ${#keys} )) && compadd -S '' -l -a keys
        [[ -z $hasFiles ]] || _files
      }
      if [[ $funcstack[1] == _navctl ]]; then _navctl "$@"; else compdef _navctl navctl; fi
      """#
    case .fish:
      #"""
      # Completion of navctl for fish. navctl itself knows what can follow.
      function __navctl_complete
          set -l words (commandline -opc) (commandline -ct)
          for line in (command $words[1] completion fish -- $words[2..-1] 2>/dev/null)
              if test $line = :files
                  __fish_complete_path (commandline -ct)
              else
                  echo $line
              end
          end
      end
      complete -c navctl -f -a '(__navctl_complete)'
      """#
    }
  }
}
