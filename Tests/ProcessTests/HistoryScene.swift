import Foundation
import NavigationCore
import PostgresServer
import Testing

/// Two daemons on a database that goes back, and a client that notes what it sees of each epoch.
final class HistoryScene {
  /// How many rounds each test plays: 20 with NAVD_TEST_LONG=1, NAVD_TEST_ROUNDS, or none.
  static let count: Int = {
    let environment = ProcessInfo.processInfo.environment
    return environment["NAVD_TEST_ROUNDS"].flatMap { Int($0) }
      ?? (environment["NAVD_TEST_LONG"] == nil ? 0 : 20)
  }()

  /// The numbers of the rounds; NAVD_TEST_VERBOSE prints when each one begins.
  static var rounds: some Sequence<Int> {
    let isVerbose = ProcessInfo.processInfo.environment["NAVD_TEST_VERBOSE"] != nil
    return (0..<count).lazy.map { round in
      if isVerbose { print("\(Date()): round \(round)") }
      return round
    }
  }

  let cluster: Cluster
  var servers: [PostgresServer] { cluster.servers }
  private let client = (0..<4).map { _ in
    String(format: "%08x", UInt32.random(in: .min ... .max))
  }.joined()
  private var lastID: UInt64 = 0
  private var peers: [String: Peer] = [:]
  /// The contents of each epoch and revision of each nav, and its newest revision.
  private var contents: [String: String] = [:]
  private var newest: [String: UInt64] = [:]
  /// What the client saw that cannot be.
  private(set) var violations: [String] = []

  /// Starts everything.
  init(standbys: Int = 0) throws {
    cluster = try Cluster(standbys: standbys, hasOwnServer: true, lease: 1000)
    for name in ["a", "b"] { _ = try Self.started { try cluster.start(name) } }
    try cluster.awaitBalance("a", "b")
  }

  /// Starts a daemon as often as a service manager would: on a busy machine, a start can take longer
  /// than a daemon with this lease waits for the server.
  static func started(_ start: () throws -> TestDaemon) throws -> TestDaemon {
    var last = Result { try start() }
    _ = try eventually {
      if case .success = last { return true }
      last = Result { try start() }
      return false
    }
    return try last.get()
  }

  /// A member that was started.
  func member(_ name: String) -> TestDaemon {
    guard let member = cluster.members[name] else { preconditionFailure("no member \(name)") }
    return member
  }

