import NavigationCore
import Testing

@testable import NavigationClient

/// The table of guards in docs/clients.md, on the states of a nav that changes at random.
@Suite struct GuardTableTests {
  /// What can be compared of two states of one nav, by the table.
  private struct Seen: Sendable {
    var state: NavigationState
    var ids: [String] { state.screens.map(\.id) }
  }

  /// A guard of the table, and when it holds.
  private struct Row: Sendable {
    var name: String
    var make: @Sendable (NavigationState) -> NavigationGuard
    /// The reason of the refusal; nil if the guard holds.
    var reason: @Sendable (_ seen: Seen, _ now: Seen) -> String?
  }

  private static func anew(_ seen: Seen, _ now: Seen) -> String? {
    seen.state.epoch == now.state.epoch ? nil : "epoch"
  }

  private static let rows: [Row] = [
    Row(name: "top", make: { .top(of: $0) }) { seen, now in
      anew(seen, now) ?? (seen.ids.last == now.ids.last ? nil : "top")
    },
    Row(name: "stack", make: { .stack(of: $0) }) { seen, now in
      anew(seen, now) ?? (seen.ids == now.ids ? nil : "stack")
    },
    Row(name: "revision", make: { .revision(of: $0) }) { seen, now in
      anew(seen, now) ?? (seen.state.revision == now.state.revision ? nil : "rev")
    },
    Row(name: "life", make: { .life(of: $0) }) { seen, now in anew(seen, now) },
    Row(name: "unguarded", make: { _ in .unguarded }) { _, _ in nil },
    Row(name: "override", make: { _ in .override }) { _, _ in nil },
    Row(name: "has", make: { state in .life(of: state).and(has: state.screens.map(\.id)) }) {
      seen, now in
      anew(seen, now) ?? (Set(seen.ids).isSubset(of: now.ids) ? nil : "has")
    },
    Row(name: "depth", make: { .life(of: $0).and(depth: $0.depth) }) { seen, now in
      anew(seen, now) ?? (seen.ids.count == now.ids.count ? nil : "depth")
    },
    Row(name: "typed top", make: { .top($0.top?.id) }) { seen, now in
      seen.ids.last == now.ids.last ? nil : "top"
    },
    Row(name: "typed stack", make: { .stack($0.screens.map(\.id)) }) { seen, now in
      seen.ids == now.ids ? nil : "stack"
    },
    Row(name: "typed revision", make: { .revision($0.revision) }) { seen, now in
      seen.state.revision == now.state.revision ? nil : "rev"
    },
  ]

  private static func change(
    _ rig: inout HubRig, _ random: inout SeededGenerator, _ step: Int
  ) throws {
    let stack = try rig.stack
    let id = ["home", "wifi", "dns", "a"][Int(random.next() % 4)]
    switch random.next() % 8 {
    case 0, 1: try rig.perform([.pop()])
    case 2, 3:
      let isNew = try rig.refuses(.push(.existing(id)))
      if isNew { try rig.perform([.push(.init(id: "n\(step)"))]) }
    case 4: try rig.perform([.setItem(of: stack[0], ItemDescription(title: "T\(step)"))])
    case 5: try rig.perform([.setStack(stack.reversed().map { .existing($0) })])
    case 6:
      if random.next() % 4 == 0 {
        try rig.perform([.close()])
        try rig.perform([.create(root: .init(id: "home")), .attach()])
        try rig.watch()
      }
    default: try rig.perform([.popToRoot()])
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `a guard holds while the table says so, and else nothing happens`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var rig = try HubRig.kiosk()
    var seen = [Seen(state: try rig.state)]
    var outcomes: Set<String> = []
    for step in 0..<25 {
      try Self.change(&rig, &random, step)
      let now = Seen(state: try rig.state)
      let past = seen[Int(random.next() % UInt64(seen.count))]
      seen.append(now)
      for row in Self.rows {
        let expected = row.reason(past, now)
        outcomes.insert(expected ?? "holds")
        let isHidden = now.state.part(.bar)?["hidden"]?.bool == true
        do {
          // The state stays as it is, so that the next row sees the same one.
          let reply = try rig.perform(
            [.setBarHidden(isHidden)], guardedBy: row.make(past.state))
          #expect(expected == nil, "\(row.name), step \(step)")
          #expect(!reply.changed)
        } catch let error as NavigationClientError {
          #expect(
            error.code == .desync && error.reason?.rawValue == expected, "\(row.name), step \(step)"
          )
          #expect(error.retry == .afterResynchronising && !error.mayHaveHappened)
          #expect(error.revision == now.state.revision && error.top == now.ids.last)
        }
        #expect(try rig.state.digest == now.state.digest)
      }
    }
    #expect(outcomes.isSuperset(of: ["holds", "top", "stack", "rev"]), "\(outcomes)")
  }

