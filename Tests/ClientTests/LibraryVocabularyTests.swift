import Foundation
import NavigationCore
import Testing

@testable import NavigationClient

/// The library has a word for all that the protocol defines, and none that the protocol lacks.
@Suite struct LibraryVocabularyTests {
  /// The words of the first columns of the tables in docs/protocol.md, by the heading as written.
  private static let tables: [String: Set<String>] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/protocol.md")
    guard let text = try? String(contentsOf: page, encoding: .utf8) else { return [:] }
    var tables: [String: Set<String>] = [:]
    var heading: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("|"), let cell = line.split(separator: "|").first else {
        heading = nil
        continue
      }
      // Every second piece stands between two backticks.
      let pieces = cell.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
      let words = pieces.indices.filter { !$0.isMultiple(of: 2) }.map { pieces[$0] }
      if let heading {
        tables[heading, default: []].formUnion(words)
      } else {
        heading = cell.trimmingCharacters(in: .whitespaces)
      }
    }
    return tables
  }()

  private func words(_ heading: String, without others: String...) throws -> [String] {
    let table = try #require(Self.tables[heading], "docs/protocol.md has no table '\(heading)'")
    #expect(table.isSuperset(of: others), "\(heading)")
    return table.subtracting(others).sorted()
  }

  @Test func `there is a function for every operation of the protocol`() throws {
    let built = NavigationOperationTests.all.map { $0.0.kind.name }
    #expect(Set(built).sorted() == (try words("op")))
  }

  @Test func `every setting that a client can set has a name, and a function`() throws {
    // `attach` and `detach` set the one, the operation of the proxy sets the other.
    let names = NavigationSetting.Name.allCases.map(\.rawValue)
    #expect(names.sorted() == (try words("`settings`", without: "attached", "proxy")))
  }

  @Test func `every property of the display that a client can set has a name`() throws {
    let names = EnvironmentSetting.Name.allCases.map(\.rawValue)
    #expect(names.sorted() == (try words("`environment`", without: "owner", "orientations")))
  }

  @Test func `every member of the bar that is set by value has a name`() throws {
    let names = BarSetting.Name.allCases.map(\.rawValue)
    // The daemon hides the bar by an operation of its own, and so are appearances set.
    let others = try words(
      "`bar`", without: "class", "hidden", "hiddenElsewhere", "hid", "appearance")
    #expect(names.sorted() == others)
  }

  @Test func `every member of a screen and of a button that can be set has a name`() throws {
    let screen = ScreenSetting.Name.allCases.map(\.rawValue)
    #expect(screen.sorted() == (try words("screen", without: "id", "ver", "kind", "item")))
    let button = ButtonSetting.Name.allCases.map(\.rawValue)
    #expect(button.sorted() == (try words("button", without: "id")))
  }

  @Test func `every member of an item can be reset`() throws {
    #expect(ItemDescription.Name.allCases.map(\.rawValue).sorted() == (try words("item")))
  }

  /// Each event of the protocol with all its members, and those that it cannot do without.
  private static let events: [(name: String, members: [String: NavigationValue], Set<String>)] = [
    ("willShow", ["screen": "a", "animated": true], ["screen"]),
    ("didShow", ["screen": "a", "animated": true], ["screen"]),
    ("willHide", ["screen": "a", "animated": true], ["screen"]),
    ("didHide", ["screen": "a", "animated": true], ["screen"]),
    ("didPush", ["screen": "a"], ["screen"]),
    ("didPop", ["screen": "a", "result": 1], ["screen"]),
    ("didPresent", ["screen": "a"], ["screen"]),
    ("didDismiss", ["screen": "a", "result": 1], ["screen"]),
    (
      "transitionBegan",
      [
        "tid": 1, "op": "push", "from": "a", "to": "b", "interactive": true, "animator": "x",
        "duration": 5, "driver": "y", "style": "fade",
      ], ["tid", "op"]
    ),
    ("transitionEnded", ["tid": 1, "outcome": "completed"], ["tid", "outcome"]),
    (
      "barChange", ["tid": 1, "hidden": true, "animated": true, "jump": true], ["tid", "hidden"]
    ),
    ("barsVisibilityChanged", ["bar": true, "toolbar": true, "cause": "tap"], []),
    ("popBlocked", ["screen": "a"], ["screen"]), ("dismissAttempted", ["screen": "a"], ["screen"]),
    ("backAtRoot", [:], []),
    ("buttonActivated", ["button": "a", "element": "c", "action": "b"], []),
    ("transitionProgress", ["tid": 1, "value": 0.5], ["tid", "value"]),
  ]

  @Test func `every event of the protocol has a kind`() throws {
    #expect(Self.events.map(\.name).sorted() == (try words("event")))
    for (name, members, _) in Self.events {
      #expect(
        NavigationEvent(name: .init(rawValue: name), details: .object(members)).kind != .other,
        "\(name)")
    }
  }

  @Test func `an event without a member that it needs is other, without another one it is itself`()
  {
    for (name, members, needed) in Self.events {
      for missing in members.keys {
        var rest = members
        rest[missing] = nil
        let kind = NavigationEvent(name: .init(rawValue: name), details: .object(rest)).kind
        #expect((kind == .other) == needed.contains(missing), "\(name) without \(missing)")
        // A member of another type is as good as none.
        // A result may be of any type.
        guard missing != "result" else { continue }
        rest[missing] = [1]
        let other = NavigationEvent(name: .init(rawValue: name), details: .object(rest)).kind
        #expect(other == kind, "\(name) with another \(missing)")
      }
      #expect(
        NavigationEvent(name: .init(rawValue: name), details: 5).kind == .other || needed.isEmpty)
    }
  }

  @Test func `a transition has no negative number`() {
    let details: NavigationValue = ["tid": -1, "outcome": "completed"]
    #expect(NavigationEvent(name: .transitionEnded, details: details).kind == .other)
  }
}
