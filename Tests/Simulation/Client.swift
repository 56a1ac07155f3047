import NavigationCore
import NavigationClient
import NavigationHub

/// One client process: the session under test, and its twin.
struct Client: Sendable {
  /// An op that was made.
  struct SentOp: Sendable {
    var id: UInt64
    var nav: String
    var body: [UInt8]
    /// The newest row that the client had seen when it made the op, and then when it first sent it.
    var seen: UInt64
    var isSent = false
    /// The connection on which it was sent last.
    var link: ConnectionID?
  }

  let number: Int
  let id: ClientID
  let peer: Peer
  var session: ClusterReplica
  var twin = NaiveMirrors()
  var reader = ServerMessageReader()
  var link: ConnectionID?
  /// When it may connect again.
  var connectAt: UInt64 = 0
  /// What 0MQ may send again on the next connection.
  var leftOver: [Request] = []
  /// Ops and reads without an answer.
  var unanswered: Set<UInt64> = []
  var sentOps: [SentOp] = []
  /// The present-state reads under way, with the ops of the nav that were under way before them on the
  /// same connection, and do not wait for anything.
  var reads: [UInt64: [UInt64]] = [:]
  /// The questions that wait for its answer.
  var questions: [(id: AskID, question: Question)] = []
  /// The newest row of each shard that the daemon has reported to it.
  var newestRows: [Shard: UInt64] = [:]
  /// The positions that its stored mirrors claim, by nav, and whether they are wrong.
  var corrupted: Set<String> = []
  /// Navs whose mirror may be found wrong, because a message was tampered with.
  var tampered: Set<String> = []
  /// The revision at which a resumed mirror of a nav surely shows the bar of its state.
  var barIsRightFrom: [String: UInt64] = [:]
  /// The requests that ended a watch last, by nav, and the navs for which that is answered.
  var (unwatching, unwatched): ([String: UInt64], Set<String>) = ([:], [])
  /// The last complete mirrors, as a process would store them.
  var stored: [String: Mirror] = [:]

  init(number: Int, id: ClientID, peer: Peer, window: UInt64, seed: UInt64) {
    self.number = number
    self.id = id
    self.peer = peer
    session = ClusterReplica(
      client: id, name: "c\(number)", window: window, heartbeat: 1000 + seed % 4000, seed: seed)
  }
}

extension Client {
  /// Notes that an op goes to the daemon; until then it waits for the answers to others.
  mutating func noteSending(of id: UInt64?, among shards: Int) {
    guard let index = sentOps.lastIndex(where: { $0.id == id }) else { return }
    let nav = sentOps[index].nav
    if !sentOps[index].isSent { sentOps[index].seen = newestRow(of: nav, among: shards) }
    sentOps[index].isSent = true
    sentOps[index].link = link
  }

  /// Notes that an op is not under way any more; the session may hold its answer back.
  ///
  /// After a refusal it may be sent again, behind reads.
  mutating func noteAnswer(to id: UInt64?) {
    for read in reads.keys { reads[read]?.removeAll { $0 == id } }
    for index in sentOps.indices where sentOps[index].id == id { sentOps[index].link = nil }
  }

  /// Notes the newest row that a message reports.
  mutating func note(_ message: ServerMessage, among shards: Int) {
    switch message {
    case .welcome(let welcome): newestRows.merge(welcome.newestRows, uniquingKeysWith: max)
    case .ok(let reply):
      guard let nav = reply.nav, !nav.hasPrefix("$"), let row = reply.journalRow else { return }
      newestRows[Shard(ofName: nav, among: shards)] = max(newestRow(of: nav, among: shards), row)
    case .mark(let mark): newestRows.merge(mark.newestRows, uniquingKeysWith: max)
    default: break
    }
  }

  func newestRow(of nav: String, among shards: Int) -> UInt64 {
    newestRows[Shard(ofName: nav, among: shards)] ?? 0
  }
}
