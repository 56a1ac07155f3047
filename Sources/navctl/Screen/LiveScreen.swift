import CLinux
import RuntimePaths

/// Shows frames: on a terminal each replaces the one before, elsewhere they follow each other.
///
/// `deinit` restores the terminal; only SIGKILL prevents that.
struct LiveScreen: ~Copyable {
  let isTerminal: Bool
  /// A key such as ^Z would otherwise stop the process and leave the terminal on the other screen.
  private let keyboard: KeyMode

  init(isTerminal: Bool) throws {
    self.isTerminal = isTerminal
    keyboard = KeyMode(isWanted: isTerminal, takesSignals: true)
    // Switches to the alternate screen, hides the cursor and clears the screen.
    if isTerminal { try Output.text("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J") }
  }

  deinit { if isTerminal { Output.lastText("\u{1B}[?25h\u{1B}[?1049l") } }

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
        pollfd(fd: keyboard.isOn ? 0 : -1, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&entries, 2, Int32(clamping: end - now))
      if entries[0].revents != 0, let signal = signals.next(), signal != SIGCHLD { return false }
      if entries[1].revents != 0, !readKeys() { return false }
    }
  }

  private func readKeys() -> Bool {
    let keys = readOnce(0, atMost: 64) ?? []
    return !keys.isEmpty && !keys.contains { $0 == UInt8(ascii: "q") || $0 == 3 }
  }
}
