import Testing

@testable import NavigationCore

/// The statistics of the daemon, as protocol.md §12 names them.
@Suite struct DaemonStatisticsTests {
  private typealias Place = KeyPath<DaemonStatistics, UInt64>

  /// Each number, by the object that it stands in.
  private static var places: [(object: String, name: String, value: Place)] {
    [
      ("", "seq", \.sequence), ("", "navs", \.navs), ("", "loadedNavs", \.loadedNavs),
      ("", "sessions", \.sessions),
      ("", "watches", \.watches), ("", "connections", \.connections),
      ("", "rememberedClients", \.rememberedClients), ("", "resumeBytes", \.resumeBytes),
      ("", "connectionDifferences", \.connectionDifferences), ("", "uptime", \.uptime),
      ("", "opened", \.opened), ("lag", "watches", \.watchesBehind), ("lag", "max", \.largestLag),
      ("lag", "sum", \.lag), ("lag", "stalled", \.stalledSessions),
      ("journal", "bytes", \.journalBytes), ("journal", "walBytes", \.logBytes),
      ("journal", "walPages", \.logPages), ("journal", "limit", \.journalLimit),
      ("backups", "every", \.backupInterval), ("backups", "made", \.backupsMade),
      ("backups", "failed", \.backupsFailed), ("backup", "done", \.backupDone),
      ("backup", "total", \.backupTotal), ("prune", "done", \.pruned),
      ("prune", "total", \.toPrune), ("disk", "free", \.diskFree), ("disk", "size", \.diskSize),
      ("process", "descriptorLimit", \.descriptorLimit),
      ("process", "connectionLimit", \.connectionLimit),
      ("process", "principalLimit", \.principalLimit), ("messages", "received", \.received),
      ("messages", "sent", \.sent), ("messages", "diffs", \.diffs),
      ("messages", "snapshots", \.snapshots),
    ]
  }

