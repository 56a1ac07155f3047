import CLinux

/// Returns a signalfd(2), which is readable after SIGTERM, SIGINT or SIGHUP has arrived.
///
/// Callers must call it before they start threads, which would receive the signals otherwise.
package func stopSignalDescriptor() throws(SystemError) -> Int32 {
  let signals = navd_stop_signals()
  guard signals >= 0 else { throw .last("catch", "SIGTERM") }
  return signals
}
