import NavigationCore

extension OkReply {
  /// The answer to an op, as the daemon wrote it but for its id.
  var members: JSONObject {
    var members: JSONObject = [:]
    members.add("nav", nav)
    members.add("epoch", epoch?.text)
    members.add("rev", revision.map { .integer($0.number) })
    members.add("changed", changed)
    members.add("depth", depth.map { .integer($0) })
    if let top { members.add("top", top.map { .string($0) } ?? .null) }
    members.add("dig", digest?.text)
    members.add("out", out)
    return members
  }
}

extension Ask {
  /// The question as one object, for programs.
  var members: JSONObject {
    var members: JSONObject = [:]
    switch question {
    case .shouldPush(let screen):
      members.add("kind", "shouldPush")
      members.add("screen", screen)
    case .shouldPop(let screen, let cause):
      members.add("kind", "shouldPop")
      members.add("screen", screen)
      members.add("cause", cause)
    case .shouldDismiss(let screen, let cause):
      members.add("kind", "shouldDismiss")
      members.add("screen", screen)
      members.add("cause", cause)
    case .animatorFor(let operation, let from, let to):
      members.add("kind", "animatorFor")
      members.add("op", operation)
      members.add("from", from)
      members.add("to", to)
    case .interactionFor(let animator):
      members.add("kind", "interactionFor")
      members.add("animator", animator)
    case .unknown(let name): members.add("kind", name)
    }
    members.add("rev", .integer(revision.number))
    members.add("within", .integer(within))
    return members
  }
}
