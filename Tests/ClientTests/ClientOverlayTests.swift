import NavigationCore
import Testing

@testable import NavigationClient

@Suite(.timeLimit(.minutes(5))) struct ClientOverlayTests {
  private func withDisplay(
    _ body: (
      NavigationClient, FakeDaemon, FakeNav, inout NavigationDisplayUpdates.Iterator, MirrorState
    ) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "me", timeout: patience)
    defer { client.close() }
    let nav = FakeNav()
    var states = client.display(nav.name).makeAsyncIterator()
    let watch = try await daemon.next("watch")
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
    let state = try #require(try await states.next())
    try await body(client, daemon, nav, &states, state)
  }

  private func next(
    _ states: inout NavigationDisplayUpdates.Iterator
  ) async throws -> MirrorState? { try await states.next() }

  @Test func `an optimistic push is shown at once and becomes what the daemon says`() async throws {
    try await withDisplay { client, daemon, nav, states, first in
      var nav = nav
      #expect(!first.isPending)
      #expect(first.displayed == first.confirmed)
      async let reply = client.push(
        .init(id: "wifi", title: "Wi-Fi"), onto: first.displayed, optimistic: true)
      let pending = try #require(try await states.next())
      #expect(pending.isPending)
      #expect(pending.confirmed.screens.map(\.id) == ["home"])
      #expect(pending.displayed.screens.map(\.id) == ["home", "wifi"])
      #expect(pending.displayed.top?.version == 0)
      #expect(pending.displayed.bar?.middle == .title("Wi-Fi"))
      #expect(pending.displayed.revision == 1)
      let op = try await daemon.next("op")
      #expect(op.body.contains(#""top":"home""#))
      daemon.send(.diff, nav.push("wifi"))
      daemon.send(.ok, nav.ok(op.id))
      let confirmed = try #require(try await states.next())
      #expect(!confirmed.isPending)
      #expect(confirmed.displayed == confirmed.confirmed)
      #expect(confirmed.displayed.screens.map(\.id) == ["home", "wifi"])
      _ = try await reply
    }
  }

  @Test func `what is refused is withdrawn, and other watches never see it`() async throws {
    try await withDisplay { client, daemon, nav, states, first in
      var confirmed = client.watch("kiosk", buffering: .everyRevision).makeAsyncIterator()
      #expect(try await confirmed.next()?.revision == 1)
      async let reply = client.push(.init(title: "X"), onto: first.confirmed, optimistic: true)
      #expect(try await states.next()?.displayed.depth == 2)
      let op = try await daemon.next("op")
      daemon.send(
        .err, #"{"id":\#(op.id),"code":"vetoed","msg":"no","effect":"none","retry":"no"}"#)
      let after = try #require(try await states.next())
      #expect(after.displayed == after.confirmed)
      do {
        _ = try await reply
        Issue.record("granted")
      } catch let error as NavigationClientError {
        #expect(!error.mayHaveHappened)
      }
      var nav = nav
      daemon.send(.diff, nav.push("a"))
      #expect(try await confirmed.next()?.revision == 2)
    }
  }

  @Test func `without a mirror that is right nothing is sent`() async throws {
    try await withDisplay { client, daemon, nav, states, first in
      for nav in ["unwatched", "suspect"] {
        var other = FakeNav()
        other.name = nav
        var watched: NavigationUpdates.Iterator?
        if nav == "suspect" {
          watched = client.watch(nav).makeAsyncIterator()
          _ = try await daemon.next("watch")
        }
        do throws(NavigationClientError) {
          try await client.perform(
            [.push(.init(id: "a"))], on: nav, guardedBy: .unguarded, optimistic: true)
          Issue.record("performed")
        } catch {
          #expect(error.code == .desync)
          #expect(error.reason == .mirror)
        }
        withExtendedLifetime(watched) {}
      }
      async let reply = client.perform(
        [.popToRoot()], on: "kiosk", guardedBy: .unguarded, whenBusy: .queue)
      let op = try await daemon.next("op")
      #expect(op.body.contains("popToRoot"))
      #expect(op.body.contains(#""onBusy":"queue""#))
      daemon.send(.queued, #"{"id":\#(op.id),"nav":"kiosk","pos":1}"#)
      daemon.send(.ok, nav.ok(op.id))
      _ = try await reply
    }
  }

  @Test func `who gives up withdraws what was shown`() async throws {
    try await withDisplay { client, daemon, _, states, first in
      let task = Task {
        try await client.perform(
          [.push(.init(id: "a"))], on: "kiosk", guardedBy: .unguarded, optimistic: true)
      }
      let pending = try #require(try await next(&states))
      #expect(pending.isPending)
      task.cancel()
      let after = try #require(try await next(&states))
      #expect(!after.isPending)
    }
  }

  @Test func `a request that is too large fails at once`() async throws {
    try await withDisplay { client, _, _, _, _ in
      let text = String(repeating: "x", count: 70_000)
      do throws(NavigationClientError) {
        try await client.perform(
          [.push(.init(title: text))], on: "kiosk", guardedBy: .unguarded, optimistic: true)
        Issue.record("performed")
      } catch {
        #expect(error.code.rawValue == "limit")
      }
    }
  }

  @Test(arguments: [
    (
      #"{"willShow":{"screen":"a","animated":true}}"#,
      NavigationEvent.Kind.willShow(screen: "a", isAnimated: true)
    ),
    (#"{"didShow":{"screen":"a","animated":false}}"#, .didShow(screen: "a", isAnimated: false)),
    (#"{"didPush":{"screen":"a"}}"#, .didPush(screen: "a")),
    (#"{"didPop":{"screen":"a"}}"#, .didPop(screen: "a", result: nil)),
    (#"{"didPop":{"screen":"a","result":[1]}}"#, .didPop(screen: "a", result: [1])),
    (#"{"willHide":{"screen":"a","animated":true}}"#, .willHide(screen: "a", isAnimated: true)),
    (#"{"didHide":{"screen":"a","animated":true}}"#, .didHide(screen: "a", isAnimated: true)),
    (#"{"didPresent":{"screen":"a"}}"#, .didPresent(screen: "a")),
    (#"{"didDismiss":{"screen":"a"}}"#, .didDismiss(screen: "a", result: nil)),
    (#"{"popBlocked":{"screen":"a"}}"#, .popBlocked(screen: "a")),
    (#"{"dismissAttempted":{"screen":"a"}}"#, .dismissAttempted(screen: "a")),
    (
      #"{"transitionBegan":{"tid":19,"op":"push","from":"wifi","to":"dns","interactive":true,"animator":"fade","duration":500,"driver":"drag"}}"#,
      .transitionBegan(
        .init(
          id: 19, operation: .push, from: "wifi", to: "dns", isInteractive: true,
          animator: "fade", duration: .milliseconds(500), driver: "drag", isReduced: false))
    ),
    (#"{"transitionProgress":{"tid":19,"value":0.5}}"#, .transitionProgress(id: 19, value: 0.5)),
    (#"{"transitionProgress":{"tid":19,"value":1}}"#, .transitionProgress(id: 19, value: 1)),
    (#"{"transitionEnded":{"tid":19,"outcome":"timedOut"}}"#, .transitionEnded(id: 19, .timedOut)),
    (
      #"{"barChange":{"tid":19,"hidden":true,"animated":false,"jump":true}}"#,
      .barChange(transition: 19, isHidden: true, isAnimated: false, jumps: true)
    ),
    (
      #"{"barsVisibilityChanged":{"bar":true,"toolbar":false,"cause":"tap"}}"#,
      .barsVisibilityChanged(bar: true, toolbar: false, cause: .tap)
    ),
    (
      #"{"buttonActivated":{"button":"scan","action":"wifi.scan"}}"#,
      .buttonActivated(button: "scan", action: "wifi.scan")
    ),
    (
      #"{"transitionEnded":{"tid":19,"outcome":"melted"}}"#,
      .transitionEnded(id: 19, .init(rawValue: "melted"))
    ),
    (#"{"moonRise":{"screen":"a"}}"#, .other),
  ])
  func `an event has its details as values`(
    json: String, kind: NavigationClient::NavigationEvent.Kind
  ) async throws {
    try await withDisplay { client, daemon, nav, _, _ in
      var states = client.watch("kiosk", buffering: .everyRevision).makeAsyncIterator()
      _ = try await states.next()
      daemon.send(
        .event, #"{"nav":"kiosk","epoch":"\#(nav.epoch)","rev":1,"ev":[\#(json)]}"#)
      let state = try #require(try await states.next() as NavigationState?)
      #expect(state.events.map(\.kind) == [kind])
    }
  }
}
