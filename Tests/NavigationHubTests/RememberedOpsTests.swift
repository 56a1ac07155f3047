@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The remembered ops as protocol.md §9.3 and §14 tell of them.
private struct OpsTwin {
  struct Client {
    var principal: String
    var usedAt: UInt64
    /// The remembered ops by id, with the octets and the reply.
    var ops: [UInt64: (octets: UInt64, reply: [UInt8])] = [:]
    /// All ids that were ever decided, and are not taken back.
    var decided: Set<UInt64> = []
    /// The number that was remembered when the limit changed.
    var isCut = false
  }

  var clients: [RememberedOps.Key: Client] = [:]
  var limits: HubConfiguration

  mutating func remember(_ id: UInt64, _ octets: UInt64, _ key: RememberedOps.Key, _ now: UInt64) {
    clients[key, default: Client(principal: key.principal, usedAt: now)].usedAt = now
    clients[key]?.ops[id] = (octets, [UInt8(truncatingIfNeeded: id)])
    clients[key]?.decided.insert(id)
    trim(key)
  }

  mutating func trim(_ key: RememberedOps.Key) {
    while let ops = clients[key]?.ops, ops.count > limits.rememberedOps, let oldest = ops.keys.min()
    {
      clients[key]?.ops[oldest] = nil
    }
  }

  /// The clients that make room for another one: the longest idle ones of its own principal, while
  /// that has too many, then of the one with the most.
  func victims(for key: RememberedOps.Key) -> Set<RememberedOps.Key> {
    guard clients[key] == nil else { return [] }
    var counts = clients.values.reduce(into: [:]) { $0[$1.principal, default: 0] += 1 }
    var victims: Set<RememberedOps.Key> = []
    func evict(from principal: String) {
      let own = clients.filter { $0.value.principal == principal && !victims.contains($0.key) }
      if let oldest = own.min(by: { $0.value.usedAt < $1.value.usedAt }) {
        victims.insert(oldest.key)
      }
      counts[principal, default: 0] -= 1
    }
    while counts[key.principal, default: 0] >= limits.rememberedClientsPerPrincipal {
      evict(from: key.principal)
    }
    while counts.values.reduce(0, +) >= limits.rememberedClients,
      let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })
    {
      evict(from: most.key)
    }
    return victims
  }
}

@Suite struct RememberedOpsTests {
  private struct Run {
    var random: SeededGenerator
    var (real, twin): (RememberedOps, OpsTwin)
    var now: UInt64 = 1000
    var keys: [RememberedOps.Key] = []
    var verdicts: Set<String> = []
    /// The newest row, and the greatest one ever.
    var (row, greatest): (UInt64, UInt64) = (0, 0)
    /// The row of each op that was ever decided, and is not taken back; 0 for none.
    var rows: [RememberedOps.Key: [UInt64: UInt64]] = [:]
    /// The number of changes before the horizon.
    var forgotten = 0

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      var limits = HubConfiguration()
      limits.rememberedOps = Int(2 + seed % 7)
      limits.rememberedClients = 9
      limits.rememberedClientsPerPrincipal = 4
      limits.rememberedIdle = 3000
      (real, twin) = (RememberedOps(limits: limits), OpsTwin(limits: limits))
      for number in 0..<18 as Range<UInt64> {
        let client = ClientID(high: 1, low: number / 3 &* 0x1_0000_0010)
        keys.append(RememberedOps.Key(principal: "uid:\(number % 3)", client: client))
      }
    }

    mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

    mutating func step() {
      now += 1 + below(90)
      let key = keys[Int(below(UInt64(keys.count)))]
      switch below(24) {
      case 0:
        real.expire(at: now)
        let idle = twin.clients.filter { $0.value.usedAt + twin.limits.rememberedIdle <= now }
        #expect(forget(but: nil) == Set(idle.keys))
      case 1 where below(4) == 0:
        var limits = twin.limits
        limits.rememberedOps = Int(2 + below(8))
        real.reconfigure(limits)
        twin.limits = limits
        for key in keys {
          if twin.clients[key] != nil { twin.clients[key]?.isCut = true }
          twin.trim(key)
        }
      default: decide(key)
      }
      #expect(real.clientCount == twin.clients.count)
    }