  /// Makes a nav of a member.
  func nav(of member: String) throws -> String {
    let nav = try #require(
      try (0..<400).map { "n\($0)" }.first {
        try cluster.sql("SELECT owner FROM navd.shard WHERE id = \(Cluster.shard(of: $0))")
          == member
      })
    try create(nav)
    return nav
  }

  /// Makes some navs.
  func navs(_ count: Int) throws -> [String] {
    let navs = (0..<count).map { "n\($0)" }
    for nav in navs { try create(nav) }
    return navs
  }

  private func create(_ nav: String) throws {
    let made = try perform(
      nav, #"[{"nav.create":{"root":{"id":"home"}}},{"attach":{}}]"#, within: 60)
    guard made != nil else { throw Failure("\(nav) is not made") }
  }

  /// Changes a nav, at any daemon that does it, and notes what comes back.
  ///
  /// The default must have an answer; with fewer seconds there may be none.
  func write(_ nav: String, within seconds: Double = 60, at daemons: [TestDaemon]? = nil) throws {
    let screen = "s\(lastID + 1)"
    let body = try perform(
      nav, #"[{"setStack":{"screens":["home",{"id":"\#(screen)"}]}}],"if":{"any":true}"#,
      within: seconds,
      at: daemons)
    guard let body else {
      if seconds >= 60 { throw Failure("no answer about \(nav): \(transcripts)") }
      return
    }
    note(nav, body, ["home", screen])
    if try read(nav, within: seconds, at: daemons) == nil, seconds >= 60 {
      throw Failure("no answer about \(nav): \(transcripts)")
    }
  }

  /// Reads a nav, and notes what comes back; nil if nobody answers.
  @discardableResult func read(
    _ nav: String, within seconds: Double, at daemons: [TestDaemon]? = nil
  ) throws -> [String]? {
    guard let body = try ask("get", nav, "", within: seconds, at: daemons) else { return nil }
    let screens = body["value"]?["screens"]?.ids ?? []
    if let value = body["value"] { note(nav, value, screens) }
    return screens
  }

  private func note(_ nav: String, _ body: JSON, _ screens: [String]) {
    let revision = body["rev"]?.integer ?? 0
    let epoch = "\(nav) \(body["epoch"]?.string ?? "")"
    let content = "\(screens) \(body["dig"]?.string ?? "")"
    let key = "\(epoch) \(revision)"
    if let former = contents.updateValue(content, forKey: key), former != content {
      violations.append("two contents of \(key): \(former), then \(content)")
    }
    if let former = newest[epoch], former > revision {
      violations.append("\(epoch) went back from \(former) to \(revision)")
    }
    newest[epoch] = max(newest[epoch] ?? 0, revision)
  }

  private func perform(
    _ nav: String, _ operations: String, within seconds: Double, at daemons: [TestDaemon]? = nil
  ) throws -> JSON? {
    let name = #","client":"\#(client)","name":"witness","do":\#(operations)"#
    return try ask("op", nav, name, within: seconds, at: daemons)
  }

  /// Sends the same octets to one daemon after the other, until one decides.
  private func ask(
    _ verb: String, _ nav: String, _ members: String, within seconds: Double,
    at daemons: [TestDaemon]?
  ) throws -> JSON? {
    lastID += 1
    let id = lastID
    let body = "{\"id\":\(id),\"nav\":\"\(nav)\"\(members)}"
    let end = Date(timeIntervalSinceNow: seconds)
    repeat {
      supervise()
      for daemon in daemons ?? Array(cluster.members.values) where daemon.child.isRunning {
        let peer = try peers[daemon.endpoint] ?? Peer(daemon.endpoint)
        peers[daemon.endpoint] = peer
        guard try peer.offer(verb, body, within: 0.05) else { continue }
        let limit = Date(timeIntervalSinceNow: 0.3)
        while let answer = try peer.receive(within: max(0, limit.timeIntervalSinceNow)) {
          guard answer.body["id"]?.integer == id else { continue }
          if answer.verb == "ok" { return answer.body }
          let code = answer.body["code"]?.string ?? ""
          if ["moved", "busy", "storage", "shutting-down"].contains(code) { break }
          // A nav that was made after the state that came back is not there any more.
          violations.append("\(verb) \(nav): \(answer.body)")
          return nil
        }
      }
    } while Date() < end
    return nil
  }

  /// Starts what has ended, as a service manager would.
  func supervise() {
    for member in cluster.members.values where !member.child.isRunning {
      try? member.start(until: "navd")
    }
  }

  /// Restores a dump in parts, between which a daemon ends and starts.
  func restoreSlowly(_ dump: String) throws {
    let marks = ["CREATE SCHEMA navd", "COPY navd.member", "COPY navd.version", "ADD CONSTRAINT"]
    var from = dump.startIndex
    for mark in marks {
      guard let place = dump.range(of: mark, range: from..<dump.endIndex) else { continue }
      // The beginning of the statement.
      let line = dump[..<place.lowerBound].range(of: "\n\n", options: .backwards)
      let next = line?.upperBound ?? place.lowerBound
      try servers[0].restore(String(dump[from..<next]), in: cluster.database)
      from = next
      try member("a").kill()
      supervise()
      _ = try read("n0", within: 0.5)
    }
    try servers[0].restore(String(dump[from...]), in: cluster.database)
  }

  private var transcripts: String {
    (violations.suffix(3)
      + cluster.members.values.map { String($0.child.transcript.suffix(1500)) })
      .joined(separator: "\n")
  }
}

extension PostgresServer {
  /// Starts a server, runs SQL, and has the settings read again.
  func sql(afterStart text: String) throws {
    try start()
    try sql(text)
    try sql("SELECT pg_reload_conf()")
  }
}
