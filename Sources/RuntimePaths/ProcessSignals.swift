import CLinux

/// A descriptor that is readable when SIGTERM, SIGINT or SIGHUP has arrived.
///
/// Call it before any thread starts, because a thread without the signal mask could receive the signals.
package func stopSignalDescriptor() throws(SystemError) -> Int32 {
  let signals = navd_stop_signals()
  guard signals >= 0 else { throw .last("catch", "SIGTERM") }
  return signals
}