    /// Forgets the clients that are forgotten; returns them.
    private mutating func forget(but key: RememberedOps.Key?) -> Set<RememberedOps.Key> {
      let gone = Set(twin.clients.keys.filter { $0 != key && real.lastOpID(of: $0) == 0 })
      for key in gone { twin.clients[key] = nil }
      return gone
    }

    /// An op of a client arrives: a new one, or one that came before.
    private mutating func decide(_ key: RememberedOps.Key) {
      let last = real.lastOpID(of: key)
      let id = below(3) == 0 ? 1 + below(last + 2) : last + 1 + below(3)
      let octets = id &* 7 &+ (below(5) == 0 ? 1 : 0)
      let known = twin.clients[key]
      switch real.verdict(on: id, octets: BodyHash(bits: octets), of: key) {
      case .new:
        verdicts.insert("new")
        // Whatever was decided is never new again, as long as the client is remembered.
        #expect(known?.decided.contains(id) != true, "op \(id) would run twice")
        if let known, let least = known.ops.keys.min(), !known.isCut {
          #expect(known.ops.count < twin.limits.rememberedOps || id > least)
        }
        let before = twin.clients[key]
        let entry = RememberedOps.Entry(
          id: id, octets: BodyHash(bits: octets), isOk: true,
          reply: [UInt8(truncatingIfNeeded: id)])
        let victims = twin.victims(for: key)
        let isChange = below(3) > 0
        if isChange { row += 1 }
        greatest = max(greatest, row)
        let evicted = real.remember(entry, of: key, row: row, at: now)
        #expect(forget(but: key) == victims)
        twin.remember(id, octets, key, now)
        rows[key, default: [:]][id] = isChange ? row : 0
        guard below(6) == 0, let before else { return }
        // Its commit fails.
        if isChange { row -= 1 }
        rows[key]?[id] = nil
        real.forget(id, of: key, restoring: evicted)
        twin.clients[key]?.ops = before.ops
        twin.clients[key]?.decided = before.decided
      case .decided(let entry):
        verdicts.insert("decided")
        #expect(known?.ops[id]?.octets == octets && entry.reply == known?.ops[id]?.reply)
      case .reused:
        verdicts.insert("reused")
        #expect(known?.ops[id].map { $0.octets != octets } == true)
      case .tooOld:
        verdicts.insert("tooOld")
        #expect(known?.ops[id] == nil)
        #expect(known?.ops.keys.min().map { id < $0 } == true)
        #expect(known?.isCut == true || known?.ops.count == twin.limits.rememberedOps)
      }
    }

    /// The row of each forgotten op is before the horizon, and no horizon is ahead of all rows.
    mutating func checkHorizon() {
      let horizon = real.forgottenThroughRows[.first, default: 0]
      #expect(horizon <= greatest)
      for (key, rows) in rows {
        for (id, row) in rows where row > horizon {
          if case .new = real.verdict(on: id, octets: BodyHash(bits: 0), of: key) {
            Issue.record("op \(id) runs twice")
          }
        }
        forgotten += rows.values.count { $0 > 0 && $0 <= horizon }
      }
    }

