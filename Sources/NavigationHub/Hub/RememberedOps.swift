import NavigationCore

/// The decided ops of clients, by which an op sent twice runs once.
///
/// The hub keeps the newest ops of each client of a principal, with the hash of their octets and
/// the reply. The hub forgets clients that have been idle for `rememberedIdle` ms. If there are too
/// many, it forgets the longest idle client of the principal, or of the principal with the most
/// clients. In a cluster, a client counts once for each shard in which it had ops. All ops with a
/// row after the shard's `forgottenThroughRows` are remembered.
struct RememberedOps: Sendable {
  struct Entry: Sendable {
    var id: UInt64
    var octets: BodyHash
    var isOk: Bool
    var reply: [UInt8]
    /// During a replay, the row from which `fillIn` will set the other members; 0 if they are set.
    var row: UInt64 = 0
  }

  /// The result of the look-up of an op that arrives.
  enum Verdict: Sendable {
    case new
    case decided(Entry)
    case reused
    case tooOld
  }

  struct Key: Hashable, Sendable {
    var principal: String
    var client: ClientID
    var shard = Shard.first
  }

  /// The remembered ops of a client: a ring in the order of ids, with the oldest op at `head`.
  ///
  /// While the ring is not full, `head` is 0.
  fileprivate struct Client: Sendable {
    var entries: [Entry] = []
    var head = 0
    var lastID: UInt64 = 0
    /// The highest id that counts as forgotten because the limit changed; 0 for none.
    var highestForgottenID: UInt64 = 0
    var usedAt: UInt64 = 0
    /// The newest row of the shard when the client's last op was decided.
    var rowAtLastOp: UInt64 = 0
  }

  private struct ClientUse: Sendable {
    var client: ClientID
    var shard: Shard
    var usedAt: UInt64
  }

  private var slotsByKey: [Key: Slot<Client>] = [:]
  private var recent: [(key: Key, slot: Slot<Client>)?] = Array(repeating: nil, count: 16)
  private var clients = Slots<Client>()
  /// The clients of each principal in the order of a known use, which need not be the last one.
  private var usesByPrincipal: [String: ArraySlice<ClientUse>] = [:]
  private var limits: HubConfiguration
  /// By shard, the newest row whose op the hub has forgotten, or may have.
  private(set) var forgottenThroughRows: [Shard: UInt64] = [:]
  /// During a replay, the hub remembers the ops of all rows after this one, however old they are.
  var remembersAllAfterRow: UInt64 = 0

  init(limits: HubConfiguration) { self.limits = limits }

  /// Installs other limits.
  ///
  /// A lower limit of ops applies at once, and a lower limit of clients when another client comes.
  mutating func reconfigure(_ new: HubConfiguration) {
    let former = limits.rememberedOps
    let mustTrim = new.rememberedOps != former
    limits = new
    guard mustTrim else { return }
    for slot in clients.indices {
      // A client with a full ring may have had more ops before, which must not count as new.
      clients[slot].noteForgotten(former)
      clients[slot].trim(to: new.rememberedOps)
    }
  }

  var clientCount: Int { clients.count }

  /// The highest decided op of a client in some shards, 0 for none.
  func lastOpID(of key: Key, in shards: [Shard] = [.first]) -> UInt64 {
    var key = key
    var last: UInt64 = 0
    for shard in shards {
      key.shard = shard
      last = max(last, slotsByKey[key].map { clients[$0].lastID } ?? 0)
    }
    return last
  }

  mutating func verdict(on id: UInt64, octets: BodyHash, of key: Key) -> Verdict {
    guard let slot = find(key) else { return .new }
    // Ids increase, so the usual op is beyond all remembered ones.
    if id > clients[slot].lastID { return .new }
    let client = clients[slot]
    assert(client.head == 0 || client.head < client.entries.count)
    if let entry = client.entries.first(where: { $0.id == id }) {
      return entry.octets == octets ? .decided(entry) : .reused
    }
    if id <= client.highestForgottenID { return .tooOld }
    guard client.entries.count >= limits.rememberedOps, client.head < client.entries.count else {
      return .new
    }
    return id < client.entries[client.head].id ? .tooOld : .new
  }

  /// The slot of a client; for recently used clients it is found without hashing the key.
  private mutating func find(_ key: Key) -> Slot<Client>? {
    let place = Self.recentPlace(of: key)
    if let known = recent[place], known.key == key {
      assert(slotsByKey[key] == known.slot, "a recent client has moved")
      return known.slot
    }
    guard let slot = slotsByKey[key] else { return nil }
    recent[place] = (key, slot)
    return slot
  }

  private static func recentPlace(of key: Key) -> Int {
    Int(truncatingIfNeeded: key.client.low ^ key.client.low >> 32) & 15
  }

  mutating func forget(upTo row: UInt64, of shard: Shard) {
    forgottenThroughRows[shard] = max(row, forgottenThroughRows[shard, default: 0])
  }

