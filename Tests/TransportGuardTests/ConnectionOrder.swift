import NavigationCore
import NavigationHub

@testable import TransportGuard

/// A few connections of which the kernel, libzmq's threads and the loop take note, in an order that a
/// seed determines, and what ``Connections`` makes of that.
///
/// Each of these happens in steps of its own, between which any of the others may happen: a
/// connection is accepted, asks for admission, sends, is reported as closed, and is closed by the
/// kernel, which gives its number to the next one. Messages wait in the socket, also after the end.
struct ConnectionOrder {
  /// What may be wrong about how observations are made use of.
  enum Fault: CaseIterable {
    /// The reported end is looked into at once: if the descriptor is still there, it is dropped.
    case dropsEndsOfOpenDescriptors
    /// A first message belongs to whichever connection has its descriptor now.
    case trustsDescriptors
    /// A connection is forgotten with its descriptor, with messages still waiting.
    case forgetsWhatWaits
  }

  private struct Client {
    enum Stage { case accepted, asking, answered, refused, reported, closed }
    var cookie: UInt64
    var descriptor: Int32
    var peer: Peer
    var stage = Stage.accepted
    var admission: UInt64 = 0
    var hasSent = false
    /// Messages in the socket.
    var waiting = 0
    /// Whether the loop has read one of them.
    var isHeard = false
  }

  private var random: SeededGenerator
  private let fault: Fault?
  private var connections = Connections()
  private var clients: [Client] = []
  private var queue: [ConnectionEvent] = []
  private var admissions: UInt64 = 0
  private var now: UInt64 = 0
  private var ended: [ConnectionID] = []
  private var found: String?
  private let limit: Int

  init(seed: UInt64, fault: Fault? = nil) {
    random = SeededGenerator(seed: seed)
    self.fault = fault
    limit = Int.random(in: 1...4, using: &random)
  }

  /// What contradicts the laws, nil for nothing.
  func violation() -> String? {
    var order = self
    for _ in 0..<20 where order.found == nil { order.step() }
    order.finish()
    return order.found
  }

  private mutating func step() {
    let index = clients.indices.randomElement(using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: accept()
    case 2: takeEvents()
    case 3: lookForEmptySocket()
    case 4:
      now += UInt64.random(in: 1..<300, using: &random)
      takeEvents()
      ended += connections.takeDue(at: now).ended
    case 5, 6: if let index { receive(index) }
    default: if let index { advance(index) }
    }
  }

  private mutating func accept() {
    let used = clients.filter { $0.stage != .closed }.map(\.descriptor)
    // The kernel gives the lowest number that is free.
    guard clients.count < 8, let free = (3..<7 as Range<Int32>).first(where: { !used.contains($0) })
    else { return }
    let process = Int32.random(in: 1...2, using: &random)
    let peer: Peer =
      Bool.random(using: &random)
      ? .local(user: 5, group: 0, process: process) : .key(name: "key\(process)", address: "")
    let client = Client(cookie: UInt64(100 + clients.count), descriptor: free, peer: peer)
    clients.append(client)
    queue.append(
      .accepted(
        Acceptance(
          descriptor: free, cookie: client.cookie, origin: Connection.Origin(peer),
          admissionsBefore: admissions)))
  }

  /// What libzmq's threads and the kernel do next with a connection.
  private mutating func advance(_ index: Int) {
    let (client, isEnd) = (clients[index], Int.random(in: 0..<3, using: &random) == 0)
    switch client.stage {
    case .accepted, .asking, .answered, .refused:
      if isEnd || client.stage == .refused {
        clients[index].stage = .reported
        queue.append(.closed(descriptor: client.descriptor, cookie: client.cookie))
      } else if client.stage == .accepted {
        clients[index].stage = .asking
      } else if client.stage == .asking {
        answer(index)
      } else {
        clients[index].hasSent = true
        clients[index].waiting += 1
      }
    case .reported: clients[index].stage = .closed
    case .closed: break
    }
  }

