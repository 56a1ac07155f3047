import RuntimePaths

/// The states that this terminal showed, kept in files between runs; see `SeenStore`.
struct Memory {
  private let store: SeenStore?
  private let endpoint: String
  /// Why nothing is kept; nil if states are kept.
  let obstacle: String?

  init(_ environment: ProcessEnvironment, endpoint: String) {
    self.endpoint = endpoint
    guard let directory = SeenStore.directory(environment) else {
      (store, obstacle) = (nil, "HOME is not set")
      return
    }
    guard let session = TerminalSession.current(environment) else {
      (store, obstacle) = (nil, "the leader of this session has ended")
      return
    }
    (store, obstacle) = (SeenStore(directory: directory, session: session), nil)
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

  func forget(_ nav: String) { store?.forget(endpoint: endpoint, nav: nav) }
}
