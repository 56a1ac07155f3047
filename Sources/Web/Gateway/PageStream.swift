import NavigationCore
import NavigationHub

/// The state of one stream between a page and navd (docs/protocol.md §16), without I/O or clock.
///
/// Callers pass posts, events and the time, and learn what to send and when the stream ends.
struct PageStream: Sendable {
  /// The limits of a stream, times in milliseconds.
  enum Limits {
    /// The time limit of connecting to navd, and that of navd's answer to the first `hello`.
    static let connectTimeout: UInt64 = 5_000
    /// The time limit of one attempt to connect, after which the next begins.
    static let connectAttemptTimeout: UInt64 = 250
    /// The time in which the page must have posted its first `hello`.
    static let firstHelloTimeout: UInt64 = 10_000
    /// How long the page may read nothing while data waits for it, before the stream ends.
    static let pageReadTimeout: UInt64 = 15_000
    /// The octets waiting for the page above which the gateway stops reading from navd.
    static let pageBacklogBytes = 65_536
    /// The maximum of octets that wait for navd, as `PageMessage.outboxCost` counts them.
    static let outboxBytes = 131_072
  }

  /// How a stream ends.
  enum End: Hashable, Sendable {
    /// navd was lost or not reached, or no `hello` came; the page gets the line `gone`.
    case navdGone
    /// The page read nothing for too long; the gateway shuts its connection down.
    case pageStalled
    /// navd ended or refused the session, or answered the page's `bye`; the page has that message.
    case sessionOver
  }

  /// The answer to a post.
  enum PostVerdict: Hashable, Sendable {
    /// The stream accepted all lines, now or before; `nextPost` is the number of the next post.
    case accepted(nextPost: UInt64)
    /// An earlier post, with the number `nextPost`, is missing.
    case ahead(nextPost: UInt64)
    /// The post is malformed or too long, or asks a read-only stream for more than reads.
    case refused(RequestGate.Refusal)
    /// navd does not read fast enough; the page must post again later.
    case outboxFull
  }

  /// The rights of the page.
  enum Rights: Hashable, Sendable {
    /// The page may do what navd permits the actor.
    case ofActor
    /// The page may read what navd permits the actor.
    ///
    /// The gateway chooses the client id, so that the page cannot take over a client's session.
    case readOnlyOfActor(ClientID)
    /// The page may read what navd permits the user who runs the gateway.
    case readOnlyOfUser(ClientID)
  }

  /// The id by which posts name the stream.
  let id: String
  let actor: SessionActor
  private let rights: Rights
  private let openedAt: UInt64
  private var nextPostNumber: UInt64 = 1
  private var helloPostedAt: UInt64?
  private(set) var isConnected = false
  /// Whether the socket to navd accepted the first `hello`.
  private var hasSentHello = false
  /// Whether navd accepted the first `hello`.
  private var isWelcomed = false
  /// The line that answers the page's first readable `bye`; nil before that.
  private var expectedByeAnswer: [UInt8]?
  private var endedAt: UInt64?
  private var connectAttemptedAt: UInt64
  /// The messages that the socket to navd has not accepted yet.
  private var outbox: [PageMessage] = []
  private var outboxBytes = 0
  private var bytesTakenByPage: UInt64 = 0
  private var pageIdleSince: UInt64?

  init(id: String, actor: SessionActor, rights: Rights = .ofActor, at now: UInt64) {
    self.id = id
    self.actor = actor
    self.rights = rights
    openedAt = now
    connectAttemptedAt = now
  }

  var openingLine: [UInt8] {
    let body = JSONWriter.value { json in
      json.beginObject()
      json.member("id", id)
      json.member("next", nextPostNumber)
      json.endObject()
    }
    return Array("[\"stream\",".utf8) + body + Array("]\n".utf8)
  }

  /// The last line of a stream whose connection to navd is lost.
  static let goneLine = Array("[\"gone\",{}]\n".utf8)

