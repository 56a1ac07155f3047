import FuzzSupport
import NavigationCore
import TransportGuard

/// Reads the octets of a peer in ZMTP, whole and in pieces.
///
/// The first octet has flags: 1 for a sealed stream, 2 for a greeting ahead, 4 for a handshake behind
/// it. The second one selects the sizes of the pieces. The others are the peer's.
///
/// Laws:
/// - Pieces of any sizes lead to the result of the whole.
/// - What is held is bounded by what has come, and by the limit of a message.
struct ZMTPTarget: FuzzTarget {
  private static let limit = 10_000
  private static let greeting: [UInt8] =
    [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 0] + [UInt8](repeating: 0, count: 52)
  private static let ready: [UInt8] =
    [4, 28, 5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6]
    + Array("DEALER".utf8)

  /// What a stream has led to.
  private struct Reading: Equatable {
    var offence: InboundStream.Offence?
    var cost = 0
    var unfinished = 0
  }

  mutating func run(_ input: Span<UInt8>) {
    guard input.count > 1 else { return }
    let (flags, sizes) = (input[0], input[1])
    let isSealed = flags & 1 != 0
    var octets: [UInt8] = []
    if flags & 2 != 0 {
      octets += Self.greeting
      if flags & 4 != 0, !isSealed { octets += Self.ready }
    }
    octets += input.extracting(droppingFirst: 2).octets
    let whole = Self.read(octets, isSealed, pieces: nil)
    let cut = Self.read(octets, isSealed, pieces: UInt64(sizes))
    let single = Self.read(octets, isSealed, pieces: 0)
    for other in [cut, single] {
      demand(other.offence == whole.offence, "\(other) and \(whole)")
      // Where a piece ends the connection, what came behind it was not counted.
      demand(other == whole || whole.offence != nil, "\(other) and \(whole)")
    }
    // The shortest frame has two octets.
    demand(
      whole.cost <= octets.count + octets.count / 2 * InboundStream.frameCost,
      "\(whole.cost) for \(octets.count) octets")
    demand(isSealed ? whole.unfinished == 0 : whole.unfinished <= whole.cost, "\(whole)")
    // A frame that has only begun counts, and ends the connection with its first octet.
    demand(
      whole.unfinished <= Self.limit + InboundStream.frameCost || whole.offence == .longMessage,
      "\(whole)")
    checkMetadata(octets.span)
    observe(whole.cost)
  }

  /// Reads octets in pieces: all at once for nil, one by one for 0, else of sizes by a seed.
  private static func read(_ octets: [UInt8], _ isSealed: Bool, pieces seed: UInt64?) -> Reading {
    var stream = InboundStream(isSealed: isSealed, messageByteLimit: limit)
    var random = SeededGenerator(seed: seed ?? 0)
    var reading = Reading()
    // The time goes on with each frame, wherever the pieces end.
    var questions: UInt64 = 0
    func second() -> UInt64 {
      questions += 1
      return questions / 3
    }
    var index = 0
    while index < octets.count, reading.offence == nil {
      let size =
        switch seed {
        case nil: octets.count
        case 0: 1
        default: 1 + Int(random.next() % 40)
        }
      let end = min(index + size, octets.count)
      reading.offence = stream.read(
        octets.span.extracting(index..<end), at: second(), cost: &reading.cost)
      index = end
      demand(reading.cost >= 0, "a cost of \(reading.cost)")
    }
    reading.unfinished = stream.unfinishedCost
    return reading
  }

  /// The search for a routing id, held against a slow one.
  private func checkMetadata(_ metadata: Span<UInt8>) {
    var rest = metadata.octets[...]
    var isFound = false
    while let size = rest.popFirst(), !isFound {
      guard rest.count >= Int(size) + 4 else { break }
      let name = rest.prefix(Int(size)).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      rest = rest.dropFirst(Int(size))
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      isFound = name == Array("identity".utf8) && length > 0
      rest = rest.dropFirst(length)
    }
    demand(
      !isFound || InboundStream.namesRoutingID(metadata), "a routing id is not seen")
  }
}
