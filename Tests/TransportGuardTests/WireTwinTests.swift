import Foundation
import NavigationCore
import Testing
import ZeroMQ

@testable import TransportGuard

/// A second reading of ZMTP 3 (RFC 37), which has all bytes at hand and keeps no state between them.
private struct WholeReading {
  var cost = 0
  var unfinished = 0
  var offence: InboundStream.Offence?
  /// The sizes of the frames of each whole message.
  var messages: [[Int]] = []

  init(_ bytes: [UInt8], limit: Int) {
    offence = read(bytes, limit)
  }

  private mutating func read(_ bytes: [UInt8], _ limit: Int) -> InboundStream.Offence? {
    let greeting = bytes.prefix(64)
    for (index, byte) in greeting.enumerated() {
      if index == 0, byte != 0xFF { return .version }
      if index == 9, byte % 2 == 0 { return .version }
      if index == 10, byte < 3 { return .version }
    }
    var place = 64
    var isReady = false
    var sizes: [Int] = []
    while place < bytes.count {
      let flags = bytes[place]
      let width = flags & 2 == 0 ? 1 : 8
      guard place + width < bytes.count else { return nil }
      let size = bytes[(place + 1)...(place + width)].reduce(0) { $0 << 8 | Int($1) }
      place += 1 + width
      let there = min(size, bytes.count - place)
      let body = Array(bytes[place..<place + there])
      place += there
      if flags & 4 != 0 {
        guard flags == 4 || flags == 6, size <= 4096 else {
          return .command(name: "", bytes: size)
        }
        guard there == size else { return nil }
        if let offence = judge(body, &isReady) { return offence }
        continue
      }
      guard flags <= 3, isReady else { return .command(name: "", bytes: size) }
      cost += 64 + there
      unfinished += 64 + there
      // The limit is looked at where bytes come, and at the end of a frame.
      if unfinished > limit, there > 0 || size == 0 { return .longMessage }
      guard there == size else { return nil }
      sizes.append(size)
      guard flags & 1 == 0 else { continue }
      messages.append(sizes)
      (sizes, unfinished) = ([], 0)
    }
    return nil
  }

  private func judge(_ body: [UInt8], _ isReady: inout Bool) -> InboundStream.Offence? {
    func begins(_ name: String) -> Bool {
      body.starts(with: [UInt8(name.utf8.count)] + Array(name.utf8))
    }
    let known = ["PING", "PONG", "SUBSCRIBE", "READY"].first { begins($0) } ?? ""
    let other = InboundStream.Offence.command(name: known, bytes: body.count)
    if isReady { return begins("PING") || begins("PONG") ? nil : other }
    guard begins("READY") else { return other }
    isReady = true
    var rest = body.dropFirst(6)
    while let count = rest.first {
      let name = rest.dropFirst().prefix(Int(count))
      let sizes = rest.dropFirst(1 + Int(count)).prefix(4)
      guard sizes.count == 4 else { return nil }
      let size = sizes.reduce(0) { $0 << 8 | Int($1) }
      if String(decoding: name, as: UTF8.self).lowercased() == "identity", size > 0 {
        return .routingID
      }
      rest = rest.dropFirst(1 + Int(count) + 4 + size)
    }
    return nil
  }
}

/// The handshake of a peer, and the frames that it might send: mostly what the protocol allows.
private func traffic(
  _ random: inout SeededGenerator, faults: Bool
) -> (opening: [UInt8], frames: [UInt8]) {
  let isOld = faults && Int.random(in: 0..<20, using: &random) == 0
  var bytes = Wire.greeting(version: isOld ? 2 : 3)
  let names = ["Socket-Type", "Identity", "Resource"]
  let properties = (0..<Int.random(in: 0...3, using: &random)).map { _ -> (String, [UInt8]) in
    let name = names.randomElement(using: &random) ?? ""
    let isEmpty = name == "Identity" && (!faults || Bool.random(using: &random))
    return (name == "Socket-Type" ? "X-\(name)" : name, isEmpty ? [] : [1, 2, 3])
  }
  let opening = bytes + Wire.ready([("Socket-Type", Array("DEALER".utf8))] + properties)
  bytes = []
  for _ in 0..<Int.random(in: 0..<25, using: &random) {
    let sort = Int.random(in: 0..<(faults ? 14 : 10), using: &random)
    switch sort {
    case 0: bytes += Wire.frame([4] + Array("PING".utf8) + [0, 9], flags: 4, isLong: true)
    case 1: bytes += Wire.frame([4] + Array("PONG".utf8), flags: 4)
    case 2...9:
      let sizes = (0...Int.random(in: 0..<4, using: &random)).map { _ in
        Int.random(in: 0..<[3, 300, 1_500][Int.random(in: 0..<3, using: &random)], using: &random)
      }
      bytes += Wire.message(sizes)
    case 10: bytes += Wire.frame([9] + Array("SUBSCRIBE".utf8), flags: 4)
    case 11: bytes += Wire.frame([1, 2], flags: UInt8.random(in: 0...15, using: &random))
    case 12: bytes += Wire.frame(Array(repeating: 4, count: 4_097), flags: 6, isLong: true)
    default: bytes += Wire.message(Array(repeating: 900, count: 6))
    }
  }
  return (opening, bytes)
}

