import Navigation
import NavigationSync

/// The state of a nav at one revision, as a mirror of the daemon's.
///
/// States of one nav are ordered by ``revision`` within one ``epoch``. A state is a value: it
/// stays as it is while the nav goes on.
public struct NavigationState: Hashable, Sendable {
  /// The name of the nav.
  public let nav: String
  /// Whether revisions may lie between the state delivered before and this one.
  ///
  /// Their events are lost. True of the first state, after a snapshot, and where a slow reader
  /// was spared states. What the state shows is right all the same.
  public internal(set) var isResynchronised: Bool
  /// What led to this revision: `api`, `backButton`, `gesture`, …; nil of a snapshot.
  public let cause: String?
  /// The name of the client that asked for this revision.
  public let author: String?
  /// Whether the change asks to be animated.
  public let isAnimated: Bool
  /// What the daemon has confirmed; guards are made of it and of nothing else.
  let mirror: Mirror
  /// What is shown in its place, while operations are under way.
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

  /// The state at which something happened that made no revision.
  init(nav: String, mirror: Mirror, ephemeral: OpaqueJSON) {
    self.nav = nav
    self.mirror = mirror
    isResynchronised = false
    eventList = ephemeral
    cause = nil
    author = nil
    isAnimated = false
  }

  /// The same state with what is under way.
  func showing(_ shown: Mirror?) -> NavigationState {
    var result = self
    result.shown = shown
    return result
  }

  /// Whether it shows something that is not confirmed.
  var isPending: Bool { shown != nil }

  /// What happened in this revision, in order; empty of a snapshot.
  public var events: [NavigationEvent] {
    eventList.map { NavigationEvent.list($0.bytes) } ?? []
  }

  /// Names one life of the nav; revisions of different lives are not comparable.
  public var epoch: String { mirror.epoch.text }

  /// The number of this state, 1 when the nav was created.
  public var revision: UInt64 { mirror.revision.number }

  /// The checksum that proves this state.
  public var digest: String { mirror.digest.text }

  /// The stack, bottom first.
  public var screens: [NavigationScreen] { (shown ?? mirror).screens.map { NavigationScreen($0) } }

  /// The number of screens.
  public var depth: Int { (shown ?? mirror).screens.count }

  /// The topmost screen; nil of an empty stack.
  public var top: NavigationScreen? {
    (shown ?? mirror).screens.last.map { NavigationScreen($0) }
  }

  /// UIKit's `visibleViewController`: what was presented last, else the top; nil of neither.
  public var visible: NavigationScreen? { presented.last ?? top }

  /// What is presented over the stack, in the order in which it was.
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

  /// What the navigation bar shows.
  public var bar: NavigationBarContent? {
    (shown ?? mirror).resolved.flatMap { NavigationValue.read($0.bytes) }
      .map { NavigationBarContent($0) }
  }

  /// One of the parts beside the screens, `bar`, `toolbar`, `presented`, `transition`,
  /// `environment` or `settings`, with all its members.
  public func part(_ name: String) -> NavigationValue? {
    mirror.parts.first { $0.id == name }.flatMap { NavigationValue.read($0.json.bytes) }
  }
}

extension NavigationValue {
  /// Reads JSON that has been read before.
  static func read(_ bytes: [UInt8]) -> NavigationValue? {
    do { return try NavigationValue(bytes: bytes) } catch { return nil }
  }
}

extension MirrorRecord {
  /// A record within a part that was read before.
  fileprivate init?(_ tape: borrowing JSONTape, _ at: Int) {
    guard let id = tape.member("id", of: at).flatMap({ tape.string($0) }),
      let version = tape.member("ver", of: at).flatMap({ tape.integer($0) })
    else { return nil }
    self.init(
      id: id, version: Revision(version), json: OpaqueJSON(validated: Array(tape.raw(at))))
  }
}

/// A screen on a stack, or presented over it.
public struct NavigationScreen: Hashable, Sendable, Identifiable {
  private let record: MirrorRecord

  init(_ record: MirrorRecord) { self.record = record }

  /// Its id within the nav.
  public var id: String { record.id }

  /// The revision at which it last changed; with the id, it names one content.
  public var version: UInt64 { record.version.number }

  /// Its title.
  public var title: String? { value["title"]?.text }

  /// What the application finds its content by.
  public var route: String? { value["route"]?.text }

  /// What else the application gave it.
  public var args: NavigationValue? { value["args"] }

  /// The whole record; members at their defaults are left out.
  public var value: NavigationValue { NavigationValue.read(record.json.bytes) ?? .null }

  /// The whole record as JSON, as it came.
  public var json: String { String(decoding: record.json.bytes, as: UTF8.self) }
}

/// Something that happened to a nav, such as `didPush` with the id of a screen.
public struct NavigationEvent: Hashable, Sendable {
  /// What happened: `willShow`, `didShow`, `didPush`, `didPop`, `buttonActivated` and so on.
  public let name: String
  /// The details.
  public let details: NavigationValue

  /// The id of the screen that it is about.
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

/// What a navigation bar shows, computed by the daemon from the stack and its items.
public struct NavigationBarContent: Hashable, Sendable {
  /// One position at the left or right.
  public enum Slot: Hashable, Sendable {
    /// The back button.
    case back(BackButton)
    /// A button.
    case button(BarButton)
  }

  /// The middle.
  public enum Middle: Hashable, Sendable {
    /// A text; an empty one is a wanted blank.
    case title(String)
    /// A view of the display's, by its name.
    case view(String)
  }

  /// The back button as it is shown.
  public struct BackButton: Hashable, Sendable {
    /// The text beside the indicator; nil for the indicator alone.
    public var text: String?
    /// Texts to try in this order, for a display that measures them itself.
    public var candidates: [String]
    /// Everything that is known of it.
    public var details: NavigationValue
  }

  /// A button as it is shown.
  public struct BarButton: Hashable, Sendable {
    /// Its id.
    public var id: String
    /// Its text.
    public var title: String?
    /// What the application does when it is pressed.
    public var action: String?
    /// Everything that is known of it.
    public var details: NavigationValue
  }

  /// The left positions, left-most first.
  public let left: [Slot]
  /// The middle; nil for blank.
  public let middle: Middle?
  /// The right positions, right-most first.
  public let right: [Slot]
  /// Everything that is known of the bar, also what has no name here.
  public let details: NavigationValue

  init(_ value: NavigationValue) {
    details = value
    left = (value["left"]?.array ?? []).map { Self.slot($0) }
    right = (value["right"]?.array ?? []).map { Self.slot($0) }
    middle =
      if let view = value["middle"]?["customView"]?.text ?? value["middle"]?["view"]?.text {
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
          candidates: (back["candidates"]?.array ?? []).compactMap(\.text), details: back))
    }
    return .button(
      BarButton(
        id: value["button"]?.text ?? "", title: value["title"]?.text,
        action: value["action"]?.text, details: value))
  }
}

/// What became of operations that were performed.
public struct NavigationReply: Hashable, Sendable {
  /// The life of the nav.
  public let epoch: String
  /// The revision in which the operations took effect.
  ///
  /// Watches of this client have shown it, except when they are behind.
  public let revision: UInt64
  /// Whether anything changed.
  public let changed: Bool
  /// The number of screens now.
  public let depth: Int
  /// The id of the top screen now; nil of an empty stack.
  public let top: String?
  /// One result for each operation: `id`, `ids` or `popped`.
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
