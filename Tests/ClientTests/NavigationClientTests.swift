import NavigationCore
import Testing

@testable import NavigationClient

@Suite(.timeLimit(.minutes(5))) struct NavigationClientTests {
  /// Runs a test with a daemon and a client that is welcome.
  private func withClient(
    _ body: (NavigationClient, FakeDaemon) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "test", timeout: patience)
    defer { client.close() }
    try await body(client, daemon)
  }

  /// Answers a watch with a snapshot.
  private func serve(_ watch: Received, _ nav: FakeNav, by daemon: FakeDaemon) {
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
  }

  /// Watches, and reads the first state.
  private func begin(
    _ nav: FakeNav, _ client: NavigationClient, _ daemon: FakeDaemon,
    _ buffering: NavigationBuffering = .everyRevision
  ) async throws -> (NavigationUpdates.Iterator, NavigationState) {
    var states = client.watch(nav.name, buffering: buffering).makeAsyncIterator()
    serve(try await daemon.next("watch"), nav, by: daemon)
    let state = try #require(try await states.next())
    return (states, state)
  }

  @Test func `a read that is cancelled drops no state`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      let (states, _) = try await begin(nav, client, daemon)
      let (engine, ticket) = (client.engine, states.watch.ticket)
      daemon.send(.diff, nav.push("a"))
      // When another watch has it, it waits for a reader.
      var others = client.watch(nav.name).makeAsyncIterator()
      while try #require(try await others.next()).revision < 2 {}
      let reading = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await engine.next(ticket).get()?.revision
      }
      reading.cancel()
      var revision = try await reading.value
      daemon.send(.diff, nav.push("b"))
      if revision == nil { revision = try await engine.next(ticket).get()?.revision }
      #expect(revision == 2)
    }
  }

  @Test func `the first state shows the stack and the bar`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      _ = nav.push("wifi")
      let (states, state) = try await begin(nav, client, daemon)
      #expect(state.revision == 2)
      #expect(state.epoch == nav.epoch)
      #expect(state.digest == nav.digest)
      #expect(state.isResynchronised)
      #expect(state.screens.map(\.id) == ["home", "wifi"])
      #expect(state.top?.title == "Title of wifi")
      #expect(state.top?.route == "wifi")
      #expect(state.top?.args == ["n": 1])
      #expect(state.bar?.middle == .title("wifi"))
      #expect(state.bar?.height == 44)
      guard case .back(let back)? = state.bar?.left.first else {
        Issue.record("no back button")
        return
      }
      #expect(back.text == "Home")
      #expect(back.candidates == ["Home", "Back"])
      guard case .button(let button)? = state.bar?.right.first else {
        Issue.record("no button")
        return
      }
      #expect(button.action == "wifi.scan")
      withExtendedLifetime(states) { #expect(client.isSynchronised("kiosk")) }
    }
  }

  @Test func `every revision comes in order with its events`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      for index in 0..<50 { daemon.send(.diff, nav.push("s\(index)")) }
      for index in 0..<50 {
        let state = try #require(try await states.next())
        #expect(state.revision == UInt64(index + 2))
        #expect(!state.isResynchronised)
        #expect(state.events.map(\.name) == [.didPush])
        #expect(state.events.first?.screen == "s\(index)")
        #expect(state.author == "t")
      }
    }
  }

  @Test func `a slow reader of the newest state is told that it was spared some`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon, .newest)
      for index in 0..<10 { daemon.send(.diff, nav.push("s\(index)")) }
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let op = try await daemon.next("op")
      daemon.send(.ok, nav.ok(op.id))
      _ = try await reply
      // By then everything before the answer was seen.
      let state = try #require(try await states.next())
      #expect(state.revision == nav.revision)
      #expect(state.isResynchronised)
    }
  }

  @Test func `operations are answered with what became of them`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      let (_, state) = try await begin(nav, client, daemon)
      async let reply = client.push(.init(title: "Wi-Fi"), onto: state)
      let op = try await daemon.next("op")
      #expect(op.body.contains(#""do":[{"push":{"screen":{"title":"Wi-Fi"}}}]"#))
      #expect(op.body.contains(#""if":{"epoch":"c0ffee12c0ffee12","top":"home"}"#))
      daemon.send(.diff, nav.push("s2.1"))
      daemon.send(.ok, nav.ok(op.id, out: #"[{"id":"s2.1"}]"#))
      let result = try await reply
      #expect(result.revision == 2)
      #expect(result.top == "s2.1")
      #expect(result.ids == ["s2.1"] && result.popped == [])
    }
  }

  @Test func `a refusal is a typed error with what the nav is now`() async throws {
    try await withClient { client, daemon in
      async let reply = client.perform([.pop()], on: "kiosk", guardedBy: .top("wifi"))
      let op = try await daemon.next("op")
      daemon.send(
        .err,
        #"{"id":\#(op.id),"code":"desync","reason":"top","expected":"wifi","msg":"top is home","effect":"none","retry":"resync","since":{"rev":7,"t":5000,"cause":"api","by":{"name":"remote","principal":"uid:7","pid":9},"popped":"wifi"},"nav":"kiosk","rev":7,"depth":1,"top":"home"}"#
      )
      do {
        _ = try await reply
        Issue.record("performed")
      } catch let error as NavigationClientError {
        #expect(error.code == .desync)
        #expect(error.reason == .top)
        #expect(error.retry == .afterResynchronising)
        #expect(!error.mayHaveHappened)
        #expect(error.top == "home")
        #expect(error.revision == 7)
        let change = try #require(error.topChange)
        #expect((change.revision, change.cause) == (7, .api))
        #expect((change.author?.name, change.author?.principal) == ("remote", "uid:7"))
        #expect(change.author?.process == 9)
        #expect((change.popped, change.covered) == ("wifi", nil))
        #expect(change.age(at: 7000) == .seconds(2) && change.age(at: 0) == .zero)
      }
    }
  }

  @Test func `a restarted daemon is asked to resume, and the same octets come again`()
    async throws
  {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      async let reply = client.perform([.pop()], on: "kiosk", guardedBy: .top("home"))
      let first = try await daemon.next("op")
      daemon.restart()
      let hello = try await daemon.next("hello")
      let watch = try await daemon.next("watch")
      #expect(
        watch.body.contains(#""from":{"epoch":"\#(nav.epoch)","rev":1,"dig":"\#(nav.digest)"}"#))
      let second = try await daemon.next("op")
      #expect(second.body == #"\#(first.body.dropLast()),"again":0}"#)
      #expect(hello.peer == second.peer)
      #expect(!client.isSynchronised("kiosk"))
      let diff = nav.push("a")
      daemon.send(.ok, nav.watched(watch.id, mode: "resume"))
      daemon.send(.diff, diff)
      daemon.send(.ok, nav.ok(second.id))
      #expect(try await reply.revision == 2)
      let state = try #require(try await states.next())
      #expect(state.revision == 2)
      #expect(!state.isResynchronised)
      #expect(client.isSynchronised("kiosk"))
    }
  }

  @Test func `a gap resumes and loses nothing`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      let lost = nav.push("a")
      let next = nav.push("b")
      daemon.send(.diff, next)
      let watch = try await daemon.next("watch")
      #expect(watch.body.contains(#""rev":1"#))
      daemon.send(.ok, nav.watched(watch.id, mode: "resume"))
      daemon.send(.diffs, #"{"nav":"kiosk","list":[\#(lost),\#(next)]}"#)
      #expect(try await states.next()?.revision == 2)
      #expect(try await states.next()?.revision == 3)
    }
  }

  @Test func `a suspect mirror is reported, repaired, and guards nothing meanwhile`()
    async throws
  {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, state) = try await begin(nav, client, daemon)
      let right = nav.push("a")
      daemon.send(.diff, right.replacing(nav.digest, with: "00000000" + nav.digest.dropFirst(8)))
      let watch = try await daemon.next("watch")
      #expect(watch.body.contains(#""bad":{"rev":2,"dig":"\#(nav.digest)"}"#))
      #expect(!watch.body.contains("from"))
      do {
        _ = try await client.pop(from: state)
        Issue.record("sent")
      } catch let error as NavigationClientError {
        #expect(error.code == .desync)
        #expect(!error.mayHaveHappened)
      }
      serve(watch, nav, by: daemon)
      state = try #require(try await states.next())
      #expect(state.revision == 2)
      #expect(state.isResynchronised)
      async let reply = client.pop(from: state)
      let op = try await daemon.next("op")
      daemon.send(.ok, nav.ok(op.id, out: #"[{"popped":"a"}]"#))
      #expect(try await reply.popped == ["a"])
    }
  }

  @Test func `the end of the nav ends the sequence`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      daemon.send(.end, nav.end())
      #expect(try await states.next() == nil)
      #expect(!client.isSynchronised("kiosk"))
    }
  }

  @Test func `a nav that does not exist fails the sequence`() async throws {
    try await withClient { client, daemon in
      var states = client.watch("nowhere").makeAsyncIterator()
      let watch = try await daemon.next("watch")
      daemon.send(
        .err,
        #"{"id":\#(watch.id),"code":"no-nav","msg":"no such nav","effect":"none","retry":"no"}"#)
      do {
        _ = try await states.next()
        Issue.record("there is a state")
      } catch let error as NavigationClientError {
        #expect(error.code == .noNav)
      }
    }
  }

  @Test func `the last reader who goes ends the watch`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      do {
        let (states, _) = try await begin(nav, client, daemon)
        var other = client.watch(nav.name).makeAsyncIterator()
        #expect(try await other.next()?.revision == 1)
        _ = states
      }
      let unwatch = try await daemon.next("unwatch")
      #expect(unwatch["nav"] == "kiosk")
    }
  }

  @Test func `a cancelled operation fails at once and says that it may have happened`()
    async throws
  {
    try await withClient { client, daemon in
      let task = Task {
        try await client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      }
      let op = try await daemon.next("op")
      task.cancel()
      do {
        _ = try await task.value
        Issue.record("answered")
      } catch let error as NavigationClientError {
        #expect(error.code == .cancelled)
        #expect(error.mayHaveHappened)
      }
      daemon.send(.ok, FakeNav().ok(op.id))
      async let other = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let next = try await daemon.next("op")
      #expect(next.id > op.id)
      daemon.send(.ok, FakeNav().ok(next.id))
      _ = try await other
    }
  }

  @Test func `a cancelled reader gets the end`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      let task = Task {
        var seen = 0
        for try await _ in client.watch(nav.name) { seen += 1 }
        return seen
      }
      _ = try await daemon.next("watch")
      task.cancel()
      #expect(try await task.value == 0)
      _ = try await daemon.next("unwatch")
    }
  }

  @Test func `closing fails what is under way and ends the thread`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      let task = Task {
        try await client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      }
      _ = try await daemon.next("op")
      client.close()
      do {
        _ = try await task.value
        Issue.record("answered")
      } catch let error as NavigationClientError {
        #expect(error.code == .closed)
        #expect(error.mayHaveHappened)
      }
      do {
        _ = try await states.next()
        Issue.record("another state")
      } catch let error as NavigationClientError {
        #expect(error.code == .closed)
      }
      _ = try await daemon.next("bye")
    }
  }

  @Test func `time that is up fails an operation, and nothing answers without a daemon`()
    async throws
  {
    try await withClient { client, daemon in
      do {
        _ = try await client.perform(
          [.popToRoot()], on: "kiosk", guardedBy: .unguarded, within: .milliseconds(1))
        Issue.record("answered")
      } catch let error as NavigationClientError {
        #expect(error.code == .expired)
      }
      let op = try await daemon.next("op")
      #expect(op["due"] != nil)
    }
    let directory = try TemporaryDirectory()
    do {
      _ = try await NavigationClient.connect(
        endpoint: directory.endpoint, timeout: .milliseconds(10))
      Issue.record("connected")
    } catch {
      #expect(error.code == .unreachable)
    }
  }

  @Test func `credit is raised once half of it is used`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      var sent = nav.snapshot().utf8.count
      while sent <= 32768 {
        for _ in 0..<2 {
          let body = nav.screens.count > 1 ? nav.pop() : nav.push("a")
          sent += body.utf8.count
          daemon.send(.diff, body)
          #expect(try await states.next()?.revision == nav.revision)
        }
      }
      let credit = try await daemon.next("credit")
      let upTo = try #require(credit["upto"].flatMap { Int($0) })
      #expect(upTo > 65536 + 32768 - 1024)
      #expect(upTo <= 65536 + sent)
    }
  }

  @Test func `a reader of every revision is told what happens without one`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      daemon.send(
        .event,
        #"{"nav":"kiosk","epoch":"\#(nav.epoch)","rev":1,"ev":[{"buttonActivated":{"button":"scan"}}]}"#
      )
      let state = try #require(try await states.next())
      #expect(state.revision == 1)
      #expect(state.events.map(\.name) == [.buttonActivated])
      #expect(state.events.first?.details["button"]?.text == "scan")
      #expect(!state.isResynchronised)
    }
  }

  @Test func `a reader too far behind goes on with the newest state`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      for _ in 0..<25 {
        let diffs = (0..<100).map { $0.isMultiple(of: 2) ? nav.push("a") : nav.pop() }
        daemon.send(.diffs, #"{"nav":"kiosk","list":[\#(diffs.joined(separator: ","))]}"#)
      }
      daemon.send(.diff, nav.push("kept"))
      let kept = nav.revision
      for _ in 0..<16 {
        let diffs = (0..<100).map { $0.isMultiple(of: 2) ? nav.push("a") : nav.pop() }
        daemon.send(.diffs, #"{"nav":"kiosk","list":[\#(diffs.joined(separator: ","))]}"#)
      }
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      daemon.send(.ok, nav.ok(try await daemon.next("op").id))
      _ = try await reply
      let state = try #require(try await states.next())
      #expect(state.revision > kept)
      #expect(state.isResynchronised)
      var last = state.revision
      while last < nav.revision {
        let next = try #require(try await states.next())
        #expect(next.revision == last + 1)
        last = next.revision
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
      .buttonActivated(button: "scan", element: nil, action: "wifi.scan")
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
    try await withClient { client, daemon in
      let nav = FakeNav()
      var (states, _) = try await begin(nav, client, daemon)
      daemon.send(
        .event, #"{"nav":"kiosk","epoch":"\#(nav.epoch)","rev":1,"ev":[\#(json)]}"#)
      let state = try #require(try await states.next())
      #expect(state.events.map(\.kind) == [kind])
    }
  }
}
