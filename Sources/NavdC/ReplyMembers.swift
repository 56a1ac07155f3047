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
    members.add("kind", question.form.name)
    for (name, text) in question.form.members { members.add(name, text) }
    members.add("rev", .integer(revision.number))
    members.add("within", .integer(within))
    return members
  }
}
