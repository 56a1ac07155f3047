import NavigationCore

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
  /// The cause of this revision; nil for a snapshot.
  public let cause: NavigationCause?
  /// The name of the client that made this revision.
  public let author: String?
  /// Whether displays should animate the change.
  public let isAnimated: Bool
  let mirror: Mirror
  private var eventList: OpaqueJSON?

  init(nav: String, mirror: Mirror, diff: Diff? = nil) {
    self.nav = nav
    self.mirror = mirror
    isResynchronised = diff == nil
    eventList = diff?.events
    cause = diff.map { NavigationCause(rawValue: $0.cause) }
    author = diff?.byName
    isAnimated = diff?.isAnimated ?? false
  }

  /// Makes a state for an event that made no revision.
  init(nav: String, mirror: Mirror, ephemeral: OpaqueJSON) {
    self.init(nav: nav, mirror: mirror)
    isResynchronised = false
    eventList = ephemeral
  }

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
  public var screens: [NavigationScreen] { mirror.screens.map { NavigationScreen($0) } }

  /// The number of screens.
  public var depth: Int { mirror.screens.count }

  /// The top screen; nil for an empty stack.
  public var top: NavigationScreen? {
    mirror.screens.last.map { NavigationScreen($0) }
  }

  /// UIKit's `visibleViewController`: the last presented screen, else the top screen, else nil.
  public var visible: NavigationScreen? { presented.last ?? top }

  /// The presented screens, in the order of their presentation.
  public var presented: [NavigationScreen] { mirror.presented.map { NavigationScreen($0) } }

  /// The visible content of the navigation bar.
  public var bar: NavigationBarContent? {
    mirror.resolved.flatMap { NavigationValue.read($0.bytes) }
      .map { NavigationBarContent($0) }
  }

  /// A part of the state with all its members, in the words of the protocol.
  public func part(_ part: Part) -> NavigationValue? {
    mirror.parts.first { $0.id == part.rawValue }.flatMap { NavigationValue.read($0.json.bytes) }
  }

  /// Whether a transition, or the gesture that drives one, is open.
  public var isTransitioning: Bool { mirror.isTransitioning }

  /// UIKit's `prefersLargeTitles` of the bar, as ``BarSetting/prefersLargeTitles(_:)`` sets it.
  public var prefersLargeTitles: Bool { part(.bar)?["prefersLargeTitles"]?.bool ?? false }
}

extension NavigationValue {
  /// Reads JSON that the mirror has checked.
  static func read(_ bytes: [UInt8]) -> NavigationValue? {
    do { return try NavigationValue(bytes: bytes) } catch { return nil }
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

  /// What a screen reader says when the screen appears; nil for the label of its item.
  public var accessibilityLabel: String? { value["accessibilityLabel"]?.text }

  /// Its language, a tag of BCP 47; nil for that of the display.
  public var language: String? { value["language"]?.text }

  /// UIKit's `largeTitleDisplayMode` of its item.
  public var largeTitleDisplayMode: ItemDescription.LargeTitleDisplayMode {
    let word = value["item"]?["largeTitleDisplayMode"]?.text
    return word.map { ItemDescription.LargeTitleDisplayMode(rawValue: $0) } ?? .automatic
  }

  /// The whole record, without members that have their defaults.
  public var value: NavigationValue { NavigationValue.read(record.json.bytes) ?? .null }

  /// The whole record as JSON, as the daemon sent it.
  public var json: String { String(decoding: record.json.bytes, as: UTF8.self) }
}
