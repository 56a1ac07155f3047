import Foundation
@testable import NavigationCore
@testable import NavigationHub
import SimulatedDisk
import Testing

@testable import Journal
@testable import NavigationDaemon

/// Power failures at any moment: what recorded daemons wrote, less a part of what was not synced.
extension LongProcessTests {
  @Suite struct PowerCutTests {
    fileprivate static let isLong = ProcessInfo.processInfo.environment["NAVD_TEST_LONG"] != nil

    /// NAVD_TEST_SEED makes other images.
    private static let seed =
      ProcessInfo.processInfo.environment["NAVD_TEST_SEED"].flatMap { UInt64($0) } ?? 7

    /// Keeps less history than the run makes, so that navd prunes.
    private static let pruning = "[history]\nrevisions = 40\nsnapshot-every = 9\n"

    @Test(.timeLimit(.minutes(isLong ? 60 : 10)), arguments: ["", pruning])
    func `after a power failure at any moment, navd starts with all that it acknowledged`(
      configuration: String
    ) throws {
      let run = try RecordedRun(configuration)
      var maker = ImageMaker(run)
      maker.random = SeededGenerator(seed: Self.seed)
      maker.choose(Self.isLong ? 1000 : 100, losses: Self.isLong ? 6 : 2)
      var torn: [Image] = []
      let (made, faults) = try check(&maker) { images in
        torn += images.filter { $0.isTorn }.prefix(1)
      }
      print("crash images: \(made), violations: \(faults.count)")
      #expect(made >= (Self.isLong ? 6000 : 200), "\(made) images")
      #expect(faults.isEmpty, "\(faults.count) of \(made): \(faults.prefix(5))")
      // Otherwise the run has not come to what it is about.
      #expect(maker.kinds.isSuperset(of: ["backup", "restoring", "restored"]) && torn.count > 1)

      // The power fails again, during the start on what the first failure left.
      for image in torn.shuffled(using: &maker.random).prefix(Self.isLong ? 50 : 3) {
        var maker = try ImageMaker(image, run.startOn(image))
        maker.choose(10, losses: 2)
        let (made, faults) = try check(&maker)
        #expect(made > 5 && faults.isEmpty, "\(image.name): \(faults.prefix(5))")
      }
    }

    /// Starts on all images of a maker.
    private func check(
      _ maker: inout ImageMaker, _ see: ([Image]) -> Void = { _ in }
    ) throws -> (made: Int, faults: [String]) {
      var (made, faults) = (0, [String]())
      while let images = try maker.next(16) {
        faults += Batch(images).faults()
        made += images.count
        see(images)
      }
      return (made, faults)
    }
  }
}

// The recorded run.

/// The state of a nav that navd acknowledged.
private struct Acknowledged: Hashable {
  var nav: String
  var epoch: String
  var revision: UInt64
  var digest: String

  init(_ body: JSON) throws {
    guard let nav = body["nav"]?.string, let epoch = body["epoch"]?.string,
      let revision = body["rev"]?.integer, let digest = body["dig"]?.string
    else { throw Failure("no acknowledgement: \(body)") }
    (self.nav, self.epoch, self.revision, self.digest) = (nav, epoch, revision, digest)
  }
}

/// Daemons that make changes and a backup, go back to the backup, and go on.
private final class RecordedRun {
  /// What the test knows at its place among the calls.
  enum Note: Hashable {
    case acknowledged(Acknowledged)
    case backupAsked
    case restoring
    case restored
  }

  static let navs = ["a", "b", "c"]

  private(set) var calls: [RecordedCall] = []
  private(set) var notes: [Note] = []
  private let directory: TestDirectory
  private let daemon: TestDaemon
  /// The log of the calls, open to append.
  private let log: Int32
  private var peers: [Peer] = []
  private var number = 0
  private var random = SeededGenerator(seed: 5)

  init(_ configuration: String) throws {
    directory = try TestDirectory()
    let recorder = directory.path + "/recorder.so"
    let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures"
    let compiler = try Child(
      "/usr/bin/cc", ["-shared", "-fPIC", "-o", recorder, fixtures + "/recorder.c", "-ldl"])
    #expect(try compiler.ended() == 0, "\(compiler.transcript)")
    let path = directory.path + "/log"
    log = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    // The daemon makes its directory itself; the rest is left out below.
    let environment = Self.environment(recorder, path, "/tmp/navd-t-")
    daemon = try TestDaemon(environment: environment, configuration: configuration)
    try play(configuration, environment)
    let recorded = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    calls = try RecordedCall.read(recorded)
      .filter { $0.kind == .note || $0.path.hasPrefix(daemon.state) }
  }

