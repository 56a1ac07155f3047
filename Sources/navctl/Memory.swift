import NavctlSupport
import RuntimePaths

/// What the user of this terminal saw, kept between runs.
struct Memory {
  private let store: SeenStore?
  private let endpoint: String

  init(_ environment: ProcessEnvironment, endpoint: String) {
    self.endpoint = endpoint
    if let session = TerminalSession.current(environment),
      let directory = SeenStore.directory(environment)
    {
      store = SeenStore(directory: directory, session: session)
    } else {
      store = nil
    }
  }

  /// What was last seen of a nav.
  func seen(_ nav: String) -> Seen? { store?.load(endpoint: endpoint, nav: nav) }

  /// Remembers what was shown; that it cannot be is said, and stops nothing.
  func remember(_ seen: Seen?, of nav: String) {
    guard let store, let seen else { return }
    do {
      try store.save(seen, endpoint: endpoint, nav: nav)
    } catch {
      Output.error("navctl: what you saw is not remembered: \(error)")
    }
  }

  /// Forgets a nav that was closed.
  func forget(_ nav: String) { store?.forget(endpoint: endpoint, nav: nav) }
}
