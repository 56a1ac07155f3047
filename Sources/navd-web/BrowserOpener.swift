import CLinux
import Glibc
import RuntimePaths

/// Opens an address in the browser of the desktop.
///
/// The address has a launch code, and other users can read the arguments of a process. So the
/// browser gets a file that leads there, which only this user can read.
struct BrowserOpener {
  private let redirectFile: String?

  /// Makes an opener; without `XDG_RUNTIME_DIR` it opens nothing.
  init(_ environment: ProcessEnvironment) {
    redirectFile = environment["XDG_RUNTIME_DIR"].map { "\($0)/navd-inspector-\(getpid()).html" }
  }

  /// Opens an address; without a desktop nothing happens, since the address was printed too.
  func open(_ url: String) {
    guard let path = redirectFile else { return }
    // The octets of an escaped address need no quoting in HTML but for the ampersand.
    let target = url.split(separator: "&", omittingEmptySubsequences: false).joined(
      separator: "&amp;")
    let page =
      "<!DOCTYPE html><meta charset=\"utf-8\"><title>navd</title>"
      + "<meta http-equiv=\"refresh\" content=\"0;url=\(target)\">\n"
    do { try writeFileAtomically(path, Array(page.utf8), isSynced: false) } catch { return }
    // The browser gets no blocked or ignored signal of this process, and no ^C of its terminal.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (none, usual) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&usual)
    for signal in [SIGPIPE, SIGCHLD, SIGXFSZ] { unsafe sigaddset(&usual, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    // The kernel reaps it.
    _ = signal(SIGCHLD, SIG_IGN)
    var process: pid_t = 0
    let words: [String] = ["xdg-open", path]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    _ = unsafe posix_spawnp(&process, "xdg-open", nil, &attributes, &arguments, environ)
  }

  func removeFile() { if let redirectFile { _ = unsafe unlink(redirectFile) } }
}
