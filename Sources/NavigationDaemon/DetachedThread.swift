import RuntimePaths

/// A thread that is never joined; its function lives until the process ends.
enum DetachedThread {
  static func start(_ run: @escaping @Sendable () -> Void) {
    guard let thread = Thread(run) else { preconditionFailure("pthread_create") }
    thread.detach()
  }
}
