import Testing

@testable import NavigationCore
@testable import NavigationHub

/// Detached records as a plain list, the oldest first.
private struct DetachedTwin {
  var records: [DetachedRecords.Record] = []

  mutating func makeYoungest(_ record: DetachedRecords.Record) {
    records.removeAll { $0.key == record.key }
    records.append(record)
  }

  mutating func remove(_ key: DetachedRecords.Key) -> DetachedRecords.Record? {
    let found = records.first { $0.key == key }
    records.removeAll { $0.key == key }
    return found
  }

  var buttonBytes: Int {
    records.reduce(0) { sum, record in
      if case .button(let button) = record { sum + button.byteCount } else { sum }
    }
  }
}

@Suite struct DetachedRecordsTests {
  /// A record of one of `count` names; a screen and a button may have the same one.
  private static func record(_ random: inout Seeded, _ count: Int) throws -> DetachedRecords.Record
  {
    let name = "n\(random.below(count))"
    if random.below(2) == 0 {
      let version = Revision(UInt64(random.below(50)))
      return .screen(Screen(id: try #require(ScreenID(name)), version: version))
    }
    let content = ButtonContent([.set(\.title, String(repeating: "t", count: random.below(9)))])
    return .button(Button(id: try #require(ButtonID(name)), content: content))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `they are a list in the order of the last touch`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    var (real, twin) = (DetachedRecords(), DetachedTwin())
    let names = seed % 2 == 0 ? 12 : 400
    for step in 0..<1500 {
      let record = try Self.record(&random, names)
      switch random.below(8) {
      case 0...3:
        real.makeYoungest(record)
        twin.makeYoungest(record)
      case 4, 5: #expect(real.remove(record.key) == twin.remove(record.key))
      case 6:
        // The oldest goes first, as when there are too many.
        #expect(real.oldest == twin.records.first)
        if let oldest = real.oldest?.key { #expect(real.remove(oldest) == twin.remove(oldest)) }
      default: real.removeEmptySlots()
      }
      #expect(real.count == twin.records.count && real.buttonBytes == twin.buttonBytes)
      #expect(real.contains(record.key) == twin.records.contains { $0.key == record.key })
      if step % 50 == 0 { #expect(real.all == twin.records) }
    }
    #expect(real.all == twin.records)
    for record in twin.records {
      switch record {
      case .screen(let screen): #expect(real.screen(screen.id) == screen)
      case .button(let button): #expect(real.button(button.id) == button)
      }
    }
  }

  @Test(arguments: 20...25 as ClosedRange<UInt64>)
  func `what was touched since a mark is known, and may be put into another order`(
    seed: UInt64
  ) throws {
    var random = Seeded(seed: seed)
    var real = DetachedRecords()
    for _ in 0..<150 {
      for _ in 0..<random.below(5) { real.makeYoungest(try Self.record(&random, 20)) }
      real.removeEmptySlots()
      let mark = real.mark
      var since = DetachedTwin()
      for _ in 0..<random.below(5) {
        let record = try Self.record(&random, 20)
        if random.below(4) == 0 {
          real.remove(record.key)
          _ = since.remove(record.key)
        } else {
          real.makeYoungest(record)
          since.makeYoungest(record)
        }
      }
      #expect(real.records(since: mark) == since.records)
      let older = real.all.filter { record in !since.records.contains { $0.key == record.key } }
      since.records.shuffle(using: &random)
      real.reorder(since: mark, as: since.records.map(\.key))
      #expect(real.all == older + since.records)
    }
  }

  @Test func `a version is stamped without a touch`() {
    var real = DetachedRecords()
    let (first, second): (ScreenID, ScreenID) = ("a", "b")
    for id in [first, second] { real.makeYoungest(.screen(Screen(id: id, version: Revision(1)))) }
    real.setVersion(of: first, to: Revision(7))
    #expect(real.screen(first)?.version == Revision(7))
    #expect(real.screen(second)?.version == Revision(1))
    #expect(real.all.map(\.key) == [.screen(first), .screen(second)])
  }
}