@Suite(.timeLimit(.minutes(1))) struct WireTwinTests {
  private static let limit = 5_000

  /// Reads bytes as the gate does, in pieces.
  private func read(
    _ bytes: ArraySlice<UInt8>, _ random: inout SeededGenerator
  ) -> (cost: Int, unfinished: Int, offence: InboundStream.Offence?) {
    var stream = InboundStream(isSealed: false, messageByteLimit: Self.limit)
    var cost = 0
    var rest = bytes
    while !rest.isEmpty {
      let piece = Array(rest.prefix(Int.random(in: 1...700, using: &random)))
      rest = rest.dropFirst(piece.count)
      if let offence = stream.read(piece.span, at: 0, cost: &cost) { return (cost, 0, offence) }
    }
    return (cost, stream.unfinishedCost, nil)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `wherever the bytes end, the stream says what a second reading says`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (opening, frames) = traffic(&random, faults: true)
    let bytes = opening + frames
    for _ in 0..<12 {
      let end = Int.random(in: 0...bytes.count, using: &random)
      let twin = WholeReading(Array(bytes.prefix(end)), limit: Self.limit)
      let found = read(bytes.prefix(end), &random)
      #expect(found.offence == twin.offence, "seed \(seed): \(end) bytes")
      guard twin.offence == nil else { continue }
      #expect(
        found.cost == twin.cost && found.unfinished == twin.unfinished, "seed \(seed): \(end)")
    }
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `what the stream counts is what libzmq hands out, however it comes in`(seed: UInt64) throws {
    let path = FileManager.default.temporaryDirectory.path + "/zmtp-\(UUID().uuidString)"
    defer { _ = unsafe unlink(path) }
    var random = SeededGenerator(seed: seed)
    let (opening, frames) = traffic(&random, faults: false)
    let bytes = opening + frames
    let twin = WholeReading(bytes, limit: .max)
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.receiveHighWaterMark(0))
    try router.bind("ipc://" + path)
    let peer = try RawPeer(path)
    for part in [opening, frames] {
      var rest = part[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...900, using: &random))
        try peer.send(piece)
        rest = rest.dropFirst(piece.count)
      }
      if part == opening { try peer.awaitReady() }
    }
    // The last message tells that all came.
    try peer.send(Wire.message([7, 7])[...])
    var sizes: [[Int]] = []
    repeat {
      sizes.append(try receive(router).dropFirst().map(\.count))
    } while sizes.count
      <= twin.messages.count
    #expect(sizes == twin.messages + [[7, 7]], "seed \(seed)")
    withExtendedLifetime(peer) {}
    var stream = InboundStream(isSealed: false, messageByteLimit: .max)
    var cost = 0
    let offence = stream.read(bytes.span, at: 0, cost: &cost)
    let counted = twin.messages.joined().reduce(0) { $0 + $1 + InboundStream.frameCost }
    #expect(offence == nil && cost == counted && stream.unfinishedCost == 0)
  }

  @Test func `a message whose end never comes is never handed out`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/zmtp-\(UUID().uuidString)"
    defer { _ = unsafe unlink(path) }
    let context = try Context()
    let router = try context.socket(.router)
    var monitor = try Monitor.start(on: router)
    try router.bind("ipc://" + path)
    let opening = Wire.greeting() + Wire.ready([("Socket-Type", Array("DEALER".utf8))])
    let message = Wire.message([3, 300])
    for end in [0, 1, 2, 4, 5, 6, 14, message.count - 1] {
      do {
        let peer = try RawPeer(path)
        try peer.send(opening[...])
        try peer.awaitReady()
        try peer.send((Wire.message([1]) + message.prefix(end))[...])
        #expect(try receive(router).last?.count == 1)
        withExtendedLifetime(peer) {}
      }
      var poller = Poller()
      _ = poller.add(monitor.reader)
      var hasEnded = false
      while !hasEnded {
        while let event = try monitor.next() { hasEnded = hasEnded || event.kind == .disconnected }
        if !hasEnded { _ = try poller.wait(milliseconds: RouterStage.patience) }
      }
      var parts = Multipart(capacity: 4)
      let isThere = try router.receive(into: &parts)
      #expect(!isThere, "\(end) bytes")
    }
  }
}
