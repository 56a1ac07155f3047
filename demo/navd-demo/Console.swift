import Dispatch
import Glibc

/// A command that was read: a word, and the rest of the line.
struct Command: Sendable {
  let name: String
  let argument: String

  init(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1)
    name = words.first.map(String.init) ?? ""
    argument = words.count > 1 ? String(words[1]) : ""
  }
}

/// Prints lines and reads commands.
struct Console: Sendable {
  let role: String

  /// Prints a line that begins with the role.
  func say(_ text: String) {
    let margin = String(repeating: " ", count: max(1, 8 - role.count))
    Self.put(role + margin + text + "\n", on: 1)
  }

  /// Prints a line to standard error.
  static func complain(_ text: String) { put(text + "\n", on: 2) }

  /// The commands, until `quit` or the end of the input.
  func commands() -> AsyncStream<Command> {
    AsyncStream { continuation in
      // Reading blocks, and must not block a thread of Swift's tasks, so it has a queue of its own.
      DispatchQueue(label: "commands").async {
        while let line = readLine(), line != "quit" { continuation.yield(Command(line)) }
        continuation.finish()
      }
    }
  }

  /// Writes a line in one call, so that lines of several programs do not mix.
  private static func put(_ line: String, on descriptor: Int32) {
    var line = line
    // If a line cannot be printed, there is nowhere to report that.
    _ = line.withUTF8 { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }
}

/// Replaces the contents of a file; returns false if that fails.
func writeFile(_ path: String, _ text: String) -> Bool {
  guard let file = unsafe fopen(path, "w") else { return false }
  let isWritten = unsafe fputs(text, file) >= 0
  return unsafe fclose(file) == 0 && isWritten
}
