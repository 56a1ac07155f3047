import Foundation
import NavigationCore
import RuntimePaths
import Testing

@testable import TransportGuard

/// Two ends of a connection of this machine.
private final class Pair {
  let ours: Int32
  let theirs: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    try #require(result == 0)
    (ours, theirs) = (ends[0], ends[1])
  }

  /// Whether the connection was cut off.
  var isCut: Bool {
    var byte: UInt8 = 0
    return unsafe recv(theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }

  deinit {
    close(ours)
    close(theirs)
  }
}

extension InboundGate {
  fileprivate func lets(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    judge(descriptor, bytes.span)
  }

  /// The connections that the gate has shut down, among the events.
  fileprivate func takeCuts() -> [Disconnection] {
    events.take().compactMap { if case .disconnected(let cut) = $0 { cut } else { nil } }
  }
}

@Suite struct InboundGateTests {
  private let frameBytes = 1000
  private let opening = Wire.greeting() + Wire.ready([("Socket-Type", Array("DEALER".utf8))])

  private func makeGate(total: Int = 1 << 20) -> InboundGate {
    InboundGate(maximumFrameBytes: frameBytes, messagesPerConnection: 4, totalBytes: total)
  }

  /// A connection that has said hello to the transport.
  private func connect(_ gate: InboundGate) throws -> Pair {
    let pair = try Pair()
    #expect(gate.noteAccepted(pair.ours))
    #expect(gate.lets(pair.ours, opening))
    return pair
  }