  private mutating func answer(_ index: Int) {
    takeEvents()
    admissions += 1
    let peer = clients[index].peer
    let counted = connections.usedSlots.count {
      connections[$0].isOpen && connections[$0].admission != 0
        && connections[$0].peer.isOfSamePrincipal(as: peer)
    }
    let verdict = connections.admit(
      peer, as: admissions, GuardedRouter.Limits(connections: 100, ofPrincipal: limit))
    switch verdict {
    case .admitted:
      clients[index].stage = .answered
      clients[index].admission = admissions
    case .tooMany(ofPrincipal: true) where counted >= limit: clients[index].stage = .refused
    case .tooMany, .ended:
      clients[index].stage = .refused
      if fault == nil { found = "with \(counted) of \(limit) a connection is \(verdict)" }
    }
  }

  private mutating func takeEvents() {
    for event in queue {
      switch event {
      case .accepted(let acceptance): connections.noteAccepted(acceptance, at: now)
      case .closed(let descriptor, let cookie):
        let isThere = clients.contains { $0.cookie == cookie && $0.stage != .closed }
        if fault == .dropsEndsOfOpenDescriptors, isThere { continue }
        connections.noteClosed(descriptor, cookie: cookie, at: now)
        if fault == .forgetsWhatWaits { ended += connections.noteSocketEmpty() }
      case .descriptorShortage, .disconnected: break
      }
    }
    queue = []
    let open = clients.count { $0.stage != .reported && $0.stage != .closed }
    let admitted = clients.count { $0.stage == .answered }
    let counted = connections.usedSlots.count {
      connections[$0].isOpen && connections[$0].admission != 0
    }
    if fault == nil, !(admitted...max(open, admitted)).contains(counted) {
      found = "\(counted) of \(open) connections count as admitted, \(admitted) were"
    }
    if connections.openCount != open {
      found = "\(connections.openCount) connections are counted, \(open) are open"
    }
  }

  private func id(_ index: Int) -> ConnectionID { ConnectionID(UInt64(index)) }

  /// The loop reads the next message of one connection.
  private mutating func receive(_ index: Int) {
    let client = clients[index]
    guard client.waiting > 0 else { return }
    clients[index].waiting -= 1
    if let slot = connections.slot(of: id(index)) {
      if connections[slot].acceptance.cookie != client.cookie {
        found = "a message is taken for another connection's"
      }
      return
    }
    takeEvents()
    let slot = connections.noteFirstMessage(
      id(index), [], from: client.peer, key: nil,
      admission: fault == .trustsDescriptors ? .max : client.admission,
      descriptor: client.descriptor)
    let isLate = now >= Connections.closedLifetime
    if let slot {
      if connections[slot].acceptance.cookie != client.cookie || client.isHeard {
        found = "a first message is taken for another connection's"
      }
      clients[index].isHeard = true
    } else if !isLate {
      found = "a first message is not taken"
    }
  }

  /// The loop finds the socket empty, if it is.
  private mutating func lookForEmptySocket() {
    guard clients.allSatisfy({ $0.waiting == 0 }) else { return }
    ended += connections.noteSocketEmpty()
  }

  /// Everybody leaves, and the loop takes note of it, by one way or the other.
  private mutating func finish() {
    for index in clients.indices {
      while clients[index].stage != .closed, found == nil { advance(index) }
    }
    if Bool.random(using: &random) {
      for index in clients.indices {
        while clients[index].waiting > 0 { receive(index) }
      }
      takeEvents()
      lookForEmptySocket()
    } else {
      takeEvents()
      now += Connections.closedLifetime
      ended += connections.takeDue(at: now).ended
    }
    guard found == nil else { return }
    let heard = clients.indices.filter { clients[$0].isHeard }.map(id)
    let due = connections.takeDue(at: now + Connections.firstMessageTime)
    if connections.count != 0 || connections.openCount != 0 || connections.wakeAt != nil
      || !due.ended.isEmpty || !due.silent.isEmpty
    {
      found = "\(connections.count) of \(clients.count) connections are left"
    } else if ended.sorted(by: { $0.number < $1.number }) != heard {
      found = "the ends of \(ended) were reported, not of \(heard)"
    }
  }
}
