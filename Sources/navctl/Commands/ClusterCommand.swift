import CLinux
import CommandLineOptions
import NavigationClient
import NavigationCore

enum ClusterCommand: Command {
  static let declaration = CommandSet.Command(
    "cluster", "Show and change which daemon of a cluster has which navs", Subject.administration,
    .init(
      "[ACTION] [SHARD|NAV|MEMBER] [MEMBER]", choices: ["ACTION": ["status", "move", "drain"]]),
    options: [OptionDeclaration("off", "With drain: let the member take shards again")],
    note: """
      ACTION is one of: status (the default) lists the daemons. move SHARD MEMBER, or move NAV MEMBER,
      moves a shard and its navs to a daemon, where they stay as long as it serves. drain MEMBER moves
      everything away from a daemon, before it is stopped for long. Both wait until it is done, and
      need the role admin. Clients follow by themselves; no operation is refused.
      """, example: "cluster drain b")

  static func run(_ invocation: Invocation) throws {
    let words = invocation.line.positionals
    let isOff = invocation.line.contains("off")
    let daemon = try invocation.connect()
    switch (words.first ?? "status", words.count) {
    case ("status", 0...1): return try show(daemon)
    case ("move", 3):
      let wish: ClusterRequest.Wish =
        Int(words[1]).map { .move($0, to: words[2]) } ?? .moveNav(words[1], to: words[2])
      return try change(wish, daemon) { members in
        let shard = UInt64(words[1]) ?? members.shard(of: words[1])
        return members.owner(of: shard)?.name == words[2]
      }
    case ("drain", 2):
      return try change(.drain(words[1], on: !isOff), daemon) { members in
        isOff || members.members.first { $0.name == words[1] }?.owned == 0
      }
    default:
      throw UsageError(
        "cluster takes status, move SHARD MEMBER, move NAV MEMBER, or drain MEMBER",
        remedy: "navctl help cluster")
    }
  }

  private static func show(_ daemon: Daemon) throws {
    let (body, members) = try read(daemon)
    if daemon.invocation.isJSON { return try Output.record(.cluster, body) }
    try Output.lines(members.table)
  }

  private static func read(_ daemon: Daemon) throws -> (body: [UInt8], members: ClusterMembers) {
    let reply = try daemon.connection.cluster(timeout: daemon.timeout)
    switch reply.result {
    case .failure(let error): throw Refusal(error: error, nav: nil, seen: nil)
    case .success(let answer):
      guard let members = ClusterMembers(try answer.json()) else {
        throw PlainFailure(
          lines: ["unsupported: this daemon is not one of a cluster, or has no view of it yet"],
          status: ErrorCode.unsupported.exitStatus)
      }
      return (reply.body, members)
    }
  }

  /// Asks for a change, and waits until it is done.
  private static func change(
    _ wish: ClusterRequest.Wish, _ daemon: Daemon, until isDone: (ClusterMembers) -> Bool
  ) throws {
    let reply = try daemon.connection.divide(wish, timeout: daemon.timeout)
    if case .failure(let error) = reply.result { throw Refusal(error: error, nav: nil, seen: nil) }
    let timer = Countdown(daemon.invocation.timeoutMilliseconds)
    while true {
      let (body, members) = try read(daemon)
      if isDone(members) {
        if daemon.invocation.isJSON { try Output.record(.cluster, body) }
        return
      }
      guard timer.left != .zero else {
        throw PlainFailure(
          lines: [
            "busy: it is not done yet; the wish stays in the database",
            "  try: navctl cluster status",
          ], status: ErrorCode.busy.exitStatus)
      }
      _ = poll(nil, 0, 20)
    }
  }
}
