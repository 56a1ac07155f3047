import CommandLineOptions
import ZeroMQ
import NavigationCore
import RuntimePaths

enum KeyCommand {
  static let command = Command(
    "key", "Create keys, and authorise them to connect over tcp", HelpGroup.administration,
    .init(
      "ACTION [NAME|FILE] [PUBLIC-KEY]", dashedArgumentLength: AuthorizedKey.keyWidth,
      choices: ["ACTION": ["new", "public", "authorize", "list", "revoke"]]),
    options: [
      .init("keys", argument: "DIR", "The directory of keys; default /etc/navd/keys"),
      .init("role", argument: "ROLE", "The role of clients with the key"),
    ],
    note: """
      ACTION is one of: new FILE creates a secret key in FILE, which only its owner can read, and
      prints the public key. public FILE prints the public key again. authorize NAME PUBLIC-KEY
      accepts clients with the secret key of PUBLIC-KEY, a key or a file, under that name. list
      prints the authorised keys. revoke NAME removes a key; navd ends its sessions at once. ROLE is
      admin, ui, or a role of the configuration, about which navctl asks the running navd.
      """, example: "key new panel-1.key", run: run)

  static func run(_ invocation: Invocation) throws {
    let words = invocation.line.positionals
    let directory = KeyDirectory(
      path: invocation.line.value(of: "keys") ?? KeyDirectory.standardPath)
    do {
      switch (words.first, words.count) {
      case ("new", 2): try show("\(SecretKeyFile.create(words[1]))", invocation)
      case ("public", 2): try show("\(SecretKeyFile.pair(words[1]).publicKey)", invocation)
      case ("authorize", 3):
        let key = try AuthorizedKey(
          name: words[1], publicKey: SecretKeyFile.publicKey(words[2]),
          role: invocation.line.value(of: "role"))
        if let role = key.role { try requireKnownRole(role, invocation) }
        try directory.authorize(key)
      case ("revoke", 2):
        if try directory.revoke(words[1]) { return }
        Output.error("navctl: key: there is no key \(words[1]) in \(directory.path)")
        throw ExitStatus(status: ErrorCode.noNav.exitStatus)
      case ("list", 1): try list(directory, invocation)
      default:
        throw UsageError(
          "key takes new FILE, public FILE, authorize NAME PUBLIC-KEY, list, or revoke NAME",
          remedy: "navctl help key")
      }
    } catch let error as KeyError {
      throw PlainFailure(.invalidArgument, "key: \(error)")
    }
  }

  /// Refuses a role that the running daemon does not know: a client with such a key cannot connect.
  private static func requireKnownRole(_ role: String, _ invocation: Invocation) throws {
    guard !["admin", "ui"].contains(role) else { return }
    let define =
      "a line role = \(role) WHO or grant = role:\(role) in navd.conf(5), then reload navd"
    let statistics = try? invocation.connect().statistics().value
    let known = try require(
      statistics?["roles"]?.elements.compactMap(\.string),
      "cannot check the role '\(role)': no navd answers with its roles",
      remedy: "start navd, and run this as root or as its user; or use --role ui or --role admin")
    try require(
      known.contains(role),
      "there is no role '\(role)'; navd knows \(known.joined(separator: ", "))", remedy: define)
  }

  private static func show(_ key: String, _ invocation: Invocation) throws {
    try invocation.write(key, JSONRecord(.key, ["public": .string(key)]))
  }

  private static func list(_ directory: KeyDirectory, _ invocation: Invocation) throws {
    let listing = directory.list(trusting: effectiveUserID())
    for problem in listing.problems { Output.error("navctl: key: ignored: \(problem)") }
    if invocation.isJSON {
      let records = listing.keys.map { key in
        var record: JSONObject = ["name": .string(key.name), "public": .string("\(key.publicKey)")]
        record.add("role", key.role)
        return OpaqueJSON.object(record)
      }
      return try Output.record(JSONRecord(.keys, ["keys": .array(records)]))
    }
    try invocation.table(
      ["NAME", "ROLE", "PUBLIC KEY"],
      listing.keys.map { [$0.name, $0.role ?? "-", "\($0.publicKey)"] })
  }
}
