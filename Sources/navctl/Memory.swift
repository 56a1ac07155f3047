import NavctlSupport
import RuntimePaths

/// The states that this terminal showed, kept in files between runs; see `SeenStore`.
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

  /// The state of a nav that this terminal showed last; nil if it showed none.
  func seen(_ nav: String) -> Seen? { store?.load(endpoint: endpoint, nav: nav) }

  /// Records a state as shown; a failure only prints a warning.
  func remember(_ seen: Seen?, of nav: String) {
    guard let store, let seen else { return }
    do {
      try store.save(seen, endpoint: endpoint, nav: nav)
    } catch {
      Output.error("navctl: cannot record what you saw: \(error)")
    }
  }

  /// Deletes the record of a closed nav.
  func forget(_ nav: String) { store?.forget(endpoint: endpoint, nav: nav) }
}