  /// Remembers a decided op; `row` is the shard's newest row; returns the op that it evicted, if
  /// any.
  @discardableResult
  mutating func remember(
    _ entry: consuming Entry, of key: Key, row: UInt64, at now: UInt64
  ) -> Entry? {
    let slot = find(key) ?? admit(key, at: now)
    let id = entry.id
    if entry.isOk { clients[slot].rowAtLastOp = row }
    let evicted = clients[slot].add(entry, limit: limits.rememberedOps, at: now)
    assert(clients[slot].lastID >= id, "op \(id) is behind the last one")
    assert(clients[slot].entries.count <= limits.rememberedOps, "too many ops of a client")
    return evicted
  }

  /// Forgets an op whose commit failed, and restores the op that it evicted.
  mutating func forget(_ id: UInt64, of key: Key, restoring evicted: Entry?) {
    guard let slot = slotsByKey[key] else { return }
    clients[slot].moveOldestToFront()
    clients[slot].entries.removeAll { $0.id == id }
    if let evicted { clients[slot].entries.insert(evicted, at: 0) }
    clients[slot].lastID = clients[slot].entries.last?.id ?? 0
    assert(clients[slot].entries.count <= limits.rememberedOps, "too many ops of a client")
  }

  /// The rows of the ops that `fillIn` must fill in, by shard and in no order.
  var rowsToRead: [Shard: [UInt64]] {
    var rows: [Shard: [UInt64]] = [:]
    for (key, slot) in slotsByKey {
      for entry in clients[slot].entries where entry.row > 0 {
        rows[key.shard, default: []].append(entry.row)
      }
    }
    return rows
  }

  /// Fills in the ops of a shard from their rows; forgets an op if its row is missing or records no
  /// op.
  mutating func fillIn(_ entries: [UInt64: Entry], of shard: Shard) {
    for (key, slot) in slotsByKey where key.shard == shard {
      clients[slot].moveOldestToFront()
      clients[slot].entries = clients[slot].entries.compactMap {
        if $0.row > 0, entries[$0.row] == nil { forget(upTo: $0.row, of: shard) }
        return $0.row > 0 ? entries[$0.row] : $0
      }
    }
  }

  /// Takes over the ops of `other`, which has other shards.
  mutating func absorb(_ other: RememberedOps, at now: UInt64) {
    let keys = other.slotsByKey.sorted {
      other.clients[$0.value].usedAt < other.clients[$1.value].usedAt
    }
    forgottenThroughRows.merge(other.forgottenThroughRows) { $1 }
    for (key, slot) in keys { clients[admit(key, at: now)] = other.clients[slot] }
  }

  /// Forgets the ops of shards that another daemon serves from now on.
  mutating func drop(_ shards: Set<Shard>) {
    for shard in shards { forgottenThroughRows[shard] = nil }
    for (key, slot) in slotsByKey where shards.contains(key.shard) {
      clients.remove(slot, leaving: Client())
      slotsByKey[key] = nil
      recent[Self.recentPlace(of: key)] = nil
      usesByPrincipal[key.principal]?.removeAll { $0.client == key.client && $0.shard == key.shard }
      if usesByPrincipal[key.principal]?.isEmpty == true { usesByPrincipal[key.principal] = nil }
    }
  }

  /// Forgets the clients that have been idle for too long.
  mutating func expire(at now: UInt64) {
    for principal in usesByPrincipal.keys.sorted() {
      while let oldest = oldest(of: principal), oldest.usedAt + limits.rememberedIdle <= now {
        drop(oldest, of: principal)
      }
    }
  }

