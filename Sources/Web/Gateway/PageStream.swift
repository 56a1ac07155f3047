import NavigationCore
import NavigationHub

/// The rules of one stream between a page and navd (docs/protocol.md §16): a pure value.
///
/// It gets posts, events and the time. It returns what to send, and when the stream ends.
struct PageStream: Sendable {
  /// The limits of a stream, times in milliseconds.
  enum Limits {
    /// How long the connection to navd may take, and navd's answer to the first `hello`.
    static let connect: UInt64 = 5_000
    /// How long one attempt to connect may take before the next begins.
    static let attempt: UInt64 = 250
    /// When the first `hello` must have come.
    static let firstHello: UInt64 = 10_000
    /// How long data may wait for the socket of the page.
    static let pageRead: UInt64 = 15_000
    /// Above how many octets that wait for the page the gateway stops reading from navd.
    static let pendingBytes = 65_536
    /// The most octets of posts that wait for navd, as `PageMessage.cost` counts them.
    static let outboxBytes = 131_072
  }

  /// How a stream ends.
  enum End: Hashable, Sendable {
    /// The connection to navd is lost, or there was none, or no `hello` came: the page hears `gone`.
    case gone
    /// The page took nothing for too long: its connection is cut.
    case stalled
    /// navd ended the session or refused to begin it, or answered the page's `bye`: the page knows.
    case over
  }

  /// The answer to a post.
  enum Verdict: Hashable, Sendable {
    /// All lines were taken, or had been before; the member is `next`.
    case taken(next: UInt64)
    /// An earlier post is missing.
    case ahead(next: UInt64)
    /// The post has another form, a line is too long, or does more than read.
    case refused(RequestGate.Refusal)
    /// navd does not read fast enough.
    case full
  }

  /// What the page may do.
  enum Scope: Hashable, Sendable {
    /// What navd permits the actor.
    case actor
    /// Read what navd permits the actor.
    ///
    /// A page that only reads gets a client id of the gateway: it cannot take over the session of
    /// another client.
    case readingActor(ClientID)
    /// Read what navd permits the user of the gateway: `hello` names no actor.
    case readingUser(ClientID)
  }

  /// The id by which posts name the stream.
  let id: String
  let actor: SessionActor
  private let scope: Scope
  private let openedAt: UInt64
  private var nextPost: UInt64 = 1
  private var helloPostedAt: UInt64?
  private var isConnected = false
  /// Whether navd's socket took the first `hello`.
  private var hasSentHello = false
  /// Whether navd accepted it.
  private var isWelcomed = false
  /// The line that answers the page's first readable `bye`; nil before that.
  private var farewell: [UInt8]?
  private var endedAt: UInt64?
  private var attemptedAt: UInt64
  /// What navd's socket has not taken yet.
  private var outbox: [PageMessage] = []
  private var outboxBytes = 0
  private var taken: UInt64 = 0
  private var waitsSince: UInt64?

  init(
    id: String, actor: SessionActor, scope: Scope = .actor, at now: UInt64
  ) {
    self.id = id
    self.actor = actor
    self.scope = scope
    openedAt = now
    attemptedAt = now
  }

  var openingLine: [UInt8] {
    let body = JSONWriter.value { json in
      json.beginObject()
      json.member("id", id)
      json.member("next", nextPost)
      json.endObject()
    }
    return Array("[\"stream\",".utf8) + body + Array("]\n".utf8)
  }

  /// The last line of a stream whose connection to navd is lost.
  static let goneLine = Array("[\"gone\",{}]\n".utf8)

  /// Takes a post, whole or not at all.
  mutating func post(
    _ number: UInt64, _ body: [UInt8], reader: inout ClientMessageReader, at now: UInt64
  ) -> Verdict {
    guard number >= nextPost else { return .taken(next: nextPost) }
    guard number == nextPost else { return .ahead(next: nextPost) }
    var messages: [PageMessage]
    do throws(RequestGate.Refusal) {
      messages = try PageMessage.read(body)
    } catch {
      return .refused(error)
    }
    guard helloPostedAt != nil || messages.first?.isHello == true else {
      return .refused(.init(400, "the first message of a stream is hello"))
    }
    for index in messages.indices where messages[index].isHello {
      do throws(MessageFailure) {
        messages[index].body = try hello(messages[index].body, &reader)
      } catch {
        return .refused(.init(400, "hello: \(error.text)"))
      }
    }
    if scope != .actor {
      for (index, message) in messages.enumerated() {
        guard let reason = Self.objection(to: message, &reader) else { continue }
        return .refused(.init(403, "line \(index + 1): \(reason)"))
      }
    }
    let size = messages.reduce(0) { $0 + $1.cost }
    guard outboxBytes + size <= Limits.outboxBytes || outbox.isEmpty else { return .full }
    // navd answers the first bye that it can read, and then has no session for another one.
    for message in messages where message.isBye && farewell == nil {
      farewell = Self.farewell(to: message, &reader)
    }
    helloPostedAt = helloPostedAt ?? now
    outbox += messages
    outboxBytes += size
    nextPost += 1
    return .taken(next: nextPost)
  }

