import NavigationCore

extension OkReply {
  /// The answer to an op, as the daemon wrote it but for its id.
  var members: JSONObject {
    [
      "nav": nav.map { .string($0) }, "epoch": epoch.map { .string($0.text) },
      "rev": revision.map { .integer($0.number) }, "changed": changed.map { .bool($0) },
      "depth": depth.map { .integer($0) },
      "top": top.map { $0.map { .string($0) } ?? .null },
      "dig": digest.map { .string($0.text) }, "out": out,
    ]
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
