import NavigationCore
import NavigationReplica

/// The state of a nav at one revision, as this client's mirror has it.
///
/// Within one ``epoch``, the states of a nav are ordered by ``revision``. A state is a value: it
/// does not change when the nav changes.
public struct NavigationState: Hashable, Sendable {
  /// The name of the nav.
  public let nav: String
  /// Whether revisions can be missing between the previously delivered state and this one.
  ///
  /// Their events are lost; the state itself is right. It is true for the first state, after a
  /// snapshot, and where a slow reader missed states.
  public internal(set) var isResynchronised: Bool
  /// The cause of this revision, such as `api`, `backButton` or `gesture`; nil for a snapshot.
  public let cause: String?
  /// The name of the client that made this revision.
  public let author: String?
  /// Whether displays should animate the change.
  public let isAnimated: Bool
  /// The state that the daemon has confirmed; guards come only from it.
  let mirror: Mirror
  /// The mirror with the optimistic changes of this client; nil without any.
  private var shown: Mirror?
  private let eventList: OpaqueJSON?

  init(nav: String, mirror: Mirror, diff: Diff? = nil) {
    self.nav = nav
    self.mirror = mirror
    isResynchronised = diff == nil
    eventList = diff?.events
    cause = diff?.cause
    author = diff?.byName
    isAnimated = diff?.isAnimated ?? false
  }

  /// Makes a state for an event that made no revision.
  init(nav: String, mirror: Mirror, ephemeral: OpaqueJSON) {
    self.nav = nav
    self.mirror = mirror
    isResynchronised = false
    eventList = ephemeral
    cause = nil
    author = nil
    isAnimated = false
  }

  /// The same confirmed state with optimistic changes.
  func showing(_ shown: Mirror?) -> NavigationState {
    var result = self
    result.shown = shown
    return result
  }

  /// Whether the state contains changes that the daemon has not confirmed.
  var isPending: Bool { shown != nil }

  /// The events of this revision, in order; empty for a snapshot.
  public var events: [NavigationEvent] {
    eventList.map { NavigationEvent.list($0.bytes) } ?? []
  }

  /// The epoch: the life of the nav, within which revisions are comparable.
  public var epoch: String { mirror.epoch.text }

  /// The number of this state; a nav begins with 1.
  public var revision: UInt64 { mirror.revision.number }

  /// The digest, a checksum over the ids and versions of the state.
  public var digest: String { mirror.digest.text }

  /// The stack, bottom first.
  public var screens: [NavigationScreen] { (shown ?? mirror).screens.map { NavigationScreen($0) } }

  /// The number of screens.
  public var depth: Int { (shown ?? mirror).screens.count }

  /// The top screen; nil for an empty stack.
  public var top: NavigationScreen? {
    (shown ?? mirror).screens.last.map { NavigationScreen($0) }
  }

  /// UIKit's `visibleViewController`: the last presented screen, else the top screen, else nil.
  public var visible: NavigationScreen? { presented.last ?? top }

  /// The presented screens, in the order of their presentation.
  public var presented: [NavigationScreen] {
    guard let part = (shown ?? mirror).parts.first(where: { $0.id == "presented" }) else {
      return []
    }
    var tape = JSONTape()
    do { try tape.read(part.json.bytes, maximumDepth: 40) } catch { return [] }
    guard let chain = tape.member("chain", of: tape.root) else { return [] }
    var screens: [NavigationScreen] = []
    var element = chain + 1
    while element < tape.next(chain) {
      if let screen = tape.member("screen", of: element), let record = MirrorRecord(tape, screen) {
        screens.append(NavigationScreen(record))
      }
      element = tape.next(element)
    }
    return screens
  }

  /// The visible content of the navigation bar.
  public var bar: NavigationBarContent? {
    (shown ?? mirror).resolved.flatMap { NavigationValue.read($0.bytes) }
      .map { NavigationBarContent($0) }
  }

  /// A part of the state with all its members.
  ///
  /// The parts are `bar`, `toolbar`, `presented`, `transition`, `environment` and `settings`.
  public func part(_ name: String) -> NavigationValue? {
    mirror.parts.first { $0.id == name }.flatMap { NavigationValue.read($0.json.bytes) }
  }
}

extension NavigationValue {
  /// Reads JSON that the mirror has checked.
  static func read(_ bytes: [UInt8]) -> NavigationValue? {
    do { return try NavigationValue(bytes: bytes) } catch { return nil }
  }
}

extension MirrorRecord {
  /// Reads the record of a screen inside another record, such as a presented screen; nil without
  /// one.
  fileprivate init?(_ tape: borrowing JSONTape, _ at: Int) {
    guard let id = tape.member("id", of: at).flatMap({ tape.string($0) }),
      let version = tape.member("ver", of: at).flatMap({ tape.integer($0) })
    else { return nil }
    self.init(
      id: id, version: Revision(version), json: OpaqueJSON(validated: Array(tape.raw(at))))
  }
}

/// A screen on the stack, or presented over it.
public struct NavigationScreen: Hashable, Sendable, Identifiable {
  private let record: MirrorRecord

  init(_ record: MirrorRecord) { self.record = record }

  /// Its id within the nav.
  public var id: String { record.id }

  /// The revision of its last change; id and version together identify one content.
  public var version: UInt64 { record.version.number }

  /// Its title.
  public var title: String? { value["title"]?.text }