  /// Why a message of a page that only reads may not pass; nil for one that changes neither a nav nor
  /// the daemon.
  ///
  /// navd judges rights; this rule holds for an administrator's page too. A message that cannot be
  /// read is refused, because a newer daemon could understand it.
  private static func objection(
    to message: PageMessage, _ reader: inout ClientMessageReader
  ) -> String? {
    let read: ClientMessage
    do throws(MessageFailure) {
      read = try reader.read(frame: message.frame.span, body: message.body.span)
    } catch {
      return "the inspector cannot read this message: \(error.text)"
    }
    switch read {
    case .hello, .watch, .unwatch, .credit, .ping, .bye: return nil
    case .get(let request):
      switch request.what {
      case .state, .bar, .top, .screen, .detached, .restoration, .log, .diffs, .refusals,
        .stats, .cluster, .config, .trace:
        return nil
      // navd freezes a nav that it finds broken.
      case .verify where request.nav == nil: return nil
      case .backup, .reload, .verify:
        return "the inspector only reads: it asks for no \(request.what)"
      }
    case .op, .delegate, .answer, .lease, .cluster:
      return "the inspector only reads: it sends no \(read.verb.rawValue)"
    }
  }

  /// The page's `hello` with the actor of its token, or none.
  private func hello(
    _ body: [UInt8], _ reader: inout ClientMessageReader
  ) throws(MessageFailure) -> [UInt8] {
    let frame = PageMessage.hello
    guard case .hello(var hello) = try reader.read(frame: frame.span, body: body.span)
    else { preconditionFailure("a hello is read as one") }
    switch scope {
    case .actor: hello.actor = actor
    case .readingActor(let client): (hello.actor, hello.client) = (actor, client)
    case .readingUser(let client): (hello.actor, hello.client) = (nil, client)
    }
    // Without flow control, what the page does not take would pile up here.
    hello.isUncontrolled = false
    return ClientMessageWriter.message(hello)
  }

  /// What navd is to get now: until it has accepted the first `hello`, that alone.
  ///
  /// Behind a refused `hello`, the rest would come from a connection without a session.
  var due: ArraySlice<PageMessage> {
    isWelcomed ? outbox[...] : outbox.prefix(hasSentHello ? 0 : 1)
  }

  /// Notes that navd's socket took the first messages of what is due.
  mutating func noteSent(_ count: Int) {
    for message in outbox.prefix(count) { outboxBytes -= message.cost }
    outbox.removeFirst(count)
    if count > 0 { hasSentHello = true }
  }

  /// Notes a line for the page; returns how the stream ends behind it, nil if it goes on.
  mutating func receive(_ line: [UInt8]) -> End? {
    if line.starts(with: Self.bye) || line == farewell { return .over }
    guard !isWelcomed else { return nil }
    isWelcomed = line.starts(with: Self.welcome)
    return line.starts(with: Self.refusal) ? .over : nil
  }

  private static let welcome = Array("[\"welcome\",".utf8)
  private static let refusal = Array("[\"err\",".utf8)
  private static let bye = Array("[\"bye\",".utf8)

  /// The line by which navd answers a `bye`; nil for one that it refuses.
  private static func farewell(
    to bye: PageMessage, _ reader: inout ClientMessageReader
  ) -> [UInt8]? {
    guard case .bye(let id)? = try? reader.read(frame: bye.frame.span, body: bye.body.span) else {
      return nil
    }
    return PageMessage.line(
      frame: Array("nsp1.ok".utf8).span, body: ServerMessageWriter.ok(id: id).span)
  }

  mutating func noteConnected() { isConnected = true }

  /// When to connect again; nil once there has been a connection.
  ///
  /// libzmq must not do that by itself: after a loss, it would send the page's messages on a
  /// connection without a session.
  var connectsAgainAt: UInt64? {
    isConnected || endedAt != nil ? nil : attemptedAt + Limits.attempt
  }

  /// Notes that the stream ends once the page has taken what waits.
  mutating func noteEnd(at now: UInt64) { endedAt = now }

  /// Whether the stream has ended; its response can go on until the page has taken what waits.
  var hasEnded: Bool { endedAt != nil }

  mutating func noteAttempt(at now: UInt64) { attemptedAt = now }

  /// Notes whether something waits for the page's socket, and how much that has taken so far.
  mutating func notePage(isDrained: Bool, taken: UInt64, at now: UInt64) {
    if isDrained {
      waitsSince = nil
    } else if waitsSince == nil || taken != self.taken {
      waitsSince = now
    }
    self.taken = taken
  }

  func mayReadDaemon(pending: Int) -> Bool { !hasEnded && pending < Limits.pendingBytes }

  /// When the stream ends if nothing happens before, and why; nil for never.
  var deadline: (at: UInt64, end: End)? {
    if let endedAt { return ((waitsSince ?? endedAt) + Limits.pageRead, .stalled) }
    var gone = UInt64.max
    if !isConnected { gone = openedAt + Limits.connect }
    if let helloPostedAt {
      if !isWelcomed { gone = min(gone, helloPostedAt + Limits.connect) }
    } else {
      gone = min(gone, openedAt + Limits.firstHello)
    }
    if let waitsSince, waitsSince + Limits.pageRead < gone {
      return (waitsSince + Limits.pageRead, .stalled)
    }
    return gone == .max ? nil : (gone, .gone)
  }
}
