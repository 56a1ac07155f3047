import NavigationCore

// Bytes of messages and rows are looked at without the codec under test.

extension [UInt8] {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }

  /// Where `needle` begins first at or behind `start`.
  func position(of needle: StaticString, from start: Int = 0) -> Int? {
    position(of: Array(needle.description.utf8), from: start)
  }

  func position(of needle: [UInt8], from start: Int = 0) -> Int? {
    guard let first = needle.first, needle.count <= count else { return nil }
    var at = start
    let last = count - needle.count
    while at <= last {
      if self[at] == first, Array(self[at..<at + needle.count]) == needle { return at }
      at += 1
    }
    return nil
  }

  /// Where a diff ends that begins at `start`, if it is the stored one, with or without what the bar
  /// shows; the mirrors hold that against the state.
  func end(ofDiff stored: [UInt8], from start: Int) -> Int? {
    guard let place = stored.lastPosition(of: Array(",\"ev\":[".utf8)) else { return nil }
    guard var at = end(of: stored[..<place], from: start) else { return nil }
    let member = Array(",\"resolved\":".utf8)
    if let value = end(of: member[...], from: at) {
      guard let behind = endOfObject(from: value) else { return nil }
      at = behind
    }
    return end(of: stored[place...], from: at)
  }

  private func end(of piece: ArraySlice<UInt8>, from start: Int) -> Int? {
    let end = start + piece.count
    return end <= count && self[start..<end] == piece ? end : nil
  }

  func lastPosition(of needle: [UInt8]) -> Int? {
    var found: Int?
    while let next = position(of: needle, from: found.map { $0 + 1 } ?? 0) { found = next }
    return found
  }

  /// Where the JSON object ends that begins at `start`.
  private func endOfObject(from start: Int) -> Int? {
    var depth = 0
    var isInString = false
    var at = start
    while at < count {
      switch self[at] {
      case 0x5C where isInString: at += 1
      case 0x22: isInString.toggle()
      case 0x7B where !isInString: depth += 1
      case 0x7D where !isInString:
        depth -= 1
        if depth == 0 { return at + 1 }
      default: break
      }
      at += 1
    }
    return nil
  }

  /// The digits at `start` as a number.
  func number(at start: Int) -> UInt64? {
    var at = start
    var value: UInt64 = 0
    while at < count, self[at] >= 0x30, self[at] <= 0x39 {
      value = value &* 10 &+ UInt64(self[at] - 0x30)
      at += 1
    }
    return at == start ? nil : value
  }

  /// The number behind the first `name`, such as `"rev":`.
  func number(behind name: StaticString, from start: Int = 0) -> UInt64? {
    position(of: name, from: start).flatMap { number(at: $0 + name.utf8CodeUnitCount) }
  }

  /// The epoch behind the first `"epoch":"`.
  var epoch: Epoch? {
    guard let start = position(of: "\"epoch\":\"") else { return nil }
    guard start + 25 <= count else { return nil }
    return Epoch(String(decoding: self[start + 9..<start + 25], as: UTF8.self))
  }

  /// The same bytes with the daemon's commit number left out.
  var withoutSequence: [UInt8] {
    guard let start = position(of: "\"seq\":") else { return self }
    var end = start + 6
    while end < count, self[end] >= 0x30, self[end] <= 0x39 { end += 1 }
    return Array(self[..<start]) + Array(self[end...])
  }
}

/// A checksum of everything that happened, by which two runs are compared.
struct TraceHash: Sendable {
  private(set) var bits: UInt64 = 0x243F_6A88_85A3_08D3
  private(set) var count: UInt64 = 0

  mutating func add(_ number: UInt64, _ octets: [UInt8] = []) {
    // zlib's checksum, by way of the digest: a loop over bytes here would take most of a run.
    let checksum = Digest.checksum(
      screens: CollectionOfOne((id: octets.text, version: number)),
      parts: EmptyCollection<(name: String, version: UInt64)>())
    bits = (bits ^ UInt64(checksum)) &* 0x9E37_79B9_7F4A_7C15
    bits ^= bits >> 29
    count += 1
  }
}

extension Digest {
  /// The digest with another checksum.
  var spoilt: Digest { Digest(checksum: checksum ^ 1, chain: chain) }
}

extension String {
  /// The text of a state without what the bar shows.
  var withoutBar: String {
    let octets = Array(utf8)
    guard let start = octets.lastPosition(of: Array(",\"resolved\":".utf8)),
      let end = octets.lastPosition(of: Array(",\"dig\":\"".utf8))
    else { return self }
    return Array(octets[..<start] + octets[end...]).text
  }

  /// The state without the chain in its digest.
  var withoutChain: String {
    let octets = Array(utf8)
    guard let start = octets.position(of: Array("\"dig\":\"".utf8)) else { return self }
    return Array(octets[..<(start + 15)] + octets[(start + 31)...]).text
  }
}
