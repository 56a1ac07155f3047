import NavigationCore

// Translates the rules' refusals into errors of the protocol; only this file makes their texts.

extension OutgoingError {
  init(_ refusal: Refusal) {
    self.init(refusal.error)
    index = refusal.operationIndex
  }

  init(_ error: NavigationError) {
    switch error {
    case .unknownScreen(let id):
      self.init(.unknownScreen, "there is no screen \(id.text)")
    case .unknownButton(let id): self.init(.unknownButton, "there is no button \(id.text)")
    case .buttonRefused(let id, let refusal):
      let what = refusal == .disabled ? "disabled (isEnabled)" : "not shown"
      self.init(.unknownButton, "button \(id.text) is \(what)")
      reason = refusal.rawValue
    case .forbiddenKind(let id, let kind):
      self.init(
        .forbiddenKind,
        "\(id?.text ?? "the screen") is of kind \(kind.word); a stack takes content screens")
    case .alreadyPresented(let id):
      self.init(.ownedElsewhere, "screen \(id.text) is presented; dismiss it first")
    case .duplicateScreen(let id):
      self.init(.duplicateScreen, "screen \(id.text) is on the stack already")
    case .differsFromDetached(let id):
      self.init(
        .duplicateScreen,
        "there is another screen \(id.text); change it by screen.set, or say replace")
    case .duplicateInSet(let id): self.init(.duplicateInSet, "screen \(id.text) is named twice")
    case .duplicateButton(let id):
      self.init(.duplicateItem, "button \(id.text) is in the list, or in use, already")
    case .buttonOnBothSides(let id):
      self.init(.itemBothSides, "button \(id.text) would be on both sides of the item")
    case .notInStack(let id): self.init(.notInStack, "screen \(id.text) is not on the stack")
    case .emptyStack: self.init(.notInStack, "the stack has no screens")
    case .routeNotInStack(let route):
      self.init(.notInStack, "no screen on the stack has the route \(route)")
    case .ambiguousRoute(let route, let candidates):
      self.init(.invalidArgument, "several screens have the route \(route); name one by its id")
      details = [("candidates", JSONWriter.value { $0.ids(candidates) })]
    case .unknownItem(let id):
      self.init(.unknownItem, "there is no item \(id.text)")
    case .duplicateBarItem(let id):
      self.init(.duplicateItem, "item \(id.text) is on the bar already, or named twice")
    case .covered:
      self.init(.covered, "a presented screen covers the stack; dismiss it first")
    case .noBackButton: self.init(.noBackButton, "no back button is shown")
    case .popBlocked(let id):
      self.init(.popBlocked, of: id, "does not let a person pop it (canPop)")
    case .dismissBlocked(let id, let refusal):
      self.init(.dismissBlocked, of: id, "cannot be swiped away")
      reason = refusal.rawValue
    case .alreadyPresenting(let id):
      self.init(.alreadyPresenting, "\(id.text) is presenting already; what is visible may present")
    case .onStackOrPresented(let id):
      self.init(.alreadyActive, "screen \(id.text) is on the stack or presented already")
    case .noMatchingRoute(let route, let unmet): self.init(noRoute: route, unmet)
    case .restoreFailed(let missing):
      self.init(.restoreFailed, "screens of that stack were released")
      details = [("missing", JSONWriter.value { $0.ids(missing) })]
    case .rootRequired:
      self.init(.noRoot, "a stack that is on display, or of which screens are removed, keeps one")
    case .unknownClass(let name):
      self.init(.classUnknown, "class \(name) is not declared in the daemon's configuration")
    case .wrongBaseClass(let name): self.init(.classInvalid, "class \(name) has the wrong base")
    case .depthLimit(let limit):
      self.init(.limit, "a stack holds at most \(counted(limit, "screen"))")
      reason = "depth"
    case .sizeLimit(let limit):
      self.init(.limit, "the state of a nav takes at most \(limit) bytes")
      reason = "size"
    case .gestureRefused(let refusal):
      self.init(.gestureRefused, "the gesture may not begin: \(refusal.explanation)")
      reason = refusal.rawValue
    case .invalidArgument(let text): self.init(.invalidArgument, text)
    }
  }
}

extension OutgoingError {
  /// The error of a route that no template matches; `unmet` is the condition that one failed.
  private init(noRoute route: String, _ unmet: RouteTemplate.Condition?) {
    switch unmet {
    case nil: self.init(.noRoute, "no route of the settings matches \(route)")
    case .roles(let roles)?:
      self.init(.noRoute, "\(route) needs one of the roles \(roles.joined(separator: ", "))")
      reason = "roles"
      expected = JSONWriter.value { $0.array(roles) { $0.string($1) } }
    case .onStack(let ids)?:
      let names = ids.map(\.text).joined(separator: ", ")
      self.init(.noRoute, "\(route) needs on the stack: \(names)")
      reason = "has"
      expected = JSONWriter.value { $0.ids(ids) }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func ids(_ ids: [ScreenID]) { array(ids) { $0.string($1.text) } }
}

extension GestureRefusal {
  fileprivate var explanation: String {
    switch self {
    case .transitionOpen: "a transition, a question or another gesture is under way"
    case .covered: "a presented screen covers the stack"
    case .disabled: "interactivePop is off, or of the other mode"
    case .atRoot: "the root cannot be popped"
    case .noBackButton: "no back button is visible; see interactivePopWithoutBackButton"
    case .popBlocked: "the top does not let a person pop it (canPop)"
    case .wrongDirection: "the finger does not go to the right"
    }
  }
}

extension OutgoingError {
  /// The error about one screen whose properties, such as `canPop`, forbid what a person tried.
  fileprivate init(_ code: ErrorCode, of screen: ScreenID, _ what: String) {
    self.init(code, "screen \(screen.text) \(what)")
    details = [("screen", JSONWriter.value { $0.string(screen.text) })]
  }
}
