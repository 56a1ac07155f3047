/// One client of a row: its connection, its ids and everything it was sent.
struct ClientSession {
  /// What is known of an op that was sent under a label.
  struct SentOperation {
    var client: String
    var id: Int
    var body: [UInt8]
    /// How many messages the client had when it was first sent.
    var start: Int
  }

  /// A message that arrived.
  struct Incoming {
    var verb: String
    var body: [UInt8]
    var json: JSONTree

    /// Whether it is the final answer to a request.
    func answers(_ id: Int) -> Bool {
      (verb == "ok" || verb == "err" || verb == "pong") && json["id"]?.integer == id
    }
  }

  /// The name of its connection at the driver.
  let connection: String
  /// The identity for deduplication, as hex.
  let identity: String
  /// The role of the user for whom it acts; nil for the user of the driver, who may do everything.
  var role: String?
  var isConnected = false
  var nextID = 0
  var greetings = 0
  var messages: [Incoming] = []
  /// How many messages have been looked at for questions and reactions.
  var handled = 0

  init(connection: String) {
    self.connection = connection
    var bits: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in connection.utf8 { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(bits, radix: 16)
    let half = String(repeating: "0", count: 16 - digits.count) + digits
    identity = half + half
  }

  mutating func takeID() -> Int {
    nextID += 1
    return nextID
  }

  /// The newest final answer to a request among the messages from an index on.
  func answer(to id: Int, from start: Int) -> Incoming? {
    messages.dropFirst(start).last { $0.answers(id) }
  }
}