  /// Operations that need a guard, by docs/protocol.md, 9.2: whether the top suffices.
  private static let removals: [(NavigationOperation, isEnoughTop: Bool)] = [
    (.pop(), true), (.backTap(), true), (.beginGesture(.edge), true),
    (.setStack(["home"]), false), (.open("x"), false), (.restore([:]), false),
    (.revert(to: 1), false), (.close(), false),
  ]

  @Test(arguments: removals.indices)
  func `a removal by position needs the guard that its documentation names`(index: Int) throws {
    let (operation, isEnoughTop) = Self.removals[index]
    var rig = try HubRig.kiosk()
    let state = try rig.state
    for (guards, isEnough) in [
      (.unguarded, false), (.life(of: state), false), (.life(of: state).and(has: ["home"]), false),
      (.life(of: state).and(depth: 3), false), (.top(of: state), isEnoughTop),
    ] as [(NavigationGuard, Bool)] where !isEnough {
      let error = try rig.refusal(of: [operation], guardedBy: guards)
      #expect(error.code == .guardRequired && error.retry == .never)
    }
    // With a guard that is false, the refusal is another one: the requirement is met.
    for guards in [.stack(["x"]), .revision(99)] as [NavigationGuard] {
      #expect(try rig.refusal(of: [operation], guardedBy: guards).code == .desync)
    }
    let top = try rig.refusal(of: [operation], guardedBy: .top("x"))
    #expect(top.code == (isEnoughTop ? .desync : .guardRequired))
    #expect(try rig.state.digest == state.digest)
  }

  @Test func `what names its screen needs no guard, unless the nav demands one of all`() throws {
    var rig = try HubRig.kiosk()
    let named: [NavigationOperation] = [
      .push("dns", onDuplicate: .ignore), .popTo("dns"), .popToRoot(), .dismiss(), .tap(),
      .setItem(of: "home", ItemDescription(title: "T")), .setBarHidden(false), .attach(),
    ]
    for operation in named { try rig.perform([operation], guardedBy: .unguarded) }
    try rig.perform([.configure([.guards(.all)])])
    for operation in named {
      let error = try rig.refusal(of: [operation], guardedBy: .life(of: try rig.state))
      #expect(error.code == .guardRequired, "\(operation.json)")
      let now = try rig.state
      try rig.perform([operation], guardedBy: .top(of: now))
    }
    try rig.perform([.configure([.guards(.none)])], guardedBy: .override)
    try rig.perform([.setStack(["home"]), .push(.init(id: "z"))], guardedBy: .unguarded)
    #expect(try rig.perform([.pop()], guardedBy: .unguarded).popped == ["z"])
  }

