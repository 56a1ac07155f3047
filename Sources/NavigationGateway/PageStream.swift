package import NavigationCore

/// The rules of one stream between a page and navd (docs/protocol.md §16): a pure value.
///
/// It gets posts, events and the time. It returns what to send, and when the stream ends.
package struct PageStream: Sendable {
  /// The limits of a stream, times in milliseconds.
  package enum Limits {
    /// How long the connection to navd may take, and navd's answer to the first `hello`.
    static let connecting: UInt64 = 5_000
    /// How long one attempt to connect may take before the next begins.
    static let attempt: UInt64 = 250
    /// When the first `hello` must have come.
    static let greeting: UInt64 = 10_000
    /// How long data may wait for the socket of the page.
    static let taking: UInt64 = 15_000
    /// Above how many octets that wait for the page the gateway stops reading from navd.
    package static let held = 65_536
    /// The most octets of posts that wait for navd.
    static let outbox = 131_072
  }

  /// The reason why a stream ended, for the log.
  package enum End: String, Hashable, Sendable {
    /// The connection to navd was lost.
    case lost
    /// navd was not there.
    case unreachable
    /// No `hello` came.
    case silent
    /// The page took nothing for too long.
    case stalled
    /// The page closed the stream.
    case closed
    /// navd ended the session.
    case bye
  }

  /// The answer to a post.
  package enum Verdict: Hashable, Sendable {
    /// All lines were taken, or had been before; the member is `next`.
    case taken(next: UInt64)
    /// An earlier post is missing.
    case ahead(next: UInt64)
    /// The post has another form, with the reason.
    case malformed(String)
    /// A line is too long, with the reason.
    case tooLong(String)
    /// navd does not read fast enough.
    case full
  }

  /// The id by which posts name the stream.
  package let id: String
  /// For whom the page acts.
  package let actor: SessionActor
  private let openedAt: UInt64
  private var next: UInt64 = 1
  private var greetedAt: UInt64?
  private var isConnected = false
  private var isAnswered = false
  private var isEnding = false
  private var attemptedAt: UInt64
  /// What navd's socket has not taken yet.
  package private(set) var outbox: [PageMessage] = []
  private var outboxBytes = 0
  private var taken: UInt64 = 0
  private var waitsSince: UInt64?

  /// Makes a stream that has just been opened.
  package init(id: String, actor: SessionActor, at now: UInt64) {
    self.id = id
    self.actor = actor
    openedAt = now
    attemptedAt = now
  }

  /// The first line of the stream.
  package var opening: [UInt8] {
    let body = JSONWriter.value { json in
      json.beginObject()
      json.member("id", id)
      json.member("next", next)
      json.endObject()
    }
    return Array("[\"stream\",".utf8) + body + Array("]\n".utf8)
  }

  /// The last line of a stream whose connection to navd is lost.
  package static let gone = Array("[\"gone\",{}]\n".utf8)

  /// Takes a post, whole or not at all.
  package mutating func post(
    _ number: UInt64, _ body: [UInt8], reader: inout ClientMessageReader, at now: UInt64
  ) -> Verdict {
    guard number >= next else { return .taken(next: next) }
    guard number == next else { return .ahead(next: next) }
    var messages: [PageMessage]
    do throws(PageMessage.Fault) {
      messages = try PageMessage.read(body)
    } catch {
      switch error {
      case .malformed(let line):
        return .malformed("line \(line) is not [\"verb\",BODY] with an object as BODY")
      case .tooLong(let line):
        return .tooLong("line \(line) has more than \(PageMessage.maximumLineBytes) octets")
      }
    }
    guard greetedAt != nil || messages.first?.isHello == true else {
      return .malformed("the first message of a stream is hello")
    }
    for index in messages.indices where messages[index].isHello {
      do throws(MessageFailure) {
        messages[index].body = try hello(messages[index].body, &reader)
      } catch {
        return .malformed("hello: \(error.text)")
      }
    }
    let size = messages.reduce(0) { $0 + $1.body.count }
    guard outboxBytes + size <= Limits.outbox || outbox.isEmpty else { return .full }
    greetedAt = greetedAt ?? now
    outbox += messages
    outboxBytes += size
    next += 1
    return .taken(next: next)
  }

  /// The page's `hello` with the actor of its token.
  private func hello(
    _ body: [UInt8], _ reader: inout ClientMessageReader
  ) throws(MessageFailure) -> [UInt8] {
    let frame = PageMessage.hello
    guard case .hello(var hello) = try reader.read(frame: frame.span, body: body.span)
    else { preconditionFailure("a hello is read as one") }
    hello.actor = actor
    // Without flow control, what the page does not take would pile up here.
    hello.isUncontrolled = false
    return ClientMessageWriter.hello(hello)
  }

  /// Notes that navd's socket took the first messages of the outbox.
  package mutating func noteSent(_ count: Int) {
    for message in outbox.prefix(count) { outboxBytes -= message.body.count }
    outbox.removeFirst(count)
  }

  /// Notes that navd accepted the connection.
  package mutating func noteConnected() { isConnected = true }

  /// Notes that a message of navd came.
  package mutating func noteAnswer() { isAnswered = true }

  /// When to connect again; nil once there has been a connection.
  ///
  /// libzmq must not do that by itself: after a loss, it would send the page's messages on a
  /// connection without a session.
  package var connectsAgainAt: UInt64? {
    isConnected || isEnding ? nil : attemptedAt + Limits.attempt
  }

  /// Notes that the stream ends once the page has taken what waits.
  package mutating func noteEnd() { isEnding = true }

  /// Notes another attempt to connect.
  package mutating func noteAttempt(at now: UInt64) { attemptedAt = now }

  /// Notes how much waits for the page's socket, and how much that has taken so far.
  package mutating func notePage(pending: Int, taken: UInt64, at now: UInt64) {
    if pending == 0 {
      waitsSince = nil
    } else if waitsSince == nil || taken != self.taken {
      waitsSince = now
    }
    self.taken = taken
  }

  /// Whether the gateway reads from navd.
  package func reads(pending: Int) -> Bool { pending < Limits.held }

  /// When the stream ends if nothing happens before, and why; nil for never.
  package var deadline: (at: UInt64, end: End)? {
    var all: [(at: UInt64, end: End)] = []
    if isEnding { return waitsSince.map { ($0 + Limits.taking, .stalled) } }
    if !isConnected { all.append((openedAt + Limits.connecting, .unreachable)) }
    if let greetedAt {
      if !isAnswered { all.append((greetedAt + Limits.connecting, .unreachable)) }
    } else {
      all.append((openedAt + Limits.greeting, .silent))
    }
    if let waitsSince { all.append((waitsSince + Limits.taking, .stalled)) }
    return all.min { $0.at < $1.at }
  }
}
