import CLinux
import Glibc
import NavctlSupport
import RuntimePaths

/// Frames on a terminal, each in place of the one before; or one after the other, where there is none.
///
/// The terminal is left as it was found, whatever ends the command but SIGKILL.
struct LiveScreen: ~Copyable {
  /// Whether frames replace each other.
  let isTerminal: Bool
  /// How the keyboard was set, if it is one.
  private let keyboard: termios?

  init(isTerminal: Bool) throws {
    self.isTerminal = isTerminal
    guard isTerminal else {
      keyboard = nil
      return
    }
    keyboard = Self.quietKeyboard()
    // The other screen, without a cursor.
    try Output.text("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
  }

  deinit {
    guard isTerminal else { return }
    Output.lastText("\u{1B}[?25h\u{1B}[?1049l")
    if var keyboard { _ = unsafe tcsetattr(0, TCSADRAIN, &keyboard) }
  }

  /// Keys are not shown, and come one by one; none ends or stops the process by itself, which would
  /// leave the terminal as it is.
  private static func quietKeyboard() -> termios? {
    var former = termios()
    guard unsafe tcgetattr(0, &former) == 0 else { return nil }
    var quiet = former
    quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    guard unsafe tcsetattr(0, TCSADRAIN, &quiet) == 0 else { return nil }
    return former
  }

  /// Shows a frame.
  func show(_ lines: [String]) throws {
    guard isTerminal else {
      try Output.text(lines.map { $0 + "\n" }.joined() + "\n")
      return
    }
    // In one write, each line cleared behind its end: nothing flickers.
    let frame = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    try Output.text("\u{1B}[H" + frame + "\u{1B}[J")
  }

  /// Waits; false when a signal or the key q ends it.
  func rests(milliseconds: UInt64, _ signals: borrowing Signals) -> Bool {
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
      if entries[1].revents != 0, !readsOn() { return false }
    }
  }

  /// Takes keys; false for q and ^C, and where there will be no more.
  private func readsOn() -> Bool {
    var keys = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(0, &keys, keys.count)
    return count > 0 && !keys.prefix(count).contains { $0 == UInt8(ascii: "q") || $0 == 3 }
  }
}