  /// The text with a number of its own at each place but `missing`, which has `value` if not nil.
  private static func text(missing: Int? = nil, value: String? = nil) -> [UInt8] {
    var objects: [String: [String]] = [:]
    for (index, place) in places.enumerated() {
      let number = index == missing ? value : "\(1000 + index)"
      guard let number else { continue }
      objects[place.object, default: []].append(#""\#(place.name)":\#(number)"#)
    }
    var members = objects[""] ?? []
    for (name, list) in objects where !name.isEmpty {
      members.append(#""\#(name)":{\#(list.joined(separator: ","))}"#)
    }
    return Array("{\(members.joined(separator: ","))}".utf8)
  }

  @Test func `each number is read from its own place`() throws {
    let places = Self.places
    let all = try DaemonStatistics(json: Self.text())
    for (index, place) in places.enumerated() {
      #expect(all[keyPath: place.value] == 1000 + UInt64(index), "\(place.name)")
    }
    for missing in places.indices {
      for value in [nil, "null", #""7""#, "-7", "7.5", "[7]"] {
        let less = try DaemonStatistics(json: Self.text(missing: missing, value: value))
        for (index, place) in places.enumerated() {
          let expected = index == missing ? 0 : 1000 + UInt64(index)
          #expect(less[keyPath: place.value] == expected, "\(place.name) \(value ?? "")")
        }
      }
    }
  }

  @Test func `words, lists and counts are read, and may be absent`() throws {
    let text = #"""
      {"server":"navd/9","boot":"00000000000000ff","serving":false,"storageProblem":"cannot","socketProblem":"gone",
      "principals":[{"principal":"uid:7","connections":3},{"principal":"k"}],
      "process":{"libzmq":"4.3.4"},"operations":{"ok":5,"desync":2},"refusals":{"busy":1},
      "ended":{"bye":4},"busiest":[{"id":"ab","name":"n","ops":8,"watches":2},{}]}
      """#
    let all = try DaemonStatistics(json: Array(text.utf8))
    #expect(all.server == "navd/9" && all.boot == "00000000000000ff" && all.libzmq == "4.3.4")
    #expect(all.isServing == false && all.storageProblem == "cannot")
    #expect(all.socketProblem == "gone")
    #expect(all.backupAge == nil && !all.isBackupOverdue)
    let late = try DaemonStatistics(json: Array(#"{"backups":{"age":0,"overdue":true}}"#.utf8))
    #expect(late.backupAge == 0 && late.isBackupOverdue && !late.hasBackupRetentionFailed)
    let full = try DaemonStatistics(json: Array(#"{"backups":{"retentionFailed":true}}"#.utf8))
    #expect(full.hasBackupRetentionFailed)
    #expect(
      all.principals == [
        PrincipalConnections(principal: "uid:7", count: 3),
        PrincipalConnections(principal: "k", count: 0),
      ])
    #expect(all.operations == ["ok": 5, "desync": 2] && all.refusals == ["busy": 1])
    #expect(all.endReasons == ["bye": 4])
    let busy = DaemonStatistics.BusySession(id: "ab", name: "n", operations: 8, watches: 2)
    let nobody = DaemonStatistics.BusySession(id: "", name: "", operations: 0, watches: 0)
    #expect(all.busiest == [busy, nobody])
    for bare in ["{}", "[]", "null", "7", #"{"principals":{},"lag":[],"operations":7,"ended":[]}"#]
    {
      let none = try DaemonStatistics(json: Array(bare.utf8))
      #expect(none.server.isEmpty && none.principals.isEmpty && none.operations.isEmpty)
      #expect(none.isServing == nil && none.storageProblem == nil && none.busiest == nil)
      #expect(Self.places.allSatisfy { none[keyPath: $0.value] == 0 })
    }
  }

  @Test(arguments: [
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0,1]}"#, true), (#"{"bounds":[],"counts":[4]}"#, true),
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0]}"#, false),
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0,1,0]}"#, false),
    (#"{"sum":9,"bounds":[10,1],"counts":[2,0,1]}"#, false),
    (#"{"sum":9,"bounds":[1,1],"counts":[2,0,1]}"#, false), ("{}", false), ("[]", false),
    (#"{"sum":9,"bounds":{},"counts":[1,1]}"#, false), ("null", false),
  ])
  func `a histogram has ascending bounds and one count more, or there is none`(
    json: String, isRight: Bool
  ) throws {
    let all = try DaemonStatistics(
      json: Array(#"{"commit":\#(json),"fanOut":\#(json),"batch":\#(json)}"#.utf8))
    for histogram in [all.commit, all.fanOut, all.batch] { #expect((histogram != nil) == isRight) }
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `what came since is what was added, and nothing after a restart`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bounds: [UInt64] = [1, 2, 5, 10]
    func histogram(_ values: [UInt64]) -> Histogram {
      // A value counts for the first bound that is not below it.
      var counts = [UInt64](repeating: 0, count: bounds.count + 1)
      for value in values { counts[bounds.firstIndex { $0 >= value } ?? bounds.count] += 1 }
      return Histogram(bounds: bounds, counts: counts, sum: values.reduce(0, +))
    }
    for _ in 0..<100 {
      let early = (0..<random.next() % 6).map { _ in random.next() % 14 }
      let late = (0..<random.next() % 6).map { _ in random.next() % 14 }
      let (before, after) = (histogram(early), histogram(early + late))
      #expect(after.since(before) == histogram(late))
      #expect(after.count == UInt64(early.count + late.count))
      let isLess = zip(before.counts, after.counts).contains { $0 < $1 }
      #expect(before.since(after) == (isLess ? nil : histogram([])))
      // One value less in the same bin: only the sum tells of the restart.
      #expect(histogram([3]).since(histogram([5])) == nil)
      let other = Histogram(bounds: [1], counts: [0, 0], sum: 0)
      #expect(after.since(other) == nil)
    }
  }
}
