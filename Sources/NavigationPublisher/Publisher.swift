import CLinux
package import CurveKeys
import NavigationClient
package import NavigationCore
import NavigationReplica
import RuntimePaths

/// The main function of navd-publish: it carries the navs of a device to another daemon.
///
/// It holds one message of rows at a time. Everything that it must not forget is in the two journals:
/// the receiver knows what it has, and the device keeps what the receiver lacks.
package final class Publisher {
  /// The version that `--version` prints.
  package static let version = "0.1.0"

  /// What the command line says.
  package struct Options {
    /// The first part of the names at the receiver.
    package var device: String
    /// The address of the device's daemon.
    package var source: String
    /// The keys for that address.
    package var sourceIdentity: NetworkIdentity?
    /// The addresses of the receiver, separated by commas.
    package var receiver: String
    /// The keys for these addresses.
    package var receiverIdentity: NetworkIdentity?
    /// The navs to carry.
    package var navs: [NavGlob]
    /// The file with the names of the navs that the receiver has; nil for none.
    package var memory: String?

    /// Makes options of their members.
    package init(
      device: String, source: String, sourceIdentity: NetworkIdentity? = nil, receiver: String,
      receiverIdentity: NetworkIdentity? = nil, navs: [NavGlob], memory: String? = nil
    ) {
      self.device = device
      self.source = source
      self.sourceIdentity = sourceIdentity
      self.receiver = receiver
      self.receiverIdentity = receiverIdentity
      self.navs = navs
      self.memory = memory
    }
  }

  /// A refusal of one of the daemons, which ends a step.
  enum StepError: Error {
    /// A connection failed; true if it is that to the receiver.
    case connection(ConnectionError, isReceiver: Bool)
    /// A daemon asks to wait for so many milliseconds.
    case later(UInt64)
    /// The receiver has newer revisions of this epoch.
    case older
    /// A daemon refuses; the text is for the log.
    case refused(String)
  }

  let options: Options
  let say: (String) -> Void
  /// The device's daemon, for single requests.
  let source: Place
  /// The receivers by address.
  private var receivers: [String: Place] = [:]
  /// The navs by their names on the device.
  var navs: [String: CarriedNav] = [:]
  /// The names of the navs that the device has, by its directory.
  private var present: Set<String> = []
  private var watched: Set<String> = []
  private var memory: Memory
  /// Where to go on among the navs, so that each has its turn.
  private var cursor = ""
  private var receiverPause = Backoff()
  private var sourcePause = Backoff()
  private var random = SystemRandomNumberGenerator()
  private var lastProblem: String?

  /// Makes a publisher; it connects to nothing yet.
  package init(_ options: Options, say: @escaping (String) -> Void) {
    self.options = options
    self.say = say
    source = Place(options.source, as: options.sourceIdentity)
    memory = Memory(options.memory)
    for name in memory.names {
      var nav = CarriedNav(name, of: options.device)
      nav.isDue = false
      navs[name] = nav
    }
  }

  /// Carries navs until the process ends.
  package func run() -> Never {
    while true {
      do throws(ConnectionError) {
        try follow()
      } catch {
        note(error.description)
        watched = []
        sourcePause.noteFailure(at: now(), random: chance())
        pause(until: sourcePause.retryAt)
      }
    }
  }

  /// Watches the device for as long as its daemon answers, and carries what changes.
  private func follow() throws(ConnectionError) {
    var feed = try NavigationConnection.connect(
      to: options.source, as: options.sourceIdentity, name: "navd-publish")
    try feed.openSession()
    try feed.watch(NavName.navs.text)
    watched = []
    for name in navs.keys { navs[name]?.isDue = true }
    while true {
      let wait = waitingTime()
      while let event = try feed.next(timeout: .milliseconds(wait)) {
        sourcePause.noteSuccess()
        take(event)
        for name in present where !watched.contains(name) {
          try feed.watch(name)
          watched.insert(name)
        }
        if waitingTime() == 0 { break }
      }
      // Everything at hand is taken before the next step, so that the session keeps its credit.
      while let event = try feed.next(timeout: .zero) { take(event) }
      step()
    }
  }

  private func take(_ event: SessionEvent) {
    switch event {
    case .changed(let nav, let change):
      guard nav == NavName.navs.text else {
        navs[nav]?.isDue = true
        return
      }
      switch change {
      case .applied(let mirror, _), .replaced(let mirror, _), .resumed(let mirror):
        takeDirectory(mirror.screens.map(\.id))
      case .suspect, .proven: break
      }
    case .watchEnded(let nav, _, _):
      watched.remove(nav)
      present.remove(nav)
      navs[nav]?.isDue = true
    case .lost, .opened, .closed, .answered, .queued, .latest, .ephemeral, .traced: break
    }
  }

  /// Takes the names of all navs of the device.
  private func takeDirectory(_ names: [String]) {
    present = Set(names.filter { name in options.navs.contains { $0.matches(name) } })
    for name in present where navs[name] == nil {
      navs[name] = CarriedNav(name, of: options.device)
    }
    for name in navs.keys where !present.contains(name) {
      navs[name]?.isDue = true
    }
  }

  /// Carries one message of rows of the next nav that is due.
  private func step() {
    guard receiverPause.retryAt <= now(), let name = nextDue() else { return }
    guard var nav = navs[name] else { return }
    cursor = name
    do throws(StepError) {
      try carry(&nav)
      nav.backoff.noteSuccess()
      nav.refusal = nil
      receiverPause.noteSuccess()
      lastProblem = nil
      if nav.position != .unknown, nav.position != .nothing { memory.insert(name) }
    } catch {
      fail(error, &nav)
    }
    if nav.isClosed, !nav.isDue {
      memory.remove(name)
      navs[name] = present.contains(name) ? CarriedNav(name, of: options.device) : nil
    } else {
      navs[name] = nav
    }
  }

  private func fail(_ error: StepError, _ nav: inout CarriedNav) {
    let chance = chance()
    switch error {
    case .connection(let error, let isReceiver):
      note(error.description)
      // The receiver may have what was on its way, and another daemon may serve the nav now.
      nav.position = .unknown
      nav.endpoint = nil
      if isReceiver { receiverPause.noteFailure(at: now(), random: chance) }
      nav.backoff.noteFailure(at: now(), random: chance)
    case .later(let milliseconds): nav.backoff.wait(until: now() + milliseconds)
    case .older, .refused:
      let text =
        if case .refused(let text) = error { text } else {
          "the receiver has revisions that this device has not"
        }
      if nav.refusal != text { say("\(nav.name): \(text)") }
      nav.refusal = text
      nav.position = .unknown
      nav.backoff.noteFailure(at: now(), random: chance)
    }
  }

  /// The receiver that serves a nav, as far as is known.
  func receiver(of nav: CarriedNav) -> Place {
    let endpoint = nav.endpoint ?? options.receiver
    if let place = receivers[endpoint] { return place }
    let place = Place(endpoint, as: options.receiverIdentity)
    receivers[endpoint] = place
    return place
  }

  // Time.

  private func nextDue() -> String? {
    let now = now()
    let due = navs.values.filter { $0.isDue && $0.backoff.retryAt <= now }.map(\.name).sorted()
    return due.first { $0 > cursor } ?? due.first
  }

  /// Milliseconds until something is due; a minute at most.
  private func waitingTime() -> Int {
    let due = navs.values.filter(\.isDue).map { max($0.backoff.retryAt, receiverPause.retryAt) }
    guard let first = due.min() else { return 60_000 }
    let now = now()
    return first <= now ? 0 : Int(min(first - now, 60_000))
  }

  /// A random number between 0 and 1.
  private func chance() -> Double { Double(random.next() >> 11) / Double(1 << 53 as UInt64) }

  private func now() -> UInt64 { SystemClock.bootMilliseconds() }

  private func pause(until time: UInt64) {
    let now = now()
    if time > now { _ = poll(nil, 0, Int32(clamping: time - now)) }
  }

  private func note(_ problem: String) {
    if problem != lastProblem { say(problem) }
    lastProblem = problem
  }
}

/// The names of the navs that the receiver has, in a file: the device closes navs while navd-publish
/// does not run, too.
struct Memory {
  private static let most = 1 << 24
  private let path: String?
  private(set) var names: Set<String> = []

  init(_ path: String?) {
    self.path = path
    guard let path else { return }
    do throws(SystemError) {
      let text = try readSmallFile(path, maximumBytes: Self.most)
      names = Set(
        String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
    } catch {
      // Without the file, closings that were missed are not repeated.
      names = []
    }
  }

  mutating func insert(_ name: String) { if names.insert(name).inserted { save() } }
  mutating func remove(_ name: String) { if names.remove(name) != nil { save() } }

  private func save() {
    guard let path else { return }
    let text = names.sorted().map { $0 + "\n" }.joined()
    // A name that is not stored is only missed if the nav is closed while navd-publish is away.
    do throws(SystemError) { try writeFileAtomically(path, Array(text.utf8)) } catch { return }
  }
}
