import Foundation
import Testing
import ZeroMQ

/// A buffer for messages, and a poller, against lists.
@Suite(.timeLimit(.minutes(5)))
struct MultipartTests {
  /// Numbers whose sequence depends on a seed alone.
  private struct Numbers {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
  }

  @Test(arguments: 1...6)
  func `frames within the capacity are kept, the others counted, whatever came before`(
    capacity: Int
  ) throws {
    var numbers = Numbers(state: UInt64(capacity))
    let context = try Context()
    let pair = try context.socket(.pair)
    try pair.bind("inproc://law-\(capacity)")
    let other = try context.socket(.pair)
    try other.connect("inproc://law-\(capacity)")
    var parts = Multipart(capacity: capacity)
    for round in 0..<100 {
      let sent = (0...numbers.next(below: 9)).map { _ in
        [UInt8](repeating: UInt8(round), count: [0, 1, 30, 40, 500][numbers.next(below: 5)])
      }
      try deliver(other, sent)
      try receive(pair, into: &parts)
      #expect(parts.copyFrames() == Array(sent.prefix(capacity)))
      #expect(parts.count + parts.droppedFrames == sent.count)
      #expect(parts.byteCount == sent.reduce(0) { $0 + $1.count })
    }
    let isThere = try pair.receive(into: &parts)
    #expect(!isThere && parts.count + parts.droppedFrames + parts.byteCount == 0)
  }

  /// Both ends of a pipe.
  private final class Ends {
    let reading: Int32
    let writing: Int32
    var bytes = 0

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(unsafe pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    func fill() {
      var byte: UInt8 = 7
      bytes += unsafe Foundation.write(writing, &byte, 1)
    }

    func drain() {
      var byte: UInt8 = 0
      if bytes > 0 { bytes -= unsafe Foundation.read(reading, &byte, 1) }
    }

    deinit {
      close(reading)
      close(writing)
    }
  }

  @Test(arguments: 0..<12)
  func `a slot says what its descriptor is ready for, as others come, pause and go`(seed: Int)
    throws
  {
    var numbers = Numbers(state: UInt64(seed))
    var poller = Poller()
    // Every other time a socket is among them, which another system call watches.
    let context = try Context()
    let socket = try context.socket(.pair)
    if seed % 2 == 0 { _ = poller.add(socket) }
    var watched: [(slot: Poller.Slot, ends: Ends, isPaused: Bool)] = []
    for step in 0..<120 {
      let index = watched.isEmpty ? 0 : numbers.next(below: watched.count)
      switch numbers.next(below: 8) {
      case 0, 1:
        let ends = try Ends()
        watched.append((poller.add(descriptor: ends.reading), ends, false))
      case 2 where !watched.isEmpty:
        poller.remove(watched[index].slot)
        watched.remove(at: index)
      case 3 where !watched.isEmpty:
        watched[index].isPaused.toggle()
        poller.watch(watched[index].slot, for: watched[index].isPaused ? [] : .readable)
      case 4, 5: if !watched.isEmpty { watched[index].ends.fill() }
      default: if !watched.isEmpty { watched[index].ends.drain() }
      }
      #expect(Set(watched.map(\.slot)).count == watched.count)
      let wanted = watched.map { $0.ends.bytes > 0 && !$0.isPaused }
      let ready = try poller.wait(milliseconds: 0)
      #expect(ready == wanted.count { $0 }, "seed \(seed) step \(step)")
      #expect(watched.map { poller.isReadable($0.slot) } == wanted, "seed \(seed) step \(step)")
    }
  }

  @Test func `what can be written is writable, and a closed end has failed`() throws {
    var poller = Poller()
    var ends: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let slot = poller.add(descriptor: ends[0], for: [.readable, .writable])
    #expect(try poller.wait(milliseconds: 0) == 1)
    #expect(poller.readiness(of: slot) == .writable && !poller.isReadable(slot))
    close(ends[1])
    #expect(try poller.wait(milliseconds: 0) == 1)
    #expect(poller.readiness(of: slot).isSuperset(of: [.readable, .failed]))
    poller.watch(slot, for: [])
    #expect(poller.readiness(of: slot).isEmpty, "from the change on, until the next wait")
    // poll(2) reports a failure unasked.
    #expect(try poller.wait(milliseconds: 0) == 1 && poller.readiness(of: slot) == .failed)
    poller.remove(slot)
    close(ends[0])
    #expect(try poller.wait(milliseconds: 0) == 0)
  }
}
