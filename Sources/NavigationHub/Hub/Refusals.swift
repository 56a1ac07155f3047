import NavigationCore

/// The newest refusals of messages, for administrators that look for the reason.
///
/// Law: it holds the last `limit` refusals that were answered, in their order.
struct Refusals: Sendable {
  struct Refusal: Sendable {
    /// When it was refused, in milliseconds since 1970.
    var time: UInt64
    var code: ErrorCode
    /// The reason that the error names; nil for none.
    var reason: String?
    /// The text of the error, for people.
    var text: String
    var nav: String?
    /// The names of the operations; empty for a message that is no op.
    var operations: [String]
    var id: UInt64?
    /// The sender's principal, as the transport proved it.
    var principal: String
    var process: Int32?
    var name: String
  }

  /// How many refusals are kept.
  static let limit = 256

  /// The oldest one first.
  private var kept: [Refusal] = []

  /// Adds the refusals of a committed batch, in the order of their answers.
  mutating func append(_ refusals: [Refusal]) {
    kept += refusals
    kept.removeFirst(max(kept.count - Self.limit, 0))
  }

  /// The answer to `get refusals`: the newest refusals that fit into `limit` octets, the oldest
  /// first.
  func value(bytes limit: Int) -> [UInt8] {
    var size = 2
    let written = kept.reversed().lazy
      .map { refusal in JSONWriter.value { $0.refusal(refusal) } }
      .prefix { entry in
        size += entry.count + 1
        return size <= limit
      }
    return JSONWriter.value { $0.array(Array(written).reversed()) { $0.raw($1) } }
  }

  /// The beginning of a text that a client may have made long.
  static func clipped(_ text: String) -> String {
    guard text.utf8.count > maximumText else { return text }
    var count = 0
    let beginning = text.unicodeScalars.prefix { scalar in
      count += UTF8.width(scalar)
      return count <= maximumText
    }
    return String(beginning) + "…"
  }

  /// The longest text of a refusal that is kept, in octets.
  private static let maximumText = 512
}

extension JSONWriter {
  fileprivate mutating func refusal(_ refusal: Refusals.Refusal) {
    object { json in
      json.member("t", refusal.time)
      json.member("code", refusal.code.rawValue)
      json.optional("reason", refusal.reason)
      json.member("msg", refusal.text)
      json.optional("nav", refusal.nav)
      if !refusal.operations.isEmpty { json.strings("do", refusal.operations) }
      if let id = refusal.id { json.member("id", id) }
      json.object("by") { json in
        json.member("name", refusal.name)
        json.member("principal", refusal.principal)
        if let process = refusal.process { json.member("pid", UInt64(max(process, 0))) }
      }
    }
  }
}
