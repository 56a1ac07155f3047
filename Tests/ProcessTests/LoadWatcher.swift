import NavigationClient
import NavigationCore

/// A watcher of one nav: the library's mirror, which resumes at whichever member has the nav.
final class LoadWatcher {
  let name: String
  private let load: ClusterLoad
  private let nav: String
  private var revision: UInt64 = 0

  init(_ load: ClusterLoad, _ nav: String) {
    (self.load, self.nav) = (load, nav)
    name = "watcher of \(nav)"
  }

  /// Follows the nav to its final revision.
  func run() throws {
    var connection = try NavigationConnection.connect(
      to: load.addresses.endpoints.joined(separator: ","), name: "watcher", heartbeat: 300)
    try connection.openSession()
    try connection.request { $0.watch(nav) }
    while load.isPatient, !load.isFinal(revision, nav) {
      // What the test wants is looked for now and then, whatever the daemons do.
      switch try connection.next(timeout: .milliseconds(50)) {
      case .changed(_, .applied(let mirror, _)): note(mirror, isNext: true)
      case .changed(_, .replaced(let mirror, let why)):
        // A mirror that has diverged gets one because of its digest; a promotion after the lease
        // gives new epochs.
        if revision > 0, why != "lag", why != "epoch" {
          load.note("\(name): a snapshot, \(why ?? "")")
        }
        note(mirror, isNext: false)
      case .changed(_, .resumed(let mirror)): note(mirror, isNext: false)
      case .watchEnded(_, _, let outcome): load.note("\(name): the watch ended: \(outcome)")
      case .closed(let end): load.note("\(name): the session ended: \(end)")
      case nil, .changed, .opened, .lost, .answered, .queued, .latest, .ephemeral, .traced, .duty:
        break
      }
    }
  }

  private func note(_ mirror: Mirror, isNext: Bool) {
    revision = mirror.revision.number
    load.note(
      .init(
        revision: revision, screens: mirror.screens.map(\.id), digest: mirror.digest.text,
        isNext: isNext), nav)
  }
}
