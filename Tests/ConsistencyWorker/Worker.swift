import NavigationClient
import NavigationCore

/// One client that changes navs at random, follows some of them, and checks what it is told.
struct Worker: ~Copyable {
  private static let operationsInFlight = 6
  /// What may be answered to an operation that is chosen by a mirror that is behind.
  private static let expected: Set<String> = [
    "desync", "not-in-stack", "unknown-screen", "unknown-item", "limit", "no-root",
  ]
  private static let revisionsBetweenSamples: UInt64 = 397

  private let name: String
  private let navs: [String]
  private var connection: NavigationConnection
  private var generator: SeededGenerator
  private var lines = Lines()
  private var report = Report()
  private var inFlight: [UInt64: (nav: String, operations: [String])] = [:]
  private var positions: [String: (epoch: Epoch, revision: Revision)] = [:]
  private var mirrors: [String: Mirror] = [:]
  private var number = 0
  private var opened = 0
  private var isStopping = false
  private var isQuiet = false
  /// The revisions to be reached before the report is written.
  private var wanted: [String: UInt64]?

  init(endpoint: String, name: String, seed: UInt64, watched: [String], navs: [String]) throws {
    // Only kills shall end connections, however long the disk keeps the daemon waiting.
    var connection = try NavigationConnection.connect(to: endpoint, name: name, heartbeat: 60_000)
    try connection.openSession()
    for nav in watched { try connection.request { $0.watch(nav) } }
    self.name = name
    self.navs = navs
    self.connection = connection
    generator = SeededGenerator(seed: seed)
  }

  /// Works until the report is written.
  mutating func run() throws {
    while true {
      while let command = lines.next() { obey(command) }
      if lines.isClosed { return }
      while !isStopping, inFlight.count < Self.operationsInFlight { try submit() }
      if isStopping, inFlight.isEmpty, !isQuiet {
        isQuiet = true
        Lines.write("quiet")
      }
      if let wanted, wanted.allSatisfy({ (positions[$0]?.revision.number ?? 0) >= $1 }) {
        report.samples += mirrors.sorted { $0.key < $1.key }.map { (nav: $0, mirror: $1) }
        Lines.write(report.json())
        return
      }
      // Commands are looked for now and then, whatever the daemon does.
      if let event = try connection.next(timeout: .milliseconds(20)) { take(event) }
    }
  }

  private mutating func obey(_ command: String) {
    if command == "stop" { isStopping = true }
    guard command.hasPrefix("report ") else { return }
    var wanted: [String: UInt64] = [:]
    for item in command.dropFirst("report ".count).split(separator: ",") {
      let parts = item.split(separator: "=")
      if parts.count == 2 { wanted[String(parts[0])] = UInt64(parts[1]) }
    }
    self.wanted = wanted
  }

  private mutating func submit() throws {
    guard let nav = navs.randomElement(using: &generator) else { return }
    number += 1
    let mirror = connection.cluster.replica(of: nav).flatMap { $0.isSynced ? $0.mirror : nil }
    let choice = OperationChoice(mirror: mirror, name: name, number: number, using: &generator)
    let request = OpRequest(id: 0, nav: nav, guards: choice.guards)
    let id = try connection.submit(request, operations: choice.operations.map { Array($0.utf8) })
    inFlight[id] = (nav, choice.operations)
  }

  private mutating func take(_ event: SessionEvent) {
    switch event {
    case .answered(let id, let result): take(id, result)
    case .changed(let nav, let change): take(nav, change)
    case .lost:
      report.losses += 1
      report.inFlightAtLoss += inFlight.count
    case .watchEnded(let nav, _, let outcome):
      report.violations.append("the watch of \(nav) ended: \(outcome)")
    case .closed(let end): report.violations.append("the session ended: \(end)")
    case .opened:
      opened += 1
      Lines.write("opened \(opened)")
    case .queued, .latest, .ephemeral, .traced, .duty: break
    }
  }

  private mutating func take(_ id: UInt64, _ result: Result<OkReply, ErrReply>) {
    guard let (nav, operations) = inFlight.removeValue(forKey: id) else {
      report.violations.append("op \(id) was answered twice")
      return
    }
    switch result {
    case .success(let reply):
      report.answers.append(
        .init(
          id: id, nav: nav, code: "ok", revision: reply.revision?.number ?? 0,
          changed: reply.changed ?? false))
    case .failure(let refusal):
      if !Self.expected.contains(refusal.code) {
        report.violations.append(
          "\(refusal.code) at \(refusal.revision?.number ?? 0) for \(operations) of \(nav): "
            + refusal.message)
      }
      report.answers.append(
        .init(
          id: id, nav: nav, code: refusal.code, revision: refusal.revision?.number ?? 0,
          changed: false))
    }
    if report.answers.count % 50 == 0 { Lines.write("answered \(report.answers.count)") }
  }

  private mutating func take(_ nav: String, _ change: MirrorChange) {
    switch change {
    case .applied(let mirror, let diff):
      report.diffs += 1
      if let last = positions[nav],
        last.epoch != diff.epoch || last.revision.number + 1 != diff.revision.number
      {
        report.violations.append(
          "\(nav): after \(last.epoch.text) \(last.revision.number) came "
            + "\(diff.epoch.text) \(diff.revision.number)")
      }
      remember(nav, mirror)
      if mirror.revision.number % Self.revisionsBetweenSamples == 0 {
        report.samples.append((nav, mirror))
      }
    case .replaced(let mirror, let why):
      if let last = positions[nav] {
        report.snapshots[why ?? "unlabelled", default: 0] += 1
        if last.epoch != mirror.epoch || last.revision > mirror.revision {
          report.violations.append("\(nav): a snapshot went back to \(mirror.revision.number)")
        }
      }
      remember(nav, mirror)
    case .resumed(let mirror):
      report.resumes += 1
      if let last = positions[nav], last != (mirror.epoch, mirror.revision) {
        report.violations.append("\(nav): resumed elsewhere, at \(mirror.revision.number)")
      }
    case .proven: break
    case .suspect: report.violations.append("\(nav): the mirror was suspect")
    }
  }

  private mutating func remember(_ nav: String, _ mirror: Mirror) {
    positions[nav] = (mirror.epoch, mirror.revision)
    mirrors[nav] = mirror
  }
}