  /// Accepts all messages of a post, or none.
  mutating func post(
    _ number: UInt64, _ body: [UInt8], reader: inout ClientMessageReader, at now: UInt64
  ) -> PostVerdict {
    guard number >= nextPostNumber else { return .accepted(nextPost: nextPostNumber) }
    guard number == nextPostNumber else { return .ahead(nextPost: nextPostNumber) }
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
        messages[index].body = try rewrittenHello(messages[index].body, &reader)
      } catch {
        return .refused(.init(400, "hello: \(error.text)"))
      }
    }
    if rights != .ofActor {
      for (index, message) in messages.enumerated() {
        guard let reason = Self.reasonToRefuse(to: message, &reader) else { continue }
        return .refused(.init(403, "line \(index + 1): \(reason)"))
      }
    }
    let size = messages.reduce(0) { $0 + $1.outboxCost }
    guard outboxBytes + size <= Limits.outboxBytes || outbox.isEmpty else { return .outboxFull }
    // navd answers the first bye that it can read, and then has no session for another one.
    for message in messages where message.isBye && expectedByeAnswer == nil {
      expectedByeAnswer = Self.byeAnswer(to: message, &reader)
    }
    helloPostedAt = helloPostedAt ?? now
    outbox += messages
    outboxBytes += size
    nextPostNumber += 1
    return .accepted(nextPost: nextPostNumber)
  }

  /// Why the gateway refuses a message of a read-only page; nil if the message only reads.
  ///
  /// An administrator's page has no more rights. The gateway also refuses a message that it cannot
  /// parse, because a newer daemon could parse it.
  private static func reasonToRefuse(
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

  /// Rewrites the page's `hello` with the actor and the client id of the page's rights.
  private func rewrittenHello(
    _ body: [UInt8], _ reader: inout ClientMessageReader
  ) throws(MessageFailure) -> [UInt8] {
    let frame = PageMessage.helloFrame
    guard case .hello(var hello) = try reader.read(frame: frame.span, body: body.span)
    else { preconditionFailure("a hello is read as one") }
    switch rights {
    case .ofActor: hello.actor = actor
    case .readOnlyOfActor(let client): (hello.actor, hello.client) = (actor, client)
    case .readOnlyOfUser(let client): (hello.actor, hello.client) = (nil, client)
    }
    // Without flow control, what the page does not take would pile up here.
    hello.hasNoFlowControl = false
    return ClientMessageWriter.message(hello)
  }

  /// The messages to send to navd now; until navd has accepted the first `hello`, only that one.
  ///
  /// If navd refuses the `hello`, it must not get other messages from a connection without a session.
  var dueMessages: ArraySlice<PageMessage> {
    isWelcomed ? outbox[...] : outbox.prefix(hasSentHello ? 0 : 1)
  }

  /// Notes that the socket to navd accepted the first `count` messages of `dueMessages`.
  mutating func noteSent(_ count: Int) {
    for message in outbox.prefix(count) { outboxBytes -= message.outboxCost }
    outbox.removeFirst(count)
    if count > 0 { hasSentHello = true }
  }

  /// Notes a message of navd for the page; returns how the stream ends after it, nil if it goes on.
  mutating func noteDaemonLine(_ line: [UInt8]) -> End? {
    if line.starts(with: Self.byePrefix) || line == expectedByeAnswer { return .sessionOver }
    guard !isWelcomed else { return nil }
    isWelcomed = line.starts(with: Self.welcomePrefix)
    return line.starts(with: Self.refusalPrefix) ? .sessionOver : nil
  }

  private static let welcomePrefix = Array("[\"welcome\",".utf8)
  private static let refusalPrefix = Array("[\"err\",".utf8)
  private static let byePrefix = Array("[\"bye\",".utf8)

  /// The line with which navd will answer a `bye`; nil if navd will refuse it.
  private static func byeAnswer(
    to bye: PageMessage, _ reader: inout ClientMessageReader
  ) -> [UInt8]? {
    guard case .bye(let id)? = try? reader.read(frame: bye.frame.span, body: bye.body.span) else {
      return nil
    }
    return PageMessage.streamLine(
      frame: Array("nsp1.ok".utf8).span, body: ServerMessageWriter.ok(id: id).span)
  }

  mutating func noteConnected() { isConnected = true }

  /// When to connect again; nil once there has been a connection.
  ///
  /// libzmq must not reconnect by itself: after a loss, it would send the page's messages on a
  /// connection without a session.
  var nextConnectAt: UInt64? {
    isConnected || endedAt != nil ? nil : connectAttemptedAt + Limits.connectAttemptTimeout
  }

  /// Notes that the stream ends once the page has read what waits for it.
  mutating func noteEnd(at now: UInt64) { endedAt = now }

  /// Whether the stream has ended, though the page may still read what waits for it.
  var hasEnded: Bool { endedAt != nil }

  mutating func noteConnectAttempt(at now: UInt64) { connectAttemptedAt = now }

  /// Notes whether the page has read everything, and how many octets it has read so far.
  mutating func notePageProgress(isDrained: Bool, bytesTaken: UInt64, at now: UInt64) {
    if isDrained {
      pageIdleSince = nil
    } else if pageIdleSince == nil || bytesTaken != bytesTakenByPage {
      pageIdleSince = now
    }
    bytesTakenByPage = bytesTaken
  }

  func mayReadDaemon(backlog bytes: Int) -> Bool { !hasEnded && bytes < Limits.pageBacklogBytes }

  /// When and how the stream ends unless an event comes first; nil for never.
  var deadline: (at: UInt64, end: End)? {
    if let endedAt { return ((pageIdleSince ?? endedAt) + Limits.pageReadTimeout, .pageStalled) }
    var gone = UInt64.max
    if !isConnected { gone = openedAt + Limits.connectTimeout }
    if let helloPostedAt {
      if !isWelcomed { gone = min(gone, helloPostedAt + Limits.connectTimeout) }
    } else {
      gone = min(gone, openedAt + Limits.firstHelloTimeout)
    }
    if let pageIdleSince, pageIdleSince + Limits.pageReadTimeout < gone {
      return (pageIdleSince + Limits.pageReadTimeout, .pageStalled)
    }
    return gone == .max ? nil : (gone, .navdGone)
  }
}
