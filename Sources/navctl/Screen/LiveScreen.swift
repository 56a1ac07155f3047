import CLinux
import Glibc
import RuntimePaths

/// Shows frames: on a terminal each replaces the one before, elsewhere they follow each other.
///
/// `deinit` restores the terminal; only SIGKILL prevents that.
struct LiveScreen: ~Copyable {
  /// Whether frames replace each other.
  let isTerminal: Bool
  /// The settings of the keyboard before this command; nil if stdin is no terminal.
  private let keyboard: termios?

  init(isTerminal: Bool) throws {
    self.isTerminal = isTerminal
    guard isTerminal else {
      keyboard = nil
      return
    }
    keyboard = Self.quietKeyboard()
    // Switches to the alternate screen, hides the cursor and clears the screen.
    try Output.text("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
  }

  deinit {
    guard isTerminal else { return }
    Output.lastText("\u{1B}[?25h\u{1B}[?1049l")
    if var keyboard { _ = unsafe tcsetattr(0, TCSADRAIN, &keyboard) }
  }

  /// Turns off echo, line editing and the keys that raise signals.
  ///
  /// A key such as ^Z would otherwise stop the process and leave the terminal on the other screen.
  private static func quietKeyboard() -> termios? {
    var former = termios()
    guard unsafe tcgetattr(0, &former) == 0 else { return nil }
    var quiet = former
    quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    guard unsafe tcsetattr(0, TCSADRAIN, &quiet) == 0 else { return nil }
    return former
  }

  func show(_ lines: [String]) throws {
    guard isTerminal else {
      try Output.text(lines.map { $0 + "\n" }.joined() + "\n")
      return
    }
    // One write, and each line clears only its own rest: the terminal does not flicker.
    let frame = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    try Output.text("\u{1B}[H" + frame + "\u{1B}[J")
  }

  /// Waits for the next frame; returns false when a signal, q or ^C ends the command.
  func sleeps(milliseconds: UInt64, _ signals: borrowing Signals) -> Bool {
    let end = SystemClock.monotonicMilliseconds() + milliseconds
    while true {
      let now = SystemClock.monotonicMilliseconds()
      guard now < end else { return true }
      var entries = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: keyboard == nil ? -1 : 0, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&entries, 2, Int32(clamping: end - now))
      if entries[0].revents != 0, let signal = signals.next(), signal != SIGCHLD { return false }
      if entries[1].revents != 0, !readKeys() { return false }
    }
  }

  /// Reads the pressed keys; false for q, for ^C and at the end of the input.
  private func readKeys() -> Bool {
    var keys = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(0, &keys, keys.count)
    return count > 0 && !keys.prefix(count).contains { $0 == UInt8(ascii: "q") || $0 == 3 }
  }
}
