import NavigationCore
import RuntimePaths

/// The tokens of pages: those of the token file, and those that pages got for launch codes.
///
/// Callers pass random texts and the time in milliseconds. With the random hash seed of dictionaries,
/// the time of a search does not show how much of a guessed token is right.
struct TokenTable: Sendable {
  /// How long a token from a launch code stays valid without use.
  static let tokenIdleMilliseconds: UInt64 = 12 * 3_600_000
  /// How long a launch code is valid.
  static let launchCodeSeconds: UInt64 = 60
  /// The maximum number of launch codes, and of tokens from them, for all actors together.
  private static let maximumEntries = 1024
  /// The same maximum for one actor.
  private static let maximumEntriesOfActor = 64

  /// A launch code or a token from one; `endOrLastUse` is the end of a code, or the last use of a token.
  private struct Entry {
    var actor: SessionActor
    var endOrLastUse: UInt64
  }

  /// The actors by the tokens of the token file.
  private var fileTokens: [String: SessionActor]
  private var launchTokens: [String: Entry] = [:]
  private var launchCodes: [String: Entry] = [:]

  init(_ fileTokens: [String: SessionActor] = [:]) { self.fileTokens = fileTokens }

  /// Replaces the tokens of the token file.
  ///
  /// If an actor loses a token, its launch codes and their tokens end too: a thief of the token
  /// could have made them.
  mutating func replaceFileTokens(_ fileTokens: [String: SessionActor]) {
    let revoked = Set(self.fileTokens.filter { fileTokens[$0.key] != $0.value }.values)
    self.fileTokens = fileTokens
    launchTokens = launchTokens.filter { !revoked.contains($0.value.actor) }
    launchCodes = launchCodes.filter { !revoked.contains($0.value.actor) }
  }

  /// The actor of a token; nil if the token is not valid.
  mutating func actor(of token: String, at now: UInt64) -> SessionActor? {
    if let actor = fileTokens[token] { return actor }
    guard let entry = launchTokens[token] else { return nil }
    guard entry.endOrLastUse + Self.tokenIdleMilliseconds > now else {
      launchTokens[token] = nil
      return nil
    }
    noteUse(of: token, at: now)
    return entry.actor
  }

  /// Notes that a page uses a token from a launch code now.
  mutating func noteUse(of token: String, at now: UInt64) {
    launchTokens[token]?.endOrLastUse = now
  }

  /// Adds a launch code, valid once: for `launchCodeSeconds`, or for ever if it does not expire.
  mutating func add(code: String, for actor: SessionActor, at now: UInt64, expires: Bool = true) {
    launchCodes = launchCodes.filter { $0.value.endOrLastUse > now }
    Self.makeRoom(in: &launchCodes, for: actor)
    let end = expires ? now + Self.launchCodeSeconds * 1000 : .max
    launchCodes[code] = Entry(actor: actor, endOrLastUse: end)
  }

  /// Trades a launch code for a token; nil if the code was used, has expired or never existed.
  mutating func trade(code: String, for token: String, at now: UInt64) -> SessionActor? {
    guard let entry = launchCodes.removeValue(forKey: code),
      entry.endOrLastUse > now
    else { return nil }
    launchTokens = launchTokens.filter { $0.value.endOrLastUse + Self.tokenIdleMilliseconds > now }
    Self.makeRoom(in: &launchTokens, for: entry.actor)
    launchTokens[token] = Entry(actor: entry.actor, endOrLastUse: now)
    return entry.actor
  }

  /// Drops the oldest entry if the actor, or all actors together, have the maximum.
  ///
  /// It drops an entry of the actor itself if there is one, so that no page logs out other actors.
  private static func makeRoom(in entries: inout [String: Entry], for actor: SessionActor) {
    let own = entries.filter { $0.value.actor == actor }
    guard own.count >= maximumEntriesOfActor || entries.count >= maximumEntries else { return }
    let oldest = (own.isEmpty ? entries : own).min { $0.value.endOrLastUse < $1.value.endOrLastUse }
    if let oldest { entries[oldest.key] = nil }
  }
}

/// The file of tokens.
enum TokenFile {
  /// The reason why a file is not accepted.
  struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1.
    var line: Int
    var reason: String
    var description: String { "line \(line): \(reason)" }
  }

  /// The actor name of launched pages, which no line of the file may have.
  static let launchActorName = "launch"

  /// Reads lines of `NAME TOKEN [ROLE [NAVS...]]`; `#` begins a comment.
  ///
  /// Without a role it is `read`; without patterns of navs it is `*`.
  static func read(_ text: String) throws(Fault) -> [String: SessionActor] {
    var actors: [String: SessionActor] = [:]
    var names: Set<String> = []
    // CR and LF are one `Character`, which does not equal LF.
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
      guard !words.isEmpty else { continue }
      func fault(_ reason: String) -> Fault { Fault(line: index + 1, reason: reason) }
      guard words.count >= 2 else { throw fault("expected NAME TOKEN [ROLE [NAVS...]]") }
      guard (22...128).contains(words[1].utf8.count), words[1].utf8.allSatisfy(isTokenByte) else {
        throw fault(
          "a token has 22 to 128 letters, digits and -._~+/=; head -c 32 /dev/urandom | base64 makes one"
        )
      }
      let role = words.count > 2 ? Role(words[2]) : .read
      let navs = words.count > 3 ? words[3...].map { NavGlob($0) } : [NavGlob("*")]
      guard let actor = SessionActor(name: words[0], role: role, navs: navs.compactMap { $0 }),
        actor.navs.count == navs.count
      else {
        throw fault("a name has 1 to 64 letters, digits and ._-, a pattern of navs 1 to 256 octets")
      }
      guard actor.name != launchActorName else {
        throw fault("\(launchActorName) is the name of pages of --launch; use another")
      }
      guard names.insert(actor.name).inserted else { throw fault("\(actor.name) occurs twice") }
      guard actors.updateValue(actor, forKey: words[1]) == nil else {
        throw fault("the token of \(actor.name) occurs twice")
      }
    }
    return actors
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-._~+/=".utf8.contains(byte)
  }
}
