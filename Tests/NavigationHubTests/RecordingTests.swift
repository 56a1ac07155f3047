import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Recordings: the file, its proof, and its states.
@Suite struct RecordingTests {
  private static func world() -> World {
    World {
      $0.snapshotEvery = 40
      $0.nav.detachedRecords = 20
      $0.opsPerSecond = 1_000_000
    }
  }

  /// A nav with a random history of ops, timeouts, restarts and new epochs.
  private static func lived(_ seed: UInt64, steps: Int = 150) throws -> (World, Client) {
    let world = world()
    var generator = LawGenerator(seed: seed)
    var client = try world.client(1, user: 0)
    try client.must(#"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#)
    for step in 0..<steps {
      generator.stack = try world.entry("kiosk").controller.stack.map(\.id.text)
      if let running = try world.entry("kiosk").controller.transition.content.running {
        generator.transition = Int(running.id.number)
      }
      switch generator.below(30) {
      case 0, 1: try world.wait(generator.below(1500))
      case 2 where generator.below(4) == 0:
        try world.restart(renewsEpochs: generator.below(2) == 0)
        client = try world.client(UInt64(10 + step), user: 0)
      default: try client.send("op", client.opBody(generator.ops(), generator.more()))
      }
    }
    return (world, client)
  }

  @Test(arguments: UInt64(1)...12)
  func `a recording is read as it was written, and each digest is proven`(seed: UInt64) throws {
    let (_, client) = try Self.lived(seed)
    let recorded = try Recorded(client)
    #expect(try Recorded.entries(recorded.file) == Array(recorded.lines.dropFirst().dropLast()))
    for piece in [1, 17, 100_000] {
      #expect(try Recorded.verify(recorded.file, piece: piece) > 20)
    }
    let half = try Recorded(client, from: recorded.lines.count / 2)
    #expect(try Recorded.verify(half.file) > 5)
  }

  @Test(arguments: UInt64(1)...6)
  func `the bar of each recorded revision is the one that navd answers`(seed: UInt64) throws {
    let (_, client) = try Self.lived(seed, steps: 100)
    let recorded = try Recorded(client)
    var bar: String?
    for line in recorded.lines.dropFirst().dropLast() {
      var tape = JSONTape()
      try tape.read(line, maximumDepth: 48)
      if let new = tape.member("resolved", of: 0) {
        bar = String(decoding: tape.raw(new), as: UTF8.self)
      }
      let revision = try Recorded.integer("rev", in: line)
      let answer = try client.get("bar", #""at":\#(revision)"#)
      #expect(String(decoding: try Recorded.value(answer), as: UTF8.self) == bar, "rev \(revision)")
    }
  }

  @Test(arguments: UInt64(1)...8)
  func `a recording leads to each state of the nav, as navd answers it`(seed: UInt64) throws {
    let (world, client) = try Self.lived(seed, steps: 100)
    for redaction in [nil, RecordingRedaction()] {
      let recorded = try Recorded(client, redaction: redaction)
      var replay = HistoryReplay()
      // A new epoch belongs to the revision before it.
      var states: [UInt64: [UInt8]] = [:]
      for line in recorded.lines.dropFirst().dropLast() {
        _ = try replay.take(line)
        states[replay.revision.number] = replay.state(of: "kiosk")
      }
      for (revision, state) in states where redaction == nil {
        let answer = try client.get("state", #""at":\#(revision)"#)
        #expect(try Recorded.value(answer) == state, "rev \(revision)")
      }
      let own = try world.entry("kiosk")
      #expect(replay.digest == own.digest && replay.epoch == own.epoch)
    }
  }

  @Test func `an entry that is too large is followed by the state`() throws {
    let world = World { $0.maximumReplyBytes = 20_000 }
    let client = try world.kiosk()
    let any = #""if":{"any":true}"#
    let large = String(repeating: "t", count: 11_000)
    try client.must(#"{"screen.set":{"screen":"home","args":"\#(large)"}}"#, any)
    try client.must(#"{"push":{"screen":{"id":"a","args":{"line\n": [1,2]}}}}"#, any)
    let recorded = try Recorded(client)
    let kinds = try recorded.lines.dropFirst().dropLast().map { line in
      let json = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      return json?["omitted"] == nil ? json?["kind"] as? String : "omitted"
    }
    #expect(kinds == ["state", "omitted", "state", "changed"])
    #expect(try Recorded.verify(recorded.file) == 3)
    let first = try #require(
      try JSONSerialization.jsonObject(with: Data(recorded.lines[1])) as? [String: Any])
    #expect(first["by"] != nil && first["do"] != nil && first["t"] != nil)
  }

  // Planted faults.

  /// The fault that a recording has after a function has changed its lines.
  private static func fault(
    _ recorded: Recorded, _ change: (inout [[UInt8]]) throws -> Void
  ) throws -> RecordingFault? {
    var lines = recorded.lines
    try change(&lines)
    do throws(RecordingFault) {
      _ = try Recorded.verify(Recorded.file(lines))
      return nil
    } catch {
      return error
    }
  }

  private static func replaced(_ line: [UInt8], _ old: String, by new: String) -> [UInt8] {
    Array(String(decoding: line, as: UTF8.self).replacing(old, with: new, maxReplacements: 1).utf8)
  }

  /// Ten pushes, each with a title.
  private static func plain() throws -> Recorded {
    let client = try World().kiosk()
    for step in 0..<10 {
      try client.must(
        #"{"push":{"screen":{"id":"s\#(step)","title":"T\#(step)"}}}"#, #""if":{"any":true}"#)
    }
    return try Recorded(client)
  }

  @Test func `a wrong digest, id, order, bar or end is found, at its revision`() throws {
    let recorded = try Self.plain()
    let place = try #require(recorded.places[5])
    let entry = try #require(
      try JSONSerialization.jsonObject(with: Data(recorded.lines[place])) as? [String: Any])
    let digest = try #require(entry["dig"] as? String)
    let wrong = try Self.fault(recorded) {
      $0[place] = Self.replaced(
        $0[place], #""dig":"\#(digest)""#, by: #""dig":"000000010000000000000000""#)
    }
    #expect(wrong?.revision == 5, "\(String(describing: wrong))")
    let other = try Self.fault(recorded) {
      $0[place] = Self.replaced(
        $0[place], #""ins":[{"id":"s3","ver":5"#, by: #""ins":[{"id":"s3","ver":4"#)
      $0[place] = Self.replaced($0[place], #"{"id":"s3","ver":5"#, by: #"{"id":"s3","ver":4"#)
    }
    #expect(other?.revision == 5)
    let swapped = try Self.fault(recorded) { $0.swapAt(place, place + 1) }
    #expect(swapped == .wrongOrder(line: place + 1, revision: 6, after: 4))
    let missing = try Self.fault(recorded) { $0.remove(at: place) }
    #expect(missing == .wrongOrder(line: place + 1, revision: 6, after: 4))
    let twice = try Self.fault(recorded) { $0.insert($0[place], at: place) }
    #expect(twice == .wrongOrder(line: place + 2, revision: 5, after: 5))
    let title = try Self.fault(recorded) {
      $0[place] = Self.replaced($0[place], #""title":"T3""#, by: #""title":"X3""#)
    }
    #expect(title == .differentBar(line: place + 1, revision: 5))
    let count = try Self.fault(recorded) {
      $0[$0.count - 1] = Self.replaced($0[$0.count - 1], #"{"end":"#, by: #"{"end":1"#)
    }
    guard case .wrongEnd? = count else { Issue.record("\(String(describing: count))"); return }
    let behind = try Self.fault(recorded) { $0.append($0[place]) }
    guard case .unreadable? = behind else { Issue.record("\(String(describing: behind))"); return }
  }

  @Test func `a recording that is cut, newer, broken or none is refused`() throws {
    let recorded = try Self.plain()
    let file = recorded.file
    for count in stride(from: 20, to: file.count, by: 13) {
      do throws(RecordingFault) {
        _ = try Recorded.verify(Array(file.prefix(count)))
        Issue.record("\(count) octets were accepted")
      } catch {
        #expect(error == .truncated, "\(count) octets")
      }
    }
    #expect(try Self.fault(recorded) { $0.removeLast() } == .truncated)
    #expect(
      try Self.fault(recorded) { $0[0] = Self.replaced($0[0], #""navrec":1"#, by: #""navrec":2"#) }
        == .newer(2))
    let place = try #require(recorded.places[7])
    let broken = try Self.fault(recorded) { $0[place].removeLast() }
    guard case .unreadable(line: place + 1, _)? = broken else {
      Issue.record("\(String(describing: broken))")
      return
    }
    #expect(try Self.fault(recorded) { $0[0] = Array("{}".utf8) } == .notRecording)
    for other in [Array("no gzip".utf8), Recorded.file([Array("[1]".utf8)])] {
      #expect(throws: RecordingFault.notRecording) { try Recorded.verify(other) }
    }
    #expect(throws: RecordingFault.notRecording) { try Recorded.verify([]) }
    #expect(throws: RecordingFault.truncated) { try Recorded.verify(Recorded.file([])) }
  }

  @Test func `each flipped bit of the file is found`() throws {
    let file = try Self.plain().file
    // The first ten octets are the head of gzip, where a time and a system stand.
    var random = SeededGenerator(seed: 1)
    for _ in 0..<400 {
      var damaged = file
      let place = 10 + Int(random.next() % UInt64(file.count - 10))
      damaged[place] ^= 1 << UInt8(random.next() % 8)
      #expect(throws: RecordingFault.self, "octet \(place)") { try Recorded.verify(damaged) }
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `a line that somebody has changed is read, or refused with a fault`(seed: UInt64) throws {
    let (_, client) = try Self.lived(seed, steps: 60)
    let recorded = try Recorded(client)
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<80 {
      let fault = try Self.fault(recorded) { lines in
        let place = Int(random.next() % UInt64(lines.count))
        for _ in 0...random.next() % 3 {
          let index = Int(random.next() % UInt64(lines[place].count))
          switch random.next() % 4 {
          case 0: lines[place][index] = UInt8(ascii: "0") + UInt8(random.next() % 10)
          case 1: lines[place][index] = lines[place][Int(random.next() % UInt64(index + 1))]
          case 2: lines[place].swapAt(index, lines[place].count - 1 - index)
          default: lines[place].remove(at: index)
          }
          if lines[place].isEmpty { lines[place] = Array("{}".utf8) }
        }
      }
      if fault != nil { refused += 1 }
    }
    #expect(refused > 55)
  }

  @Test(arguments: UInt64(1)...4)
  func `lines of other recordings between its own are refused with a fault`(seed: UInt64) throws {
    let (one, other) = (
      try Recorded(Self.lived(seed, steps: 60).1), try Recorded(Self.lived(seed + 100, steps: 60).1)
    )
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<40 {
      let fault = try Self.fault(one) { lines in
        let at = 2 + Int(random.next() % UInt64(lines.count - 3))
        let from = 1 + Int(random.next() % UInt64(other.lines.count - 2))
        var line = other.lines[from]
        // It pretends to be the next revision.
        let (own, its) = (
          try Recorded.integer("rev", in: lines[at]), try Recorded.integer("rev", in: line)
        )
        line = Self.replaced(line, #""rev":\#(its)"#, by: #""rev":\#(own)"#)
        lines[at] = line
      }
      if fault != nil { refused += 1 }
    }
    // A line can be one that any recording may have, such as a report.
    #expect(refused > 25)
  }

  @Test func `a recording of a later version keeps what this one does not know`() throws {
    let recorded = try Self.plain()
    let later = try Self.fault(recorded) {
      $0[0] = Self.replaced($0[0], "{", by: #"{"later":[1],"#)
      let place = $0.count - 3
      $0[place] = Self.replaced($0[place], "{", by: #"{"later":{"a":1},"#)
      $0.insert(Array(#"{"kind":"note","rev":11,"text":"x"}"#.utf8), at: place + 1)
      $0[$0.count - 1] = Self.replaced($0[$0.count - 1], #""end":11"#, by: #""end":12"#)
    }
    #expect(later == nil)
  }
}
