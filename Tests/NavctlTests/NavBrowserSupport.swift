import NavigationClient

@testable import navctl
@testable import NavigationCore

/// A browser of a daemon that a test plays.
struct BrowserStage {
  var browser: NavBrowser
  /// The revision of the open nav.
  private(set) var revision: UInt64 = 1
  private var nextID: UInt64 = 1

  init(isWritable: Bool = false, columns: Int = 80, rows: Int = 24, isASCII: Bool = false) {
    browser = NavBrowser(isWritable: isWritable, endpoint: "ipc:///run/op", isASCII: isASCII)
    browser.resize(columns: columns, rows: rows)
  }

  /// The mirror of a nav with these screens.
  static func mirror(
    _ screens: [String], rev: UInt64 = 1, title: String? = nil, kind: String = "controller"
  ) throws -> Mirror {
    guard let number = Epoch(epoch), let digest = Digest("0ea1f589c0ffee12c0ffee12") else {
      throw UsageError("not an epoch")
    }
    let records = screens.map { id in
      MirrorRecord(
        id: id, version: Revision(1),
        json: .object(["id": .string(id), "title": .string(title ?? id), "ver": .integer(1)]))
    }
    return Mirror(
      kind: kind, epoch: number, revision: Revision(rev), screens: records, parts: [],
      resolved: nil, digest: digest)
  }

  /// Lists these navs.
  @discardableResult mutating func list(_ names: [String]) throws -> [NavBrowser.Effect] {
    let mirror = try Self.mirror(names, kind: "directory")
    return browser.handle(.changed(nav: DirectoryNav.navs.nav, .replaced(mirror, why: "join")))
  }

  /// Sends the heads of all navs that are in memory: one, with this record.
  mutating func head(_ nav: String, _ record: String) throws {
    var mirror = try Self.mirror([nav], kind: "directory")
    mirror.screens[0].json = OpaqueJSON(validated: Array(record.utf8))
    _ = browser.handle(.changed(nav: DirectoryNav.positions.nav, .replaced(mirror, why: "join")))
  }

  /// Sends the state of a nav.
  mutating func show(_ nav: String, _ screens: [String], title: String? = nil) throws {
    revision += 1
    let mirror = try Self.mirror(screens, rev: revision, title: title)
    _ = browser.handle(.changed(nav: nav, .replaced(mirror, why: "join")))
  }

  /// Opens a nav whose stack is [home, wifi], and draws it.
  mutating func open(_ nav: String = "kiosk", title: String? = nil) throws {
    _ = browser.firstEffects(nav)
    try list([nav, "tv"])
    try show(nav, ["home", "wifi"], title: title)
    _ = browser.frame()
  }

  /// Types a text, and then other keys.
  @discardableResult mutating func type(
    _ text: String, _ keys: BrowserKey...
  ) -> [NavBrowser.Effect] {
    (text.unicodeScalars.map { BrowserKey.text($0) } + keys).flatMap { browser.press($0) }
  }

  /// The changes among effects.
  static func changes(_ effects: [NavBrowser.Effect]) -> [NavBrowser.Change] {
    effects.compactMap {
      guard case .send(let change) = $0 else { return nil }
      return change
    }
  }

  /// The navs that effects watch, with a minus in front of those that they end.
  static func watches(_ effects: [NavBrowser.Effect]) -> [String] {
    effects.compactMap {
      switch $0 {
      case .watch(let nav): nav
      case .unwatch(let nav): "-\(nav)"
      default: nil
      }
    }
  }

  /// Answers the change with this id.
  mutating func answer(_ id: UInt64, _ result: Result<OkReply, ErrReply>) -> [NavBrowser.Effect] {
    browser.noteSent(id: id)
    return browser.handle(.answered(id: id, result))
  }

  /// The answer of a daemon to `hello`.
  static func welcome() throws -> Welcome {
    guard let boot = Epoch(epoch) else { throw UsageError("not an epoch") }
    return Welcome(
      nonce: "n", boot: boot, server: "navd/0.1.0", features: [], heartbeat: 5000,
      role: "ui", lastOp: 0, window: 65536, maximumBody: 65536)
  }

  /// The screen as text.
  var screen: String {
    mutating get { browser.frame().lines.map(\.plain).joined(separator: "\n") }
  }
}
