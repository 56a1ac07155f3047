@testable import NavigationCore
@testable import NavigationHub
import Testing

extension ScreenID: ExpressibleByStringLiteral {
  /// Makes an identifier from a literal that follows the grammar.
  public init(stringLiteral text: String) {
    guard let id = ScreenID(text) else { preconditionFailure("not a screen id: \(text)") }
    self = id
  }
}

extension ButtonID: ExpressibleByStringLiteral {
  /// Makes an identifier from a literal that follows the grammar.
  public init(stringLiteral text: String) {
    guard let id = ButtonID(text) else { preconditionFailure("not a button id: \(text)") }
    self = id
  }
}

extension Operation {
  static func push(_ id: ScreenID) -> Operation { .push(.id(id), onDuplicate: .error) }
  static func push(_ record: ScreenRecord) -> Operation {
    .push(.record(record), onDuplicate: .error)
  }
  static func setStack(_ ids: ScreenID...) -> Operation { .setStack(ids.map { .id($0) }) }
  static func item(_ id: ScreenID, _ edits: ItemEdit...) -> Operation {
    .setItem(id, edits, requireOnStack: false)
  }
  static func title(_ id: ScreenID, _ title: String?) -> Operation {
    .setScreen(id, [.title(title)])
  }
  static func popTo(_ id: ScreenID) -> Operation { .popTo(.screen(id)) }
}

extension ButtonArgument {
  /// A new button with a title.
  static func new(_ id: ButtonID, title: String? = nil, action: String? = nil) -> ButtonArgument {
    .record(ButtonRecord(id: id, edits: [.title(title ?? id.text), .action(action)]))
  }
}

extension ScreenArgument {
  /// A new screen at its defaults.
  static func new(_ id: ScreenID, _ edits: ScreenEdit...) -> ScreenArgument {
    .record(ScreenRecord(id: id, edits: edits))
  }
}

/// A nav under test: performs messages and holds the laws of every message against them.
struct Nav {
  var controller: NavigationController
  var context = NavigationContext()
  /// The events of the last message.
  var events: [NavigationEvent] = []
  /// The commit of the last message.
  var commit: Commit?

  /// An attached controller, at revision 10, with this stack and these detached screens.
  init(_ stack: ScreenID..., detached: [ScreenID] = [], isAttached: Bool = true) throws {
    var nav = Nav(NavigationController(revision: Revision(1)))
    for id in stack { try nav.run(.push(ScreenRecord(id: id))) }
    if isAttached { try nav.run(.attach) }
    for id in detached { try nav.run(.createScreen(ScreenRecord(id: id))) }
    while nav.controller.revision < Revision(10) {
      try nav.run(.configure([.set(\.restorationID, "r\(nav.controller.revision.number)")]))
    }
    nav.events = []
    nav.commit = nil
    self = nav
  }

  init(_ controller: NavigationController) { self.controller = controller }

  var ids: [String] { controller.stack.map(\.id.text) }
  var detachedKeys: [DetachedRecords.Key] { controller.detached.all.map(\.key) }

  /// Performs one message and checks the laws that hold for any.
  @discardableResult
  mutating func run(_ operations: Operation..., animated: Bool? = nil) throws -> OperationOutput {
    try send(operations, animated: animated).last ?? .nothing
  }

  /// Performs one message and returns all outputs.
  @discardableResult
  mutating func send(_ operations: [Operation], animated: Bool? = nil) throws -> [OperationOutput] {
    let before = controller
    events = []
    commit = nil
    do {
      let performance = try controller.perform(operations, isAnimated: animated, in: context)
      commit = performance.commit
      events = performance.commit?.events ?? []
      try checkLaws(from: before, to: controller, performance.commit)
      return Array(performance.outputs)
    } catch let refusal as Refusal {
      #expect(controller == before, "a refusal changed the state")
      #expect(controller.violatedInvariants() == [])
      throw refusal
    }
  }

  /// The transition in flight.
  var running: RunningTransition? { controller.transition.content.running }

  /// The events of the last message, and of the completion of the transition that it began, without
  /// those that speak of the transition itself.
  mutating func story() throws -> [NavigationEvent] {
    let beginning = events
    let id = try #require(running?.id, "no transition was begun")
    #expect(beginning.last == running.map { .transitionBegan($0) })
    try run(.completeTransition(id))
    #expect(events.last == .transitionEnded(id, .completed))
    return (beginning + events).filter { !$0.isOfTransition }
  }

  /// Expects that a message is refused with this error and changes nothing.
  mutating func refuses(
    _ operations: Operation..., at index: Int = 0, with error: NavigationError,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: Refusal(operationIndex: index, error: error), sourceLocation: sourceLocation) {
      try send(operations)
    }
  }

  /// Performs a message and expects that it succeeds without effect.
  @discardableResult
  mutating func runsWithoutEffect(
    _ operations: Operation..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> OperationOutput {
    let before = controller
    let output = try send(operations).last ?? .nothing
    #expect(commit == nil, sourceLocation: sourceLocation)
    #expect(controller == before, sourceLocation: sourceLocation)
    return output
  }
}

extension NavigationEvent {
  /// Whether the event tells of the beginning or the end of a transition.
  var isOfTransition: Bool {
    switch self {
    case .transitionBegan, .transitionEnded: true
    default: false
    }
  }
}

extension Edit<ButtonContent> {
  static func title(_ value: String?) -> Self { .set(\.title, value) }
  static func image(_ value: ImageReference?) -> Self { .set(\.image, value) }
  static func landscapeImage(_ value: ImageReference?) -> Self { .set(\.landscapeImage, value) }
  static func systemItem(_ value: SystemItem?) -> Self { .set(\.systemItem, value) }
  static func customView(_ value: OpaqueJSON?) -> Self { .set(\.customView, value) }
  static func style(_ value: ButtonStyle) -> Self { .set(\.style, value) }
  static func action(_ value: String?) -> Self { .set(\.action, value) }
}