  private mutating func admit(_ key: Key, at now: UInt64) -> Slot<Client> {
    assert(slotsByKey[key] == nil, "a client is admitted twice")
    // After the limits were lowered, more than one client can be too many.
    while usesByPrincipal[key.principal]?.count ?? 0 >= limits.rememberedClientsPerPrincipal,
      let oldest = oldest(of: key.principal)
    {
      drop(oldest, of: key.principal)
    }
    while clients.count >= limits.rememberedClients,
      let name = usesByPrincipal.max(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) })?
        .key,
      let oldest = oldest(of: name)
    {
      drop(oldest, of: name)
    }
    let slot = clients.insert(Client(usedAt: now))
    slotsByKey[key] = slot
    Self.insert(
      ClientUse(client: key.client, shard: key.shard, usedAt: now),
      into: &usesByPrincipal[key.principal, default: []])
    assert(clients.count == slotsByKey.count, "\(clients.count) clients, \(slotsByKey.count) keys")
    return slot
  }

  /// The longest idle client of a principal; nil if it has none.
  ///
  /// No entry has a time later than the client's last use. So after outdated entries at the front
  /// are updated and sorted in, the first one is the oldest.
  private mutating func oldest(of principal: String) -> ClientUse? {
    // Taken out of the dictionary, so that a change does not copy it.
    guard var uses = usesByPrincipal.removeValue(forKey: principal) else { return nil }
    defer { usesByPrincipal[principal] = uses }
    assert(!uses.isEmpty, "\(principal) has no clients")
    while true {
      // Together: one by one, each of them would move all entries behind it.
      let stale = uses.prefix { lastUse(of: $0, principal) != $0.usedAt }
      guard !stale.isEmpty else { return uses.first }
      uses.removeFirst(stale.count)
      for use in stale {
        guard let usedAt = lastUse(of: use, principal) else { continue }
        uses.append(ClientUse(client: use.client, shard: use.shard, usedAt: usedAt))
      }
      // Stable, so those with the same time stay in order.
      uses.sort { $0.usedAt < $1.usedAt }
    }
  }

  private func lastUse(of use: ClientUse, _ principal: String) -> UInt64? {
    slotsByKey[key(of: use, principal)].map { clients[$0].usedAt }
  }

  private func key(of use: ClientUse, _ principal: String) -> Key {
    Key(principal: principal, client: use.client, shard: use.shard)
  }

  /// Inserts a use behind all uses that are not newer.
  private static func insert(_ use: ClientUse, into uses: inout ArraySlice<ClientUse>) {
    var (low, high) = (uses.startIndex, uses.endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if uses[middle].usedAt <= use.usedAt { low = middle + 1 } else { high = middle }
    }
    uses.insert(use, at: low)
  }

  private mutating func drop(_ use: ClientUse, of principal: String) {
    let key = key(of: use, principal)
    guard let slot = slotsByKey[key] else { return }
    forget(upTo: clients[slot].rowAtLastOp, of: key.shard)
    clients.remove(slot, leaving: Client())
    slotsByKey[key] = nil
    recent[Self.recentPlace(of: key)] = nil
    assert(clients.count == slotsByKey.count, "\(clients.count) clients, \(slotsByKey.count) keys")
    assert(usesByPrincipal[principal]?.first?.client == use.client, "the oldest client has moved")
    usesByPrincipal[principal]?.removeFirst()
    if usesByPrincipal[principal]?.isEmpty == true { usesByPrincipal[principal] = nil }
  }
}

extension RememberedOps.Client {
  mutating func add(
    _ entry: consuming RememberedOps.Entry, limit: Int, at now: UInt64
  ) -> RememberedOps.Entry? {
    usedAt = now
    if entry.id > lastID {
      lastID = entry.id
      guard entries.count >= limit else {
        moveOldestToFront()
        entries.append(entry)
        return nil
      }
      let evicted = entries[head]
      assert(evicted.id < entry.id, "op \(evicted.id) is evicted by an older one")
      entries[head] = entry
      head = head + 1 == entries.count ? 0 : head + 1
      return evicted
    }
    moveOldestToFront()
    let id = entry.id
    // A start can meet the row of an op that was forgotten before its id was used again.
    entries.removeAll { $0.id == id }
    // An op that waited can be below all of a full ring. In the place of the oldest one, it would
    // make that one count as new, and so run twice; without a place, it counts as too old itself.
    if entries.count >= limit, let oldest = entries.first, id < oldest.id { return nil }
    var evicted: RememberedOps.Entry?
    if entries.count >= limit { evicted = entries.removeFirst() }
    // Kept in the order of ids; out-of-order ids are rare.
    var place = entries.count
    while place > 0, entries[place - 1].id > id { place -= 1 }
    entries.insert(entry, at: place)
    assert(place + 1 == entries.count || entries[place + 1].id > id)
    return evicted
  }

  /// If the ring is full, marks all ids below its oldest op as forgotten, because the former limit
  /// may have evicted them.
  mutating func noteForgotten(_ limit: Int) {
    moveOldestToFront()
    guard entries.count >= limit, let oldest = entries.first, oldest.id > 0 else { return }
    highestForgottenID = max(highestForgottenID, oldest.id - 1)
  }

  /// Forgets the oldest ops beyond `limit`.
  ///
  /// An op with an id up to the newest forgotten one then counts as too old, because the op may
  /// have run.
  mutating func trim(to limit: Int) {
    moveOldestToFront()
    let excess = entries.count - limit
    guard excess > 0 else { return }
    highestForgottenID = max(highestForgottenID, entries[excess - 1].id)
    entries.removeFirst(excess)
    assert(entries.first.map { $0.id > highestForgottenID } ?? true, "an op is not forgotten")
  }

  /// Brings the oldest op to index 0.
  mutating func moveOldestToFront() {
    guard head > 0 else { return }
    assert(head < entries.count)
    entries = Array(entries[head...] + entries[..<head])
    head = 0
    assert(zip(entries, entries.dropFirst()).allSatisfy { $0.id < $1.id }, "ops out of order")
  }
}
