import CLinux
import Glibc
import RuntimePaths

func processID() -> Int32 { getpid() }

/// SIGINT, SIGTERM, SIGCHLD, and others on request, as a descriptor to poll, by signalfd(2).
struct Signals: ~Copyable {
  let descriptor: Int32

  /// Blocks the signals, so that only `next` delivers them; call it before starting a thread.
  init(also others: [Int32] = []) throws {
    descriptor = try Self.open([SIGINT, SIGTERM, SIGCHLD] + others)
  }

  private static func open(_ numbers: [Int32]) throws -> Int32 {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in numbers { unsafe sigaddset(&signals, signal) }
    guard unsafe pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else {
      throw SystemError("block", "signals", code: navd_errno())
    }
    // A write to a child that has closed its input must fail, not end this process.
    signal(SIGPIPE, SIG_IGN)
    let descriptor = unsafe signalfd(-1, &signals, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("watch", "signals", code: navd_errno()) }
    return descriptor
  }

  deinit { close(descriptor) }

  func next() -> Int32? {
    // A whole record per read: the kernel never writes a part of one.
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard unsafe read(descriptor, &info, size) == size else { return nil }
    return Int32(info.ssi_signo)
  }
}