  /// The route, by which the application finds the content.
  public var route: String? { value["route"]?.text }

  /// The arguments that the application gave it.
  public var args: NavigationValue? { value["args"] }

  /// The whole record, without members that have their defaults.
  public var value: NavigationValue { NavigationValue.read(record.json.bytes) ?? .null }

  /// The whole record as JSON, as the daemon sent it.
  public var json: String { String(decoding: record.json.bytes, as: UTF8.self) }
}

/// An event of a nav, such as `didPush` with the id of a screen.
public struct NavigationEvent: Hashable, Sendable {
  /// The name of the event, such as `willShow`, `didPush` or `buttonActivated`.
  public let name: String
  /// The members of the event.
  public let details: NavigationValue

  /// The id of the screen of the event; nil if it has none.
  public var screen: String? { details["screen"]?.text }

  static func list(_ bytes: [UInt8]) -> [NavigationEvent] {
    guard let events = NavigationValue.read(bytes)?.array else { return [] }
    return events.flatMap { event in
      (event.object ?? [:]).sorted { $0.key < $1.key }.map {
        NavigationEvent(name: $0.key, details: $0.value)
      }
    }
  }
}

/// The visible content of a navigation bar, which the daemon computes from the stack and its items.
public struct NavigationBarContent: Hashable, Sendable {
  /// An element on the left or right side.
  public enum Slot: Hashable, Sendable {
    /// The back button.
    case back(BackButton)
    /// A button.
    case button(BarButton)
  }

  /// The content of the middle.
  public enum Middle: Hashable, Sendable {
    /// A title; an empty text is an empty title, not a missing one.
    case title(String)
    /// A custom view of the display, by its description: its name, or any other value.
    case view(NavigationValue)
  }

  /// The visible back button.
  public struct BackButton: Hashable, Sendable {
    /// The text beside the back indicator; nil for the indicator alone.
    public var text: String?
    /// The texts to try in this order, for a display that measures texts itself.
    public var candidates: [String]
    /// The screens of the button's menu, nearest first; at most 64.
    ///
    /// ``NavigationOperation/backMenu(_:)`` goes back to one. It is empty where the daemon lacks the
    /// feature `backMenu`.
    public var menu: [MenuEntry]
    /// All its members as JSON.
    public var details: NavigationValue
  }

  /// One entry of the back button's menu.
  public struct MenuEntry: Hashable, Sendable {
    /// The id of the screen.
    public var screen: String
    /// The text of the entry; nil where the back button would show an image or the indicator alone.
    public var text: String?
  }

  /// A visible button.
  public struct BarButton: Hashable, Sendable {
    /// The id of the button.
    public var id: String
    /// The text of the button; nil if it has none.
    public var title: String?
    /// The name of the application's action for a tap.
    public var action: String?
    /// All its members as JSON.
    public var details: NavigationValue
  }

  /// The elements on the left, left-most first.
  public let left: [Slot]
  /// The content of the middle; nil if it is empty.
  public let middle: Middle?
  /// The elements on the right, right-most first.
  public let right: [Slot]
  /// All members of the bar, including those without a property here.
  public let details: NavigationValue

  init(_ value: NavigationValue) {
    details = value
    left = (value["left"]?.array ?? []).map { Self.slot($0) }
    right = (value["right"]?.array ?? []).map { Self.slot($0) }
    middle =
      if let view = value["middle"]?["customView"] {
        .view(view)
      } else {
        value["middle"]?["title"]?.text.map { .title($0) }
      }
  }

  /// The height of the bar in points.
  public var height: Int64? { details["height"]?.integer }

  private static func slot(_ value: NavigationValue) -> Slot {
    if let back = value["back"] {
      return .back(
        BackButton(
          text: back["text"]?.text,
          candidates: (back["candidates"]?.array ?? []).compactMap(\.text),
          menu: (back["menu"]?.array ?? []).map { entry in
            MenuEntry(screen: entry["screen"]?.text ?? "", text: entry["text"]?.text)
          }, details: back))
    }
    return .button(
      BarButton(
        id: value["button"]?.text ?? "", title: value["title"]?.text,
        action: value["action"]?.text, details: value))
  }
}

/// The result of performed operations.
public struct NavigationReply: Hashable, Sendable {
  /// The epoch of the nav.
  public let epoch: String
  /// The revision in which the operations took effect.
  ///
  /// This client's watches of the nav have delivered it already, unless they are behind.
  public let revision: UInt64
  /// Whether the operations changed anything.
  public let changed: Bool
  /// The number of screens after them.
  public let depth: Int
  /// The id of the top screen after them; nil for an empty stack.
  public let top: String?
  /// The result of each operation, with members such as `id`, `ids` or `popped`.
  public let results: [NavigationValue]

  init(_ reply: OkReply) {
    epoch = reply.epoch?.text ?? ""
    revision = reply.revision?.number ?? 0
    changed = reply.changed ?? false
    depth = Int(clamping: reply.depth ?? 0)
    top = reply.top ?? nil
    results = reply.out.flatMap { NavigationValue.read($0.bytes)?.array } ?? []
  }

  /// The ids of all screens that were removed, in the order of the operations.
  public var popped: [String] {
    results.flatMap { result -> [String] in
      guard let popped = result["popped"] else { return [] }
      return popped.text.map { [$0] } ?? (popped.array ?? []).compactMap(\.text)
    }
  }
}