    /// Each remembered op is answered, by its octets only.
    mutating func check() {
      for (key, client) in twin.clients {
        for (id, op) in client.ops {
          guard case .decided = real.verdict(on: id, octets: BodyHash(bits: op.octets), of: key)
          else {
            Issue.record("op \(id) is forgotten")
            continue
          }
          let other = real.verdict(on: id, octets: BodyHash(bits: ~op.octets), of: key)
          guard case .reused = other else {
            Issue.record("op \(id) is taken for another")
            continue
          }
        }
      }
      for key in keys where twin.clients[key] == nil { #expect(real.lastOpID(of: key) == 0) }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `the last ops of each client are answered again, and none runs twice`(seed: UInt64) {
    var run = Run(seed: seed)
    for step in 0..<1200 {
      run.step()
      if step % 40 == 0 {
        run.check()
        run.checkHorizon()
      }
    }
    run.check()
    run.checkHorizon()
    #expect(run.forgotten > 100)
    #expect(run.verdicts == ["new", "decided", "reused", "tooOld"])
  }

  @Test func `the longest idle client is the one that is forgotten`() {
    var limits = HubConfiguration()
    limits.rememberedClients = 2
    var ops = RememberedOps(limits: limits)
    let keys = (1...3).map {
      RememberedOps.Key(principal: "uid:1000", client: ClientID(high: 0, low: UInt64($0)))
    }
    func entry(_ id: UInt64) -> RememberedOps.Entry {
      RememberedOps.Entry(id: id, octets: BodyHash(bits: id), isOk: true, reply: [])
    }
    ops.remember(entry(1), of: keys[0], row: 1, at: 0)
    ops.remember(entry(2), of: keys[0], row: 2, at: 10)
    ops.remember(entry(1), of: keys[1], row: 3, at: 40)
    ops.expire(at: 50)
    ops.remember(entry(1), of: keys[2], row: 4, at: 60)
    #expect(ops.lastOpID(of: keys[0]) == 0)
    #expect(ops.lastOpID(of: keys[1]) == 1)
    #expect(ops.lastOpID(of: keys[2]) == 1)
    #expect(ops.forgottenThroughRows == [.first: 2])
  }

  @Test func `an op that waited takes no place from an op above it`() {
    var limits = HubConfiguration()
    limits.rememberedOps = 3
    var ops = RememberedOps(limits: limits)
    let key = RememberedOps.Key(principal: "uid:1000", client: ClientID(high: 0, low: 1))
    // Ops 1 and 2 wait on two navs, while the client gets the answers to 3 and 4.
    var row: UInt64 = 0
    for id: UInt64 in [3, 4, 2, 1] {
      row += 1
      let entry = RememberedOps.Entry(
        id: id, octets: BodyHash(bits: id), isOk: true, reply: [UInt8(id)])
      ops.remember(entry, of: key, row: row, at: 0)
    }
    for id in 2...4 as ClosedRange<UInt64> {
      guard case .decided = ops.verdict(on: id, octets: BodyHash(bits: id), of: key) else {
        Issue.record("op \(id) would run twice")
        continue
      }
    }
    guard case .tooOld = ops.verdict(on: 1, octets: BodyHash(bits: 1), of: key) else {
      Issue.record("op 1 would run twice")
      return
    }
  }

  /// With the clock set back, a start can load an evicted op beside the newer op of the same id.
  @Test func `an id that was used again belongs to the newest op`() throws {
    var limits = HubConfiguration()
    limits.rememberedOps = 3
    var ops = RememberedOps(limits: limits)
    let key = RememberedOps.Key(principal: "uid:1000", client: ClientID(high: 0, low: 1))
    func remember(_ id: UInt64, _ octets: UInt64) {
      ops.remember(
        RememberedOps.Entry(id: id, octets: BodyHash(bits: octets), isOk: true, reply: []),
        of: key, row: octets, at: 0)
    }
    func decided(_ id: UInt64, _ octets: UInt64) -> UInt64? {
      guard case .decided(let entry) = ops.verdict(on: id, octets: BodyHash(bits: octets), of: key)
      else { return nil }
      return entry.octets.bits
    }
    remember(1, 1)
    remember(2, 2)
    remember(2, 3)
    #expect(decided(2, 3) == 3 && decided(2, 2) == nil)
    #expect(decided(1, 1) == 1)
    remember(1, 4)
    for id in 3...5 as ClosedRange<UInt64> { remember(id, id + 2) }
    // Brings the oldest op to the front, where ids must be in order.
    ops.forget(9, of: key, restoring: nil)
    #expect(decided(3, 5) == 5 && decided(5, 7) == 7)
  }
}
