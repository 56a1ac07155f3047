import NavigationCore
import NavigationHub

/// A place in the history of a nav: an epoch names its nav too.
struct Place: Hashable, Sendable {
  var epoch: Epoch
  var revision: UInt64
}

/// An op, by the process that sent it and its number.
struct OpKey: Hashable, Sendable {
  var client: String
  var op: UInt64
}

/// Everything that is known to be true, against which all that is seen is held.
struct Facts: Sendable {
  /// A reply that was seen.
  struct Reply: Sendable {
    var text: String
    /// Whether it must survive restarts.
    var isLasting: Bool
    var boot: UInt64
  }

  /// Where a nav is in the journal.
  struct Head: Sendable, Equatable {
    var number: UInt64
    var place: Place
  }

  /// The state of each nav at each revision that was committed.
  var states: [Place: String] = [:]
  /// The states of virtual navs, by name; all have the daemon's run as their epoch.
  var virtualStates: [String: [Place: String]] = [:]
  /// States of the batch at hand.
  var tentative: [(place: Place, state: String)] = []
  /// The diff of each revision, and the turn that stored it.
  var diffs: [Place: (bytes: [UInt8], turn: Int)] = [:]
  /// The turns in which rows were stored, by the op that caused each; no op causes a second one.
  var rows: [OpKey: Int] = [:]
  /// Changes acknowledged to clients.
  var acknowledged: [OpKey: Int] = [:]
  /// The turn in which a cluster lost the row of each op.
  ///
  /// The answer to the op may still be on its way.
  var lossTurns: [OpKey: Int] = [:]
  /// The replies to ops.
  var replies: [OpKey: Reply] = [:]
  /// The navs that are stored, by name.
  var heads: [String: Head] = [:]
  /// The names of navs by number.
  var names: [UInt64: String] = [:]
  /// Whether an older journal came back.
  var hasGoneBack = false
  /// Epochs that ever were.
  var epochs: Set<Epoch> = []

  /// Takes what is stored now; returns what is wrong.
  mutating func store(_ records: JournalRecords, turn: Int) -> [String] {
    var wrong: [String] = []
    for (place, state) in tentative {
      if let known = states[place], known != state {
        wrong.append("\(place.epoch.text)/\(place.revision) names two states")
      }
      states[place] = state
    }
    tentative = []
    for case .row(let row) in records { store(row, turn: turn, &wrong) }
    return wrong
  }

  private mutating func store(_ row: JournalRow, turn: Int, _ wrong: inout [String]) {
    if let key = Self.origin(of: row), rows.updateValue(turn, forKey: key) != nil {
      wrong.append("op \(key.op) of \(key.client) is stored twice")
    }
    switch row.kind {
    case .created:
      guard let epoch = row.body.epoch, let name = Self.name(in: row.body) else { return }
      if !epochs.insert(epoch).inserted { wrong.append("epoch \(epoch.text) twice") }
      names[row.nav] = name
      heads[name] = Head(number: row.nav, place: Place(epoch: epoch, revision: 1))
    case .changed:
      guard let name = names[row.nav], let head = heads[name], head.number == row.nav else {
        return wrong.append("row \(row.sequence) of a nav that is not there")
      }
      let place = Place(epoch: head.place.epoch, revision: row.revision)
      if row.revision != head.place.revision + 1 {
        wrong.append("revision \(row.revision) after \(head.place.revision) of \(name)")
      }
      heads[name]?.place = place
      guard let body = try? row.json(), let end = body.position(of: ",\"before\":\"") else {
        return wrong.append("row \(row.sequence) without its diff")
      }
      diffs[place] = (Array(body[8..<end]), turn)
    case .closed: if let name = names[row.nav] { heads[name] = nil }
    case .epoch:
      guard let name = names[row.nav], let epoch = row.body.epoch else { return }
      if !epochs.insert(epoch).inserted { wrong.append("epoch \(epoch.text) twice") }
      heads[name]?.place = Place(epoch: epoch, revision: row.revision)
    case .report: break
    }
  }

  func state(of nav: String, at place: Place) -> String? {
    nav.hasPrefix("$") ? virtualStates[nav]?[place] : states[place]
  }

  /// Takes back what a lost machine lost: the journal goes on from `rows`.
  mutating func lose(_ lost: [JournalRow], kept: [JournalRow]) {
    for row in lost {
      guard let key = Self.origin(of: row) else { continue }
      rows[key] = nil
      acknowledged[key] = nil
      replies[key] = nil
    }
    heads = [:]
    names = [:]
    for row in kept {
      switch row.kind {
      case .created:
        guard let epoch = row.body.epoch, let name = Self.name(in: row.body) else { continue }
        names[row.nav] = name
        heads[name] = Head(number: row.nav, place: Place(epoch: epoch, revision: 1))
      case .changed: if let name = names[row.nav] { heads[name]?.place.revision = row.revision }
      case .closed: if let name = names[row.nav] { heads[name] = nil }
      case .epoch:
        if let name = names[row.nav], let epoch = row.body.epoch {
          heads[name]?.place.epoch = epoch
        }
      case .report: break
      }
    }
  }

  /// Forgets the future that an older journal does not have, in which epochs go on.
  ///
  /// A client may still show it, and must find out when it resumes.
  mutating func goBack(_ lost: [JournalRow], kept: [JournalRow]) {
    lose(lost, kept: kept)
    let last = Dictionary(
      heads.values.map { ($0.place.epoch, $0.place.revision) }, uniquingKeysWith: max)
    states = states.filter { $0.key.revision <= last[$0.key.epoch] ?? .max }
    diffs = diffs.filter { $0.key.revision <= last[$0.key.epoch] ?? .max }
    hasGoneBack = true
  }

  /// The op that caused a row; nil if none did.
  static func origin(of row: JournalRow) -> OpKey? {
    row.author.map { OpKey(client: $0.client.text, op: $0.op) }
  }

  /// The name behind `{"nav":"`.
  static func name(in body: [UInt8]) -> String? {
    guard body.count > 8, let end = body[8...].firstIndex(of: 0x22) else { return nil }
    return Array(body[8..<end]).text
  }
}
