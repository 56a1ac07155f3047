import Foundation
@testable import NavigationCore
import Testing

/// Carries the navs of one world to another, as navd-publish does, over a network that loses.
final class Carrier {
  let device: World
  let receiver: World
  private let reader: Client
  private let writer: Client
  /// What the receiver has, by the carrier's knowledge.
  private var positions: [String: NavPosition?] = [:]
  /// Decides what happens to a message.
  var fate: () -> Fate = { .arrives }
  private(set) var stateCount = 0
  private(set) var messageCount = 0

  /// What happens to a message to the receiver.
  enum Fate { case arrives, isLost, isAnsweredInVain, arrivesTwice, meetsFullDisk }

  init(_ device: World, _ receiver: World) {
    (self.device, self.receiver) = (device, receiver)
    reader = Client(device, 900, user: 0)
    writer = Client(receiver, 900, user: 0)
  }

  /// The value of a reply, octet for octet.
  private static func value(_ sent: Sent) throws -> String {
    var tape = JSONTape()
    try tape.read(sent.body, maximumDepth: 48)
    let value = try #require(tape.member("value", of: 0))
    return String(decoding: tape.raw(value), as: UTF8.self)
  }

  private static func position(_ sent: Sent) -> NavPosition? {
    guard let epoch = (sent.json["epoch"] as? String).flatMap({ Epoch($0) }),
      let revision = sent.revision
    else { return nil }
    return NavPosition(epoch: epoch, revision: Revision(UInt64(revision)))
  }

  /// Sends a message; nil if its answer was lost.
  private func publish(_ nav: String, _ more: String) throws -> Sent? {
    let body = #"{"id":\#(writer.nextID()),"nav":"truck/\#(nav)"\#(more)}"#
    messageCount += 1
    switch fate() {
    case .arrives: return try writer.ask("publish", body)
    case .isLost: return nil
    case .isAnsweredInVain:
      try writer.ask("publish", body)
      return nil
    case .arrivesTwice:
      try writer.ask("publish", body)
      return try writer.ask("publish", body)
    case .meetsFullDisk:
      receiver.journal.isFailing = true
      defer { receiver.journal.isFailing = false }
      return try writer.ask("publish", body)
    }
  }

  /// Carries one message; returns whether the receiver has everything of the nav.
  func step(_ nav: String) throws -> Bool {
    guard let position = positions[nav] else {
      guard let reply = try publish(nav, "") else { return false }
      positions[nav] = .some(Self.position(reply))
      return false
    }
    guard device.hub.navs.slot(of: nav) != nil else {
      guard let reply = try publish(nav, #","closed":true"#), reply.verb == .ok else {
        return false
      }
      positions[nav] = .some(nil)
      return true
    }
    let from = position.map { #","from":\#($0.revision.number),"epoch":"\#($0.epoch.text)""# } ?? ""
    let rows = try reader.get("rows", nav: nav, #""limit":20"# + from)
    if rows.verb == .err {
      #expect(rows.code == "compacted", "\(rows.text)")
      let floor = try #require(rows.json["floor"] as? Int)
      let newest = try #require(rows.revision)
      if try carryState(nav, at: floor) { try carryState(nav, at: newest) }
      return false
    }
    let value = try Self.value(rows)
    guard value != "[]" else { return true }
    try deliver(nav, value)
    return false
  }

  /// Carries a state in as many pieces as it takes; returns whether the receiver has newer ones.
  @discardableResult
  private func carryState(_ nav: String, at revision: Int) throws -> Bool {
    stateCount += 1
    var offset = 0
    while true {
      let state = try reader.get("rows", nav: nav, #""at":\#(revision),"offset":\#(offset)"#)
      #expect(state.verb == .ok, "\(state.text)")
      let row = try #require((state.json["value"] as? [[String: Any]])?.first)
      let reply = try deliver(nav, try Self.value(state))
      guard let reply, reply.verb == .ok else { return reply?.json["reason"] as? String == "older" }
      guard let text = row["text"] as? String, let size = row["size"] as? Int else { return false }
      offset += text.utf8.count
      if offset >= size { return false }
    }
  }

  @discardableResult
  private func deliver(_ nav: String, _ rows: String) throws -> Sent? {
    let from = (positions[nav] ?? nil).map { position in
      #","from":{"epoch":"\#(position.epoch.text)","rev":\#(position.revision.number)}"#
    }
    let reply = try publish(nav, (from ?? "") + #","rows":\#(rows)"#)
    guard let reply else {
      positions[nav] = nil
      return nil
    }
    switch (reply.verb, reply.code) {
    case (.ok, _): positions[nav] = .some(Self.position(reply))
    case (_, "desync"): positions[nav] = .some(Self.position(reply))
    case (_, "storage"): break
    default: Issue.record("\(reply.text) to \(rows.prefix(2000))")
    }
    return reply
  }

  /// Carries until the receiver has everything.
  func settle(_ navs: [String]) throws {
    for nav in navs {
      var steps = 0
      while try !step(nav) {
        steps += 1
        try #require(steps < 2000, "\(nav) does not come to rest")
      }
    }
  }

  /// Compares the navs of both worlds.
  func compare(_ navs: [String], _ note: Comment) throws {
    for nav in navs {
      guard let slot = device.hub.navs.slot(of: nav) else {
        #expect(receiver.hub.navs.slot(of: "truck/\(nav)") == nil, note)
        continue
      }
      let (own, its) = (device.hub.navs.slots[slot], try receiver.entry("truck/\(nav)"))
      #expect(its.isPublished && !own.isPublished, note)
      #expect(its.epoch == own.epoch && its.revision == own.revision, note)
      #expect(its.digest == own.digest && its.controller.digest() == own.digest, note)
      #expect(its.controller.stack == own.controller.stack, note)
      #expect(its.resolved == own.resolved, note)
      #expect(its.topChange?.revision == own.topChange?.revision, note)
      #expect(its.durable == its.revision && its.ring.last == its.revision, note)
    }
  }

  /// The digests of all revisions that a journal records, by epoch and revision.
  static func digests(_ world: World) throws -> [NavPosition: Digest] {
    var digests: [NavPosition: Digest] = [:]
    var reader = JournalBodyReader()
    for row in world.journal.rows where row.kind == .changed {
      try reader.load(row.body)
      let position = NavPosition(
        epoch: try #require(reader.statedEpoch), revision: Revision(row.revision))
      digests[position] = try reader.change().digest
    }
    return digests
  }
}
