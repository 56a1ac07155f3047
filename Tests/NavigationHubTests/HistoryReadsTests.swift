@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct HistoryReadsTests {
  private static func read(_ connection: UInt64, _ id: UInt64) -> PendingRead {
    PendingRead(
      sender: Sender(
        connection: ConnectionID(connection), peer: .local(user: 0, group: 0, process: 1)),
      id: id, purpose: .log(floor: Revision(1), through: 1),
      standing: NavStanding(
        nav: "kiosk", epoch: Epoch(bits: 1), revision: Revision(1),
        digest: Digest(checksum: 0, chain: 0),
        depth: 1, top: nil),
      owner: "uid:0")
  }

  @Test(arguments: UInt64(1)...4)
  func `each answer finds what it answers once`(seed: UInt64) {
    var reads = HistoryReads()
    var asked: [UInt64: UInt64] = [:]
    var given: Set<UInt64> = []
    var random = SeededGenerator(seed: seed)
    for step in UInt64(0)..<600 {
      switch random.next() % 3 {
      case 0:
        let token = reads.insert(Self.read(step % 3, step))
        #expect(given.insert(token).inserted)
        asked[token] = step
      default:
        guard let token = given.sorted().randomElement(using: &random) else { continue }
        let read = reads.take(token)
        #expect(read?.id == asked[token])
        if let read, random.next() % 3 == 0 {
          reads.putBack(read, token)
        } else {
          asked[token] = nil
        }
      }
      #expect(reads.count == asked.count)
      #expect(reads.navs == (asked.isEmpty ? [] : ["kiosk"]))
      for connection in UInt64(0)..<3 {
        #expect(
          reads.count(of: ConnectionID(connection)) == asked.values.count { $0 % 3 == connection })
      }
    }
  }

  @Test func `the shell gets two requests at a time, and principals take turns`() {
    var reads = HistoryReads()
    func request(_ user: UInt32, _ id: UInt64) -> HistoryRequest {
      var read = Self.read(UInt64(user), id)
      read.sender.peer = .local(user: user, group: 0, process: 1)
      return HistoryRequest(
        token: reads.insert(read), nav: 1, newestRow: 9, part: .state(at: UInt64(user)))
    }
    var underWay = reads.schedule((0..<50).map { request(1, $0) })
    #expect(underWay.count == 2)
    underWay += reads.schedule((0..<3).map { request(2, $0) } + [request(3, 0)])
    var users: [UInt64] = []
    while let next = underWay.first {
      #expect(underWay.count <= 2)
      if case .state(let user) = next.part { users.append(user) }
      reads.noteAnswer(to: next.token, cost: 1000)
      let read = reads.take(next.token)
      #expect(read != nil)
      // After a rollback the answer is handled again.
      reads.noteAnswer(to: next.token, cost: 1000)
      underWay = underWay.dropFirst() + reads.schedule([])
    }
    #expect(users.count == 54 && users.prefix(10).count { $0 == 2 } == 3)
    #expect(users.prefix(6).contains(3))
  }

  @Test func `requests of sessions that have ended are not read`() {
    var reads = HistoryReads()
    let requests = (0..<5).map {
      HistoryRequest(
        token: reads.insert(Self.read(1, $0)), nav: 1, newestRow: 9, part: .state(at: 1))
    }
    let first = reads.schedule(requests)
    for request in requests.dropFirst(2) { _ = reads.take(request.token) }
    for request in first { reads.noteAnswer(to: request.token, cost: 1) }
    let later = reads.schedule([])
    #expect(later.isEmpty)
  }
}
