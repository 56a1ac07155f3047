import FuzzSupport
import NavigationClient
import NavigationCore

/// Passes lines to the client as messages of a daemon.
///
/// The first octet of a line selects the verb, or what else happens: the connection is lost or made
/// again, time passes, the user asks for something. The rest is the body. A `#` in the front of the
/// body stands for a right one: the welcome that the client waits for.
///
/// Laws:
/// - No message crashes the client, and what it keeps is bounded by what was sent.
/// - A mirror that is in order has the checksum of its digest.
/// - What was read of a snapshot is read again from the mirror.
struct ServerTarget: FuzzTarget {
  private static let letters = Array("wkrqsdDlevSLtmnbp".utf8)

  mutating func run(_ input: Span<UInt8>) {
    var reader = ServerMessageReader()
    var client = ClusterReplica(client: ClientID(high: 1, low: 2), name: "fuzz", seed: 7)
    var now: UInt64 = 1000
    var nonce = ""
    var sent = 0
    func note(_ outputs: [ClusterOutput]) {
      for case .send(_, let verb, let body) in outputs {
        sent += 1
        if verb == .hello { nonce = Self.nonce(in: body) }
      }
    }
    note(client.watch("kiosk", waits: false))
    note(client.watch("bar", view: .bar))
    note(client.connected(.first, to: "ipc:///a", at: now))
    for line in input.octets.lines {
      guard let letter = line.first else { continue }
      now += 1
      var body = Array(line.dropFirst())
      switch letter {
      case UInt8(ascii: "x"): note(client.disconnected(.first, at: now))
      case UInt8(ascii: "c"): note(client.connected(.first, to: "ipc:///a", at: now))
      case UInt8(ascii: "f"): note(client.failed(.first, isFinal: body.isEmpty, at: now))
      case UInt8(ascii: "T"):
        now += 1 << UInt64(body.count % 16)
        note(client.tick(at: now))
      case UInt8(ascii: "W"): note(client.watch("nav\(body.count % 4)", waits: true))
      case UInt8(ascii: "U"): note(client.unwatch("kiosk"))
      case UInt8(ascii: "G"): note(client.grantCredit())
      case UInt8(ascii: "O"):
        let (_, outputs) = client.perform(
          OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)])
        note(outputs)
      case UInt8(ascii: "R"): note(client.get(GetRequest(id: 0, nav: "kiosk")).outputs)
      case UInt8(ascii: "B"): note(client.leave())
      default:
        guard let index = Self.letters.firstIndex(of: letter) else { continue }
        let verb = ServerVerb.allCases[index]
        if body == [UInt8(ascii: "#")] { body = Self.welcome(nonce) }
        guard let message = try? reader.read(verb: verb.frame, body: body) else {
          note(client.receiveUnreadable(at: now))
          continue
        }
        note(client.receive(message, verb: verb, octets: body.count, at: now))
      }
      check(client)
    }
    // Each line leads to a few messages at most, for the watches and requests that there are.
    demand(sent <= 64 * (input.octets.lines.count + 1), "\(sent) messages are sent")
    observe(sent)
  }

  private func check(_ client: ClusterReplica) {
    guard let replica = client.replica(of: "kiosk"), replica.isSynced, let mirror = replica.mirror
    else { return }
    let checksum = Digest.checksum(
      screens: mirror.screens.map { ($0.id, $0.version.number) },
      parts: mirror.parts.map { ($0.id, $0.version.number) })
    demand(checksum == mirror.digest.checksum, "a mirror with a wrong digest")
    observe(mirror.presented.count)
    observe(mirror.snapshot(of: "kiosk").bytes.count)
    observe(mirror.isTransitioning ? 1 : 0)
  }

  private static func nonce(in hello: [UInt8]) -> String {
    var tape = JSONTape()
    guard (try? tape.read(hello)) != nil else { fail("a hello that is no JSON") }
    return tape.string("nonce", of: tape.root) ?? ""
  }

  private static func welcome(_ nonce: String) -> [UInt8] {
    JSONWriter.object(reserving: 256) { json in
      json.member("ver", 1 as UInt64)
      json.member("nonce", nonce)
      json.member("boot", hex: 5)
      json.member("hb", 5000 as UInt64)
    }
  }
}