  @Test(arguments: 0..<50)
  func `what is held is what was sent and not taken`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let gate = makeGate()
    let pairs = try (0..<3).map { _ in try connect(gate) }
    var waiting: [[[Int]]] = [[], [], []]
    for _ in 0..<300 {
      let index = Int.random(in: 0..<3, using: &random)
      if waiting[index].count < 4, Bool.random(using: &random) {
        let sizes = (0...1).map { _ in Int.random(in: 0..<900, using: &random) }
        #expect(gate.lets(pairs[index].ours, Wire.message(sizes)))
        waiting[index].append(sizes)
      } else if !waiting[index].isEmpty {
        let sizes = waiting[index].removeFirst()
        gate.noteTaken(
          pairs[index].ours, cookie: gate.cookie(of: pairs[index].ours), bytes: sizes.reduce(0, +),
          frames: sizes.count)
      }
      let held = waiting.joined().map { $0.reduce(0, +) + 64 * $0.count }.reduce(0, +)
      #expect(gate.heldBytes == held)
    }
    #expect(gate.takeCuts().isEmpty)
  }

  @Test func `what is held of a connection that ends is held until the socket is empty`() throws {
    let gate = makeGate()
    let (pair, other) = (try connect(gate), try connect(gate))
    #expect(gate.lets(other.ours, Wire.message([6])))
    #expect(gate.lets(pair.ours, Wire.message([100]) + [1, 200, 5, 5]))
    let cookie = gate.cookie(of: pair.ours)
    gate.noteClosed(pair.ours)
    gate.noteClosed(pair.ours)
    #expect(gate.heldBytes == 70 + 100 + 64 + 64 + 2)
    gate.noteTaken(pair.ours, cookie: cookie, bytes: 100, frames: 1)
    gate.noteSocketEmpty()
    #expect(gate.heldBytes == 70)
    gate.noteSocketEmpty()
    #expect(gate.heldBytes == 70)
  }

  @Test func `another connection behind the same descriptor begins anew`() throws {
    let gate = makeGate()
    let pair = try connect(gate)
    #expect(gate.lets(pair.ours, Wire.message([300, 300]) + [1, 200, 5, 5]))
    #expect(gate.noteAccepted(pair.ours))
    #expect(gate.lets(pair.ours, opening + Wire.message([3])))
    #expect(gate.heldBytes == 600 + 2 * 64 + 64 + 2 + 67)
    gate.noteSocketEmpty()
    #expect(gate.heldBytes == 67)
    // What the loop takes of the one before is not this one's.
    gate.noteTaken(pair.ours, cookie: gate.cookie(of: pair.ours) &+ 1, bytes: 3, frames: 1)
    #expect(gate.heldBytes == 67)
    // Nor is anything counted below nothing.
    gate.noteTaken(pair.ours, cookie: gate.cookie(of: pair.ours), bytes: 500, frames: 2)
    #expect(gate.heldBytes == 0)
    #expect(gate.lets(pair.ours, Wire.message([3])))
    #expect(gate.heldBytes == 67)
  }

  @Test func `what a connection left behind is not charged to the next ones`() throws {
    let gate = makeGate()
    let pair = try connect(gate)
    for _ in 0..<50 {
      #expect(gate.lets(pair.ours, Wire.message(Array(repeating: 0, count: 60))))
      #expect(gate.noteAccepted(pair.ours))
      #expect(gate.lets(pair.ours, opening))
    }
    #expect(gate.heldBytes == 50 * 60 * 64)
    #expect(gate.takeCuts().isEmpty)
  }

  @Test func `an offence cuts off, once`() throws {
    let gate = makeGate()
    let (pair, other) = (try connect(gate), try connect(gate))
    #expect(!gate.lets(pair.ours, Wire.ready([])))
    #expect(!gate.lets(pair.ours, Wire.message([1])))
    #expect(pair.isCut && !other.isCut)
    let cuts = gate.takeCuts()
    #expect(cuts.map(\.reason) == [.offence(.command(name: "READY", bytes: 6))])
    #expect(cuts.map(\.descriptor) == [pair.ours] && cuts.map(\.user) == [getuid()])
    #expect(gate.takeCuts().isEmpty)
    #expect(gate.lets(other.ours, Wire.message([1])))
  }

  @Test func `as many of the longest messages may wait as libzmq lets wait, and no more`() throws {
    let gate = makeGate()
    let pair = try connect(gate)
    for _ in 0..<6 { #expect(gate.lets(pair.ours, Wire.message([0, 9, frameBytes]))) }
    #expect(!gate.lets(pair.ours, Wire.message([0, 9, frameBytes, 2000])))
    #expect(gate.takeCuts().map(\.reason) == [.connectionByteLimit])
  }

  @Test func `of all connections together those that sent the most are cut off`() throws {
    let gate = makeGate(total: 3000)
    let pairs = try [900, 200, 800, 100].map { size in
      let pair = try connect(gate)
      #expect(gate.lets(pair.ours, Wire.message([size])))
      return pair
    }
    // 2256 so far.
    #expect(gate.lets(pairs[1].ours, Wire.message([680])))
    #expect(pairs.allSatisfy { !$0.isCut })
    #expect(!gate.lets(pairs[1].ours, Wire.message([1])))
    #expect(pairs.map(\.isCut) == [false, true, false, false])
    #expect(gate.takeCuts().map(\.reason) == [.totalByteLimit])
    // While its messages wait, who sends on and has the most is next.
    #expect(gate.lets(pairs[3].ours, Wire.message([100])))
    #expect(pairs.map(\.isCut) == [true, true, false, false])
    for (index, sizes) in [(0, [900]), (1, [200, 680])] {
      for size in sizes {
        let cookie = gate.cookie(of: pairs[index].ours)
        gate.noteTaken(pairs[index].ours, cookie: cookie, bytes: size, frames: 1)
      }
    }
    #expect(gate.lets(pairs[3].ours, Wire.message([900])))
    #expect(pairs.map(\.isCut) == [true, true, false, false])
  }

  @Test func `what connections leave that were closed is counted, and nobody small pays for it`()
    throws
  {
    let gate = makeGate(total: 1 << 20)
    let pair: Pair
    do {
      let gone = try (0..<3).map { _ in try connect(gate) }
      for pair in gone {
        for _ in 0..<8 {
          #expect(gate.lets(pair.ours, Wire.frame(Array(repeating: 1, count: 936))))
        }
      }
      // Behind another number.
      pair = try connect(gate)
      for pair in gone { gate.noteClosed(pair.ours) }
    }
    #expect(gate.heldBytes == 24_000)
    gate.setTotalByteLimit(20_000)
    #expect(gate.roomForConnections == 0)
    // Less than a 256th of the limit.
    #expect(gate.lets(pair.ours, Wire.message([10])))
    #expect(gate.takeCuts().isEmpty)
    #expect(gate.heldBytes == 24_074)
    gate.noteSocketEmpty()
    #expect(gate.heldBytes == 74)
  }

  @Test func `what is cut off within what was read is not held`() throws {
    let gate = makeGate()
    let pair = try connect(gate)
    #expect(gate.lets(pair.ours, Wire.message([50])))
    #expect(!gate.lets(pair.ours, Wire.message([50]) + Wire.ready([])))
    #expect(gate.heldBytes == 50 + 64)
    let other = try connect(gate)
    #expect(!gate.lets(other.ours, (0..<300).flatMap { _ in Wire.message([500]) }))
    #expect(gate.heldBytes == 50 + 64)
  }

  @Test func `as many may come as there is room for what each may send`() throws {
    // Each may send (4 + 2) × (1000 + 8 × 64) bytes.
    let gate = makeGate(total: 20_000)
    #expect(gate.roomForConnections == 2)
    let pair = try connect(gate)
    for _ in 0..<5 { #expect(gate.lets(pair.ours, Wire.message([900]))) }
    #expect(gate.roomForConnections == 1)
    #expect(gate.hasUntakenMessages(of: pair.ours))
    gate.noteClosed(pair.ours)
    #expect(!gate.hasUntakenMessages(of: pair.ours))
    #expect(gate.roomForConnections == 1)
    gate.setTotalByteLimit(1000)
    #expect(gate.roomForConnections == 0)
    gate.noteSocketEmpty()
    #expect(gate.roomForConnections == 1)
  }

  @Test func `nothing is let in before libzmq is seen to read by it`() throws {
    let gate = makeGate()
    #expect(!gate.isInPlace(isSealed: false))
    _ = try connect(gate)
    #expect(gate.isInPlace(isSealed: false) && !gate.isInPlace(isSealed: true))
    let isOther = gate.judgeSealed(nil)
    #expect(isOther)
    #expect(gate.isInPlace(isSealed: true))
  }

  @Test func `a sealed handshake that names a routing id is not let through`() {
    let gate = makeGate()
    func lets(_ properties: [(String, [UInt8])]) -> Bool {
      let metadata = Array(Wire.ready(properties).dropFirst(8))
      return gate.judgeSealed(metadata.span)
    }
    #expect(lets([("Socket-Type", Array("DEALER".utf8)), ("Identity", [])]))
    #expect(!lets([("Socket-Type", Array("DEALER".utf8)), ("Identity", [0, 1])]))
    #expect(gate.takeCuts().map(\.reason) == [.offence(.routingID)])
  }

  @Test func `each connection is reported to the loop once, in the order of the calls`() throws {
    let gate = makeGate()
    #expect(gate.events.take() == [])
    let pair = try Pair()
    let origin = Connection.Origin.process(user: getuid(), number: getpid())
    #expect(gate.noteAccepted(pair.ours))
    let cookie = gate.cookie(of: pair.ours)
    gate.noteClosed(pair.theirs)
    gate.noteClosed(pair.ours)
    gate.noteClosed(pair.ours)
    #expect(gate.cookie(of: pair.ours) == 0)
    #expect(gate.nextAdmission() == 1 && gate.nextAdmission() == 2)
    #expect(gate.noteAccepted(pair.ours))
    func acceptance(_ admissions: UInt64) -> Acceptance {
      Acceptance(
        descriptor: pair.ours, cookie: cookie, origin: origin, admissionsBefore: admissions)
    }
    #expect(
      gate.events.take() == [
        .accepted(acceptance(0)), .closed(descriptor: pair.ours, cookie: cookie),
        .accepted(acceptance(2)),
      ])
    #expect(gate.events.take() == [])
  }

  @Test("rule 10: what libpq reads passes, by whatever number, beside a peer that is cut off")
  func ownConnections() throws {
    let gate = makeGate()
    // The beginning of PostgreSQL's answer, which is an offence in ZMTP.
    let answer: [UInt8] = [0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x53, 0, 0, 0, 22]
    let peer = try connect(gate)
    #expect(!gate.lets(try connect(gate).ours, answer))
    gate.noteClosed(peer.ours)
    _ = gate.takeCuts()
    // The kernel gives its number to a connection that this process makes.
    for _ in 0..<1000 { #expect(gate.lets(peer.ours, answer)) }
    #expect(gate.heldBytes == 0 && gate.takeCuts().isEmpty)
  }

  @Test func `descriptors that were not accepted are none of its business`() throws {
    let gate = makeGate()
    let pair = try Pair()
    #expect(!gate.noteAccepted(-1) && !gate.noteAccepted(Int32.max))
    for descriptor in [-1, 0, pair.ours, Int32.max] {
      #expect(gate.lets(descriptor, Array("anything".utf8)))
      gate.noteTaken(descriptor, cookie: gate.cookie(of: descriptor), bytes: 5, frames: 1)
      gate.noteClosed(descriptor)
    }
    #expect(gate.heldBytes == 0 && gate.takeCuts().isEmpty)
  }
}