  @Test func `a guard is written as the members of if, and nothing else`() throws {
    let rig = try HubRig.kiosk()
    let state = try rig.state
    let head = #""epoch":"\#(state.epoch)""#
    let rows: [(NavigationGuard, String)] = [
      (.unguarded, ""), (.override, #","if":{"any":true}"#), (.top(nil), #","if":{"top":null}"#),
      (.visible("a"), #","if":{"visible":"a"}"#), (.visible(nil), #","if":{"visible":null}"#),
      (.visible(of: state), #","if":{\#(head),"visible":"dns"}"#),
      (.top("a"), #","if":{"top":"a"}"#), (.stack([]), #","if":{"stack":[]}"#),
      (.revision(0), #","if":{"rev":0}"#), (.life(of: state), #","if":{\#(head)}"#),
      (.top(of: state), #","if":{\#(head),"top":"dns"}"#),
      (.stack(of: state), #","if":{\#(head),"stack":["home","wifi","dns"]}"#),
      (.revision(of: state), #","if":{\#(head),"rev":\#(state.revision)}"#),
      (.top("a").and(has: ["b", "c"]), #","if":{"top":"a","has":["b","c"]}"#),
      (.stack(["a"]).and(depth: -1), #","if":{"depth":0,"stack":["a"]}"#),
    ]
    for (guards, text) in rows {
      let body = ClientMessageWriter.op(
        OpRequest(id: 1, nav: "k", guards: guards.guards), operations: [[0x7B, 0x7D]])
      #expect(
        String(decoding: body, as: UTF8.self) == #"{"id":1,"nav":"k"\#(text),"do":[{}]}"#)
    }
  }

  @Test func `a guard by what is visible holds while that screen is visible, and suffices for it`()
    throws
  {
    var rig = try HubRig.kiosk()
    try rig.perform([.present(.init(id: "pin"))])
    let state = try rig.state
    #expect(try rig.refusal(of: [.swipeDown()], guardedBy: .life(of: state)).code == .guardRequired)
    #expect(try rig.refusal(of: [.pop()], guardedBy: .visible(of: state)).code == .guardRequired)
    try rig.perform([.present(.init(id: "help"), from: "pin")])
    let error = try rig.refusal(of: [.swipeDown()], guardedBy: .visible(of: state))
    #expect(error.code == .desync && error.reason == .visible)
    try rig.perform([.swipeDown()], guardedBy: .visible(of: try rig.state))
    try rig.perform([.swipeDown()], guardedBy: .visible("pin"))
    #expect(try rig.state.presented.isEmpty)
  }

  @Test func `only a guard from a state depends on the mirror`() throws {
    let rig = try HubRig.kiosk()
    let state = try rig.state
    for guards in [
      .life(of: state), .top(of: state), .stack(of: state), .revision(of: state),
      .visible(of: state),
    ] as [NavigationGuard] {
      #expect(guards.requiresSyncedMirror && guards.and(depth: 1).requiresSyncedMirror)
    }
    for guards in [.unguarded, .override, .top("a"), .stack([]), .revision(1), .visible("a")]
      as [NavigationGuard]
    {
      #expect(!guards.requiresSyncedMirror && !guards.and(has: []).requiresSyncedMirror)
    }
  }

  @Test func `a guard has the member visible only on request`() throws {
    var rig = try HubRig.kiosk()
    let state = try rig.state
    for guards in [.top(of: state), .stack(of: state), .revision(of: state)] as [NavigationGuard] {
      let error = try rig.refusal(of: [.popTo("gone")], guardedBy: guards)
      #expect(error.code.rawValue == "unknown-screen")
    }
    let seen = state.visible?.id
    try rig.perform([.pop()], guardedBy: .top(of: state).and(visible: seen))
    let error = try rig.refusal(
      of: [.popTo("home")], guardedBy: .life(of: state).and(visible: "zoo"))
    #expect(error.code == .desync && error.reason == .visible)
  }
}

extension HubRig {
  /// Performs an operation if the nav accepts it, and returns whether it was refused.
  fileprivate mutating func refuses(_ operation: NavigationOperation) throws -> Bool {
    do {
      try perform([operation])
      return false
    } catch is NavigationClientError {
      return true
    }
  }
}
