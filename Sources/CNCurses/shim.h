#pragma once

// The functions on wide characters.
#define NCURSES_WIDECHAR 1
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// The functions below have the macros of <ncurses.h>, its global variables and the streams of the C
// library, none of which Swift can use.

/// The looks of a cell.
enum navd_look { NAVD_PLAIN, NAVD_STRONG, NAVD_FAINT, NAVD_TINT, NAVD_ALERT, NAVD_CHOSEN };

/// Takes the character set of the environment, or UTF-8 where it names none; returns whether it is
/// UTF-8.
static inline int navd_curses_locale(void) {
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return 1;
  // The environment can name a locale that this machine does not have, or none at all.
  const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int index = 0; index < 3; index++) {
    const char *name = getenv(names[index]);
    if (!name || !*name) continue;
    if (!strstr(name, "UTF-8") && !strstr(name, "utf-8") && !strstr(name, "utf8")) return 0;
    break;
  }
  return setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

/// Takes over the terminal of stdin and stdout; NULL if it cannot place the cursor.
static inline SCREEN *navd_curses_begin(int is_coloured) {
  // The size is that of the terminal, not that of LINES and COLUMNS.
  use_env(FALSE);
  use_tioctl(TRUE);
  SCREEN *screen = newterm(NULL, stdout, stdin);
  if (!screen) return NULL;
  const char *place = tigetstr("cup");
  if (!place || place == (const char *)-1) {
    endwin();
    delscreen(screen);
    return NULL;
  }
  // A key that would raise a signal arrives as a key, so that no signal leaves the terminal as it is.
  raw();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  if (is_coloured && has_colors()) {
    start_color();
    use_default_colors();
    init_pair(1, COLOR_BLUE, -1);
    init_pair(2, COLOR_RED, -1);
  }
  return screen;
}

/// Restores the terminal.
static inline void navd_curses_end(SCREEN *screen) {
  endwin();
  delscreen(screen);
}

/// The size of the terminal as ncurses knows it.
static inline void navd_curses_size(int *columns, int *rows) { getmaxyx(stdscr, *rows, *columns); }

/// Takes a new size; the next frame is sent whole.
static inline void navd_curses_resize(int columns, int rows) {
  resizeterm(rows, columns);
  clearok(curscr, TRUE);
}

/// Sends the next frame whole.
static inline void navd_curses_redraw(void) { clearok(curscr, TRUE); }

/// Begins a frame.
static inline void navd_curses_erase(void) { erase(); }

/// Sends what differs from the frame before; the cursor is hidden if its column is negative.
static inline void navd_curses_show(int row, int column) {
  curs_set(column < 0 ? 0 : 1);
  if (column >= 0) move(row, column);
  refresh();
}

/// Puts a character and its marks into one or two columns.
///
/// ncurses counts with the widths of the C library, which can differ. A character that would be too wide
/// becomes question marks.
static inline void navd_curses_put(int row, int column, const wchar_t *text, int width, int look,
                                   int is_coloured) {
  static const attr_t attributes[] = {A_NORMAL, A_BOLD, A_DIM, A_NORMAL, A_NORMAL, A_REVERSE};
  attr_t attribute = is_coloured ? attributes[look] : A_NORMAL;
  short pair = !is_coloured ? 0 : look == NAVD_TINT ? 1 : look == NAVD_ALERT ? 2 : 0;
  wchar_t kept[CCHARW_MAX + 1] = {0};
  int own = wcwidth(text[0]);
  int fits = own >= 1 && own <= width;
  kept[0] = fits ? text[0] : L'?';
  int count = 1;
  for (int index = 1; fits && text[index] && count < CCHARW_MAX; index++)
    if (wcwidth(text[index]) == 0) kept[count++] = text[index];
  cchar_t cell;
  if (setcchar(&cell, kept, attribute, pair, NULL) == ERR) return;
  mvadd_wch(row, column, &cell);
  if (width < 2 || (fits && own == 2)) return;
  const wchar_t rest[] = {fits ? L' ' : L'?', 0};
  if (setcchar(&cell, rest, attribute, pair, NULL) != ERR) mvadd_wch(row, column + 1, &cell);
}

/// The kinds of keys.
enum navd_key {
  NAVD_KEY_NONE, NAVD_KEY_TEXT, NAVD_KEY_UP, NAVD_KEY_DOWN, NAVD_KEY_LEFT, NAVD_KEY_RIGHT,
  NAVD_KEY_PAGE_UP, NAVD_KEY_PAGE_DOWN, NAVD_KEY_HOME, NAVD_KEY_END, NAVD_KEY_ENTER,
  NAVD_KEY_BACK_TAB, NAVD_KEY_BACKSPACE, NAVD_KEY_DELETE, NAVD_KEY_OTHER
};

/// The next key that has arrived, with its character if it has one.
static inline int navd_curses_key(unsigned *character) {
  wint_t code = 0;
  int kind = get_wch(&code);
  if (kind == ERR) return NAVD_KEY_NONE;
  *character = code;
  if (kind == OK) return NAVD_KEY_TEXT;
  switch (code) {
    case KEY_UP: return NAVD_KEY_UP;
    case KEY_DOWN: return NAVD_KEY_DOWN;
    case KEY_LEFT: return NAVD_KEY_LEFT;
    case KEY_RIGHT: return NAVD_KEY_RIGHT;
    case KEY_PPAGE: return NAVD_KEY_PAGE_UP;
    case KEY_NPAGE: return NAVD_KEY_PAGE_DOWN;
    case KEY_HOME: return NAVD_KEY_HOME;
    case KEY_END: return NAVD_KEY_END;
    case KEY_ENTER: return NAVD_KEY_ENTER;
    case KEY_BTAB: return NAVD_KEY_BACK_TAB;
    case KEY_BACKSPACE: return NAVD_KEY_BACKSPACE;
    case KEY_DC: return NAVD_KEY_DELETE;
    default: return NAVD_KEY_OTHER;
  }
}
