import CNCurses

/// The terminal of stdin and stdout as a grid of cells.
///
/// ncurses sends only what differs from the frame before. `deinit` restores the terminal, not if a
/// signal kills the process; so it handles SIGINT, SIGTERM, SIGHUP and SIGQUIT. After SIGKILL or
/// a crash the user types `reset`. A process has at most one, and uses it in one thread.
@safe struct CursesTerminal: ~Copyable {
  private let screen: OpaquePointer
  private let isColoured: Bool

  /// Makes ncurses use the locale of the environment; returns whether that is UTF-8.
  static func useLocaleWithUTF8() -> Bool { navd_curses_locale() != 0 }

  /// Takes over the terminal; nil if it cannot place the cursor.
  init?(isColoured: Bool) {
    guard let screen = unsafe navd_curses_begin(isColoured ? 1 : 0) else { return nil }
    unsafe self.screen = screen
    self.isColoured = isColoured
  }

  deinit { unsafe navd_curses_end(screen) }

  var size: (columns: Int, rows: Int) {
    var columns: Int32 = 0
    var rows: Int32 = 0
    unsafe navd_curses_size(&columns, &rows)
    return (Int(columns), Int(rows))
  }

  func resize(columns: Int, rows: Int) {
    navd_curses_resize(Int32(clamping: columns), Int32(clamping: rows))
  }

  /// Makes ncurses send the whole next frame, over what another program may have written.
  func redraw() { navd_curses_redraw() }

  func show(_ frame: BrowserFrame) {
    let columns = size.columns
    navd_curses_erase()
    for (row, line) in frame.lines.enumerated() {
      for cell in line.cells(columns: columns) where !cell.text.isEmpty {
        let wide = cell.text.map { wchar_t(bitPattern: $0.value) } + [0]
        unsafe navd_curses_put(
          Int32(clamping: row), Int32(clamping: cell.column), wide, Int32(clamping: cell.width),
          Int32(bitPattern: Self.cursesStyle(cell.style).rawValue), isColoured ? 1 : 0)
      }
    }
    navd_curses_show(
      Int32(clamping: frame.cursor?.row ?? 0), Int32(clamping: frame.cursor?.column ?? -1))
  }

  private static func cursesStyle(_ style: StyledLine.Style) -> navd_look {
    switch style {
    case .plain: NAVD_PLAIN
    case .strong: NAVD_STRONG
    case .faint: NAVD_FAINT
    case .tint: NAVD_TINT
    case .alert: NAVD_ALERT
    case .chosen: NAVD_CHOSEN
    }
  }

  /// The next typed key, nil if there is none; an unknown sequence is Escape and its characters.
  func nextKey() -> BrowserKey? {
    var character: UInt32 = 0
    let kind = unsafe UInt32(bitPattern: navd_curses_key(&character))
    switch kind {
    case NAVD_KEY_NONE.rawValue: return nil
    case NAVD_KEY_TEXT.rawValue: return Unicode.Scalar(character).map { BrowserKey($0) } ?? .other
    default: return Self.keys[kind] ?? .other
    }
  }

  private static let keys: [UInt32: BrowserKey] = [
    NAVD_KEY_UP.rawValue: .up, NAVD_KEY_DOWN.rawValue: .down, NAVD_KEY_LEFT.rawValue: .left,
    NAVD_KEY_RIGHT.rawValue: .right, NAVD_KEY_PAGE_UP.rawValue: .pageUp,
    NAVD_KEY_PAGE_DOWN.rawValue: .pageDown, NAVD_KEY_HOME.rawValue: .home,
    NAVD_KEY_END.rawValue: .end, NAVD_KEY_ENTER.rawValue: .enter,
    NAVD_KEY_BACK_TAB.rawValue: .backTab, NAVD_KEY_BACKSPACE.rawValue: .backspace,
    NAVD_KEY_DELETE.rawValue: .delete,
  ]
}
