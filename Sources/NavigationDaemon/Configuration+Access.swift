import ZeroMQ
import NavigationCore

extension Configuration {
  /// Section `[access]`: the roles and the rights of clients, and the keys for tcp.
  struct Access: Hashable, Sendable {
    /// The user, group, key or role of a line; navd looks names up at its start and at a reload.
    enum Who: Hashable, Sendable {
      /// `uid:N`
      case userID(UInt32)
      /// `user:NAME`
      case user(String)
      /// `gid:N`: the users whose primary group it is.
      case groupID(UInt32)
      /// `group:NAME`: the users whose primary group it is, and the members of the group.
      case group(String)
      /// `key:NAME`
      case key(String)
      /// `role:NAME`
      case role(String)
    }

    /// A line of a key that can be repeated.
    protocol Line: Hashable, Sendable {
      /// The accepted form, for messages and the example file.
      static var expected: String { get }
      /// The value with single spaces, for `--print-config`.
      var text: String { get }
      /// Reads the words of a line; nil if they have another form.
      init?(_ words: [Substring])
    }

    /// A line `role = ROLE WHO...`.
    struct RoleLine: Line {
      var role: String
      var members: [Who]
      var text: String
    }

    /// A line `grant = WHO NAVS RIGHT...`.
    struct GrantLine: Line {
      var who: Who
      var navs: NavGlob
      var rights: Rights
      var text: String
    }

    /// A line `gateways = WHO...`.
    struct GatewayLine: Line {
      var members: [Who]
      var text: String
    }

    /// The `role` lines; the first that names a client decides.
    var roles: [RoleLine] = []
    /// The `grant` lines; all that name a client apply.
    var grants: [GrantLine] = []
    /// The `gateways` lines; each adds gateways.
    var gateways: [GatewayLine] = []
    var keyDirectory = KeyDirectory.standardPath
    /// The file of the daemon's secret key; nil for the credential of the service manager.
    var secretKeyFile: String?
  }
}

extension Configuration.Access.Who {
  /// Reads a word such as `user:kiosk`; nil if it has another form.
  init?(_ word: Substring) {
    guard let colon = word.firstIndex(of: ":") else { return nil }
    let name = String(word[word.index(after: colon)...])
    switch String(word[..<colon]) {
    case "uid":
      guard let number = UInt32(name) else { return nil }
      self = .userID(number)
    case "gid":
      guard let number = UInt32(name) else { return nil }
      self = .groupID(number)
    case "user" where !name.isEmpty: self = .user(name)
    case "group" where !name.isEmpty: self = .group(name)
    case "key" where AuthorizedKey.isName(name): self = .key(name)
    case "role" where AuthorizedKey.isName(name): self = .role(name)
    default: return nil
    }
  }
}

extension Configuration.Access.Line {
  init?(_ text: String) { self.init(text.split(whereSeparator: \.isWhitespace)) }
}

extension [Configuration.Access.Who] {
  /// Reads users, groups and keys; nil if a word has another form or names a role.
  fileprivate init?(_ words: some Sequence<Substring>) {
    self = []
    for word in words {
      guard let who = Configuration.Access.Who(word) else { return nil }
      if case .role = who { return nil }
      append(who)
    }
  }
}

extension Configuration.Access.RoleLine {
  static let expected =
    "ROLE WHO..., WHO is uid:N, user:NAME, gid:N, group:NAME or key:NAME"

  init?(_ words: [Substring]) {
    guard words.count >= 2, AuthorizedKey.isName(String(words[0])),
      let members = [Configuration.Access.Who](words.dropFirst())
    else { return nil }
    self.init(role: String(words[0]), members: members, text: words.joined(separator: " "))
  }
}

extension Configuration.Access.GatewayLine {
  static let expected = "WHO..., as for role"

  init?(_ words: [Substring]) {
    guard !words.isEmpty, let members = [Configuration.Access.Who](words) else { return nil }
    self.init(members: members, text: words.joined(separator: " "))
  }
}

extension Configuration.Access.GrantLine {
  static let expected =
    "WHO NAVS RIGHT..., WHO as above or role:ROLE, NAVS with * and ?, RIGHT read, push, pop, admin"

  private static let rights: [Substring: Rights] = [
    "read": .read, "push": .push, "pop": .pop, "admin": .admin,
  ]

  init?(_ words: [Substring]) {
    guard words.count >= 3, let who = Configuration.Access.Who(words[0]),
      let navs = NavGlob(String(words[1]))
    else { return nil }
    var rights: Rights = []
    for word in words[2...] {
      guard let right = Self.rights[word] else { return nil }
      rights.formUnion(right)
    }
    self.init(who: who, navs: navs, rights: rights, text: words.joined(separator: " "))
  }
}