  private static func environment(
    _ recorder: String, _ log: String, _ directory: String
  ) -> [String: String] {
    ["LD_PRELOAD": recorder, "RECORDER_LOG": log, "RECORDER_DIRECTORY": directory]
  }

  /// Starts a daemon on an image until it serves; returns its calls.
  func startOn(_ image: Image) throws -> [RecordedCall] {
    let own = try TestDirectory()
    try image.write(to: own.path + "/state")
    let log = own.path + "/log"
    let child = try Child(
      Binaries.path("navd"), ["--listen", "ipc://\(own.path)/op", "--state", own.path + "/state"],
      environment: Self.environment(directory.path + "/recorder.so", log, own.path + "/state"))
    try child.complains("serving ")
    child.kill(SIGKILL)
    try child.ended()
    return try RecordedCall.read(Array(try Data(contentsOf: URL(fileURLWithPath: log))))
      .map { $0.moved(from: own.path + "/state", to: image.state) }
  }

  deinit { close(log) }

  var state: String { daemon.state }

  private func play(_ configuration: String, _ environment: [String: String]) throws {
    try connect()
    for nav in Self.navs { try perform(nav, #"{"nav.create":{"root":{"id":"home"}}}"#) }
    for round in 0..<2 {
      try generation(fills: round == 0 || LongProcessTests.PowerCutTests.isLong)
      guard !configuration.isEmpty else { continue }
      // A changed rule is applied at once.
      let text = configuration.replacing("= 40", with: "= \(30 + round)")
      _ = try daemon.directory.write("navd.conf", text)
      #expect(try daemon.navctl(["reload"]).status == 0)
      let isPruned = try eventually {
        try peers[0].ask("get", #""nav":"a","at":1"#).verb == "err"
      }
      #expect(isPruned)
    }
    try note(.backupAsked)
    let backup = try peers[0].get(#""what":"backup""#)["value"]?.string ?? ""
    try changes(10, bytes: 10...9000)
    #expect(try daemon.stop() == 0)
    try note(.restoring)
    let child = try Child(
      Binaries.path("navd"), ["--restore", backup, "--state", daemon.state],
      environment: environment)
    #expect(try child.ended() == 0, "\(child.transcript)")
    try note(.restored)
    try daemon.start()
    try connect()
    try changes(10, bytes: 10...9000)
    #expect(try daemon.stop() == 0)
  }

  /// Fills the log until navd begins it anew, if that is wanted, then makes changes of one frame and of
  /// many.
  private func generation(fills: Bool) throws {
    func pages() throws -> UInt64 {
      try peers[0].get(#""what":"stats""#)["value"]?["journal"]?["walPages"]?.integer ?? 0
    }
    while fills, try pages() <= 260 { for _ in 0..<20 { try changes(1, bytes: 10...10) } }
    // navd begins the log anew in a quiet moment, which each question puts off by 100 ms.
    while fills, try pages() > 0 { _ = poll(nil, 0, 200) }
    for _ in 0..<20 { try changes(1, bytes: 10...10) }
    for _ in 0..<4 { try changes(1, bytes: 9_000...20_000) }
    // Many at a time, which the writer commits together.
    try changes(30, bytes: 10...3000)
  }

  private func connect() throws {
    peers = try (0..<3).map { _ in
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      return peer
    }
  }

  /// Sends ops all at once, and notes each answer.
  private func changes(_ count: Int, bytes: ClosedRange<Int>) throws {
    var sent: [Int] = Array(repeating: 0, count: peers.count)
    for _ in 0..<count {
      let peer = number % peers.count
      let text = (0..<Int.random(in: bytes, using: &random)).map { _ in
        // Nothing that could be packed.
        UInt8.random(in: 0x30...0x5b, using: &random)
      }
      let nav = Self.navs[Int.random(in: 0..<3, using: &random)]
      let ops =
        #"{"popToRoot":{}},{"push":{"screen":{"id":"s\#(number)","args":"\#(String(decoding: text, as: UTF8.self))"}}}"#
      try send(nav, ops, by: peers[peer])
      sent[peer] += 1
    }
    for (peer, count) in zip(peers, sent) {
      for _ in 0..<count { try noteAnswer(to: peer) }
    }
  }

  private func perform(_ nav: String, _ ops: String) throws {
    try send(nav, ops, by: peers[0])
    try noteAnswer(to: peers[0])
  }

  private func send(_ nav: String, _ ops: String, by peer: Peer) throws {
    number += 1
    try peer.send("op", #"{"id":\#(number),"nav":"\#(nav)","if":{"any":true},"do":[\#(ops)]}"#)
  }

  private func noteAnswer(to peer: Peer) throws {
    let answer = try peer.awaits("answer") { ["ok", "err"].contains($0.verb) }
    try note(.acknowledged(Acknowledged(answer.body)))
  }

  private func note(_ note: Note) throws {
    notes.append(note)
    let line = Array("n\t\(notes.count - 1)\t0\t\t\n".utf8)
    guard unsafe write(log, line, line.count) == line.count else { throw Failure("no log") }
  }
}

// The images.

/// What a start on an image must find.
private struct Expectation {
  /// The newest acknowledged state of each nav.
  var newest: [String: Acknowledged] = [:]
  /// All acknowledged digests.
  var digests: [String: [String: [UInt64: String]]] = [:]
  /// What was acknowledged when the backup was asked for.
  var inBackup: [String: Acknowledged] = [:]
  var isRestoring = false
  var isRestored = false

  mutating func take(_ note: RecordedRun.Note) {
    switch note {
    case .acknowledged(let state): newest[state.nav] = state
    case .backupAsked: inBackup = newest
    case .restoring: isRestoring = true
    case .restored: isRestored = true
    }
  }

  /// What is wrong with a nav of an image; nil if nothing is.
  func fault(_ nav: String, _ epoch: String, _ revision: UInt64) -> String? {
    guard let newest = newest[nav] else { return nil }
    var least = newest.revision
    if epoch != newest.epoch {
      // Only a restoration gives new epochs; the first changes behind it are acknowledged in these.
      guard isRestoring, let saved = inBackup[nav], newest.epoch == saved.epoch else {
        return "\(nav) has epoch \(epoch) instead of \(newest.epoch)"
      }
      least = saved.revision
    } else if isRestored, epoch == inBackup[nav]?.epoch {
      return "\(nav) is as before the restoration"
    }
    return revision >= least ? nil : "\(nav) has revision \(revision) instead of \(least)"
  }

  /// Whether the digest of a state, which navd has computed anew, is the acknowledged one.
  func agrees(_ entry: NavEntry) -> Bool {
    let known = digests[entry.name]?[entry.epoch.text]?[entry.revision.number]
    return known == nil || known == entry.digest.text
  }
}

/// The files that a power failure left, and what they must hold.
private struct Image {
  var name: String
  var state: String
  var files: [String: [UInt8]]
  var expectation: Expectation
  /// Which nav is loaded.
  var choice: Int
  /// Whether the log has a part of what was not synced.
  var isTorn: Bool
}

/// Makes the images of a run, one after the other.
private struct ImageMaker {
  private let calls: [RecordedCall]
  private let notes: [RecordedRun.Note]
  private let state: String
  private var disk: RecordedDisk
  private var expectation: Expectation
  private var next = 0
  /// The calls behind which the power fails.
  private var points: Set<Int> = []
  /// How many images are made at each.
  private var losses = 0
  private var waiting: [Image] = []
  var random = SeededGenerator(seed: 7)
  /// What the power failures have met.
  private(set) var kinds: Set<String> = []

  init(_ run: RecordedRun) {
    (calls, notes, state) = (run.calls, run.notes, run.state)
    (disk, expectation) = (RecordedDisk(), Expectation())
    for case .acknowledged(let state) in notes {
      expectation.digests[state.nav, default: [:]][state.epoch, default: [:]][state.revision] =
        state.digest
    }
  }

  /// Begins on the disk that a power failure left, with the calls of a start.
  init(_ image: Image, _ calls: [RecordedCall]) {
    (self.calls, notes, state) = (calls, [], image.state)
    (disk, expectation) = (RecordedDisk(image.files), image.expectation)
  }

  /// Chooses where the power fails; `losses` is how many images are made at each point.
  mutating func choose(_ count: Int, losses: Int) {
    self.losses = losses
    // Half of the points are where a commit of several frames is complete, and not synced; a quarter
    // is in the backup, the restoration and what follows it, each of them with its share.
    let commits = calls.indices.dropFirst().dropLast().filter {
      calls[$0].kind == .write && calls[$0 - 1].kind == .write && calls[$0 + 1].kind == .sync
    }
    let changes = calls.indices.filter { ![.sync, .note].contains(calls[$0].kind) }
    points = Set(commits.shuffled(using: &random).prefix(count / 2))
    let marks = calls.indices.filter {
      calls[$0].kind == .note
        && [.backupAsked, .restoring, .restored].contains(notes[calls[$0].offset])
    }
    for (begin, end) in zip(marks, marks.dropFirst() + [calls.endIndex]) {
      points.formUnion(
        changes.filter { begin < $0 && $0 < end }.shuffled(using: &random).prefix(count / 12))
    }
    for index in changes.shuffled(using: &random) where points.count < count {
      points.insert(index)
    }
  }

  /// The next images, `count` or some more; nil at the end.
  mutating func next(_ count: Int) throws -> [Image]? {
    while waiting.count < count, next < calls.count {
      let call = calls[next]
      try disk.apply(call)
      if call.kind == .note { expectation.take(notes[call.offset]) }
      if points.contains(next) { fail(call) }
      next += 1
    }
    defer { waiting = [] }
    return waiting.isEmpty ? nil : waiting
  }

  private mutating func fail(_ call: RecordedCall) {
    for loss in RecordedDisk.Loss.allCases.shuffled(using: &random).prefix(losses) {
      let unit = Bool.random(using: &random) ? 512 : 4096
      let files = disk.image(loss, unit: unit, &random)
      let name = "\(loss) of \(unit) bytes at call \(next), \(call.kind) of \(call.path)"
      if files.keys.contains(where: { $0.hasSuffix(".db") }) { kinds.insert("backup") }
      if expectation.isRestored {
        kinds.insert("restored")
      } else if expectation.isRestoring {
        kinds.insert("restoring")
      }
      waiting.append(
        Image(
          name: name, state: state, files: files, expectation: expectation, choice: next,
          isTorn: call.path.hasSuffix("-wal") && ![.everything, .nothing].contains(loss)))
    }
  }
}

/// Some images, which are checked beside each other.
private final class Batch: @unchecked Sendable {
  private let images: [Image]
  private let lock = NSLock()
  private var found: [String] = []

  init(_ images: [Image]) { self.images = images }

  /// What is wrong with the images.
  func faults() -> [String] {
    DispatchQueue.concurrentPerform(iterations: images.count) { index in
      let image = images[index]
      do {
        for fault in try image.faults() {
          lock.withLock { found.append("\(image.name): \(fault)") }
        }
      } catch {
        lock.withLock { found.append("\(image.name): \(error)") }
      }
    }
    return found
  }
}

extension Image {
  /// Starts on the image, and on a journal restored from each backup in it.
  func faults() throws -> [String] {
    let directory = try TestDirectory()
    let own = directory.path + "/state"
    try write(to: own)
    var faults = try faults(own) { expectation.fault($0, $1, $2) }
    for (path, bytes) in files where path.hasSuffix(".db") {
      let copy = directory.path + "/copy"
      try write(bytes, copy + "/" + Journal.fileName)
      faults += try self.faults(copy) { nav, _, revision in
        let least = expectation.inBackup[nav]?.revision ?? 0
        return revision >= least ? nil : "\(nav) is too old in \(path)"
      }
    }
    return faults
  }

  /// Writes the files of the state directory to another one.
  func write(to directory: String) throws {
    for (path, bytes) in files { try write(bytes, directory + path.dropFirst(state.count)) }
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data(bytes).write(to: url)
  }

  /// Opens a journal as a start does, looks at each acknowledged nav, and loads one of them.
  private func faults(
    _ directory: String, _ fault: (_ nav: String, _ epoch: String, _ revision: UInt64) -> String?
  ) throws -> [String] {
    let journal = try Journal.open(
      directory: directory, durability: .sync, bootID: "next", retention: Retention.standard,
      holder: "test")
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    _ = try JournalReplay.replay(journal, into: &hub, progress: { _, _ in }, reportStatus: { _ in })
    if let shortage = journal.shortageAtStart { return [shortage.description] }
    var faults: [String] = []
    for nav in expectation.newest.keys.sorted() {
      guard let place = hub.navs.dormants.place(named: nav) else {
        faults.append("\(nav) is missing")
        continue
      }
      let (epoch, revision) = (
        hub.navs.dormants[place].epoch.text, hub.navs.dormants.history(place).head.revision.number
      )
      if let found = fault(nav, epoch, revision) { faults.append(found) }
    }
    let requests = hub.dormantNavs
    if !requests.isEmpty {
      let request = requests[choice % requests.count]
      let chain = try journal.place.openReader().chain(of: request)
      try hub.revive(request, snapshot: chain.snapshot, rows: chain.rows)
      let slot = hub.navs.slot(numbered: request.nav) ?? Navs.navsSlot
      if !expectation.agrees(hub.navs[slot]) { faults.append("nav \(request.nav) differs") }
    }
    try journal.close()
    return faults
  }
}
