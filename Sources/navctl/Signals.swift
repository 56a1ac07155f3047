import CLinux
import Glibc
import NavctlSupport
import RuntimePaths

/// The number of this process.
func processID() -> Int32 { getpid() }

/// Signals that are read like input: what stops this program, and the end of a child.
struct Signals: ~Copyable {
  /// Can be read while a signal waits.
  let descriptor: Int32

  /// Takes the signals off their usual way; call it before there are other threads.
  init() throws { descriptor = try Self.open() }

  private static func open() throws -> Int32 {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGCHLD] { unsafe sigaddset(&signals, signal) }
    guard unsafe pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else {
      throw SystemError("block", "signals", code: navd_errno())
    }
    // A child that does not read its input is not our end.
    signal(SIGPIPE, SIG_IGN)
    let descriptor = unsafe signalfd(-1, &signals, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
    guard descriptor >= 0 else {
      throw SystemError("watch", "signals", code: navd_errno())
    }
    return descriptor
  }

  deinit { close(descriptor) }

  /// The next signal; nil while there is none.
  func next() -> Int32? {
    // The number is the first member of what the kernel writes.
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard unsafe read(descriptor, &info, size) == size else { return nil }
    return Int32(info.ssi_signo)
  }
}
