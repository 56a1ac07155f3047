@testable import NavigationCore
@testable import NavigationHub

/// All that a client's message says, in a form that can be compared.
enum ToldMessage: Hashable {
  case hello(Hello)
  case watch(WatchRequest)
  case unwatch(UInt64, String, View)
  case op(ToldOp)
  case get(GetRequest)
  case delegate(DelegateRequest)
  case answer(UInt64, DelegateAnswer)
  case lease(LeaseRequest)
  case cluster(ClusterRequest)
  case number(ClientVerb, UInt64)

  struct ToldOp: Hashable {
    var id: UInt64
    var client: ClientID?
    var name: String?
    var nav: String
    var guards: Guards
    var isAnimated: Bool?
    var onBusy: BusyPolicy?
    var due: UInt64?
    var clock: String?
    var kinds: [OperationKind]
    var failures: [ReadFailure?]
    var operations: [Operation]
  }

  init(_ message: ClientMessage) {
    switch message {
    case .hello(let hello): self = .hello(hello)
    case .watch(let request): self = .watch(request)
    case .unwatch(let id, let nav, let view): self = .unwatch(id, nav, view)
    case .op(let op): self = .op(ToldOp(op))
    case .get(let request): self = .get(request)
    case .delegate(let request): self = .delegate(request)
    case .answer(let ask, let value): self = .answer(ask, value)
    case .lease(let request): self = .lease(request)
    case .cluster(let request): self = .cluster(request)
    case .credit(let upTo): self = .number(.credit, upTo)
    case .ping(let id): self = .number(.ping, id)
    case .bye(let id): self = .number(.bye, id)
    }
  }
}

extension ToldMessage.ToldOp {
  init(_ op: OpMessage) {
    self.init(
      id: op.id, client: op.client, name: op.clientName, nav: op.nav, guards: op.guards,
      isAnimated: op.isAnimated, onBusy: op.onBusy, due: op.dueBootMilliseconds,
      clock: op.dueClockID,
      kinds: op.operations.map(\.kind),
      failures: op.operations.map {
        if case .unreadable(let failure) = $0.arguments { failure } else { nil }
      }, operations: op.decoded)
  }
}

extension ClientMessageReader {
  /// Reads a message; the result can be compared.
  mutating func told(_ verb: String, _ body: [UInt8]) -> Result<ToldMessage, MessageFailure> {
    do {
      return .success(ToldMessage(try read(frame: "nsp1.\(verb)".utf8.span, body: body.span)))
    } catch {
      return .failure(error)
    }
  }
}
