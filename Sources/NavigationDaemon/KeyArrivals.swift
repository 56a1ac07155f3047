/// How often each key lets somebody in: as many at once as it may have connections, and all of them
/// anew within a minute.
///
/// Who comes and goes without end makes libzmq count its routing ids on, until it comes to one that a
/// peer has chosen. Without a key nobody can choose one that libzmq may come to, see
/// ``InboundStream/Offence/reservedRoutingID``; what a key holder asks for is sealed.
struct KeyArrivals {
  /// When the room of each key is whole again, in microseconds; behind the time if it is.
  private var wholeAt: [String: UInt64] = [:]

  /// Notes that a key asks to be let in.
  ///
  /// - Parameters:
  ///   - key: its name.
  ///   - now: the time, in milliseconds of a clock that never goes back.
  ///   - connections: how many it may have.
  /// - Returns: whether it is let in.
  mutating func admits(_ key: String, at now: UInt64, connections: Int) -> Bool {
    let time = now * 1000
    let whole = max(wholeAt[key] ?? 0, time) + Self.period * 1000 / UInt64(connections)
    guard whole <= time + Self.period * 1000 else { return false }
    wholeAt[key] = whole
    return true
  }

  /// Forgets keys that are not authorised any more.
  mutating func keep(_ isAuthorized: (String) -> Bool) {
    wholeAt = wholeAt.filter { isAuthorized($0.key) }
  }

  /// How long it takes until all connections of a key may come anew, in milliseconds.
  static let period: UInt64 = 60_000
}
