import CLinux
import ChildProcess
import Foundation
import NavigationClient
import NavigationCore
import Observation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct GuideTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

  /// The lines of each block of Swift on the page.
  private static func blocks(of page: String) -> [[Substring]] {
    var blocks: [[Substring]] = []
    var isInside = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```swift"
        if isInside { blocks.append([]) }
      } else if isInside {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks
  }

  /// The lines of each region of the compiled file, without the indentation of its first line.
  private static func regions(of source: String) -> [[Substring]] {
    var regions: [[Substring]] = []
    var indentation: Int?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("// guide: ") {
        indentation = line.count - text.count
        regions.append([])
      } else if text == "// end" {
        indentation = nil
      } else if let indentation {
        regions[regions.count - 1].append(line.dropFirst(indentation))
      }
    }
    return regions
  }

  @Test func `the code of the guide is the code that is compiled`() throws {
    let page = try String(
      contentsOf: Self.tests.appending(path: "../../docs/client.md"), encoding: .utf8)
    let source = try String(
      contentsOf: Self.tests.appending(path: "GuideSnippets.swift"), encoding: .utf8)
    let blocks = Self.blocks(of: page)
    let regions = Self.regions(of: source)
    #expect(regions.count >= 14)
    #expect(blocks.count == regions.count)
    for (block, region) in zip(blocks, regions) {
      #expect(block == region)
    }
  }

  @Test func `what the guide does to a stack, it does`() async throws {
    try await withDaemon { client, _ in
      // The second time it exists.
      try await GuideSnippets.create(client)
      try await GuideSnippets.create(client)

      let (shown, show) = AsyncStream.makeStream(of: String.self)
      var lines = shown.makeAsyncIterator()
      let watching = Task {
        try await GuideSnippets.watch(client) { route, _ in
          show.yield(route ?? "")
        } _: { bar in
          show.yield(bar.map { GuideSnippets.text(of: $0) } ?? "")
        }
      }
      defer { watching.cancel() }
      #expect(await lines.next() == "home")
      #expect(await lines.next() == "Home")
      let pushed = try await GuideSnippets.push(client)
      #expect(pushed.top == "wifi")
      #expect(await lines.next() == "settings/wifi")
      #expect(await lines.next() == "< Home  Wi-Fi  Scan")

      let seen = try await client.state(of: "kiosk")
      try await GuideSnippets.batch(client, seen)
      #expect(try await client.state(of: "kiosk").screens.map(\.id) == ["home", "player"])
      let said = Said()
      try await GuideSnippets.desync(client, seen) { said.add($0) }
      #expect(said.all == ["player is on top by now, thanks to guide"])
      let reply = try await GuideSnippets.guarded(client)
      #expect(reply.popped == ["player"])
      try await GuideSnippets.other(client, seen)
      let hides = try await client.state(of: "kiosk").top?.value["item"]?["hidesBackButton"]
      #expect(hides == true)
    }
  }

  @Test func `the delegate of the guide asks before a draft is lost`() async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "guide", timeout: patience)
    defer { client.close() }
    async let playing = GuideSnippets.delegate(client) { text, deadline in
      text != "Discard the draft?" || deadline < .now
    }
    let request = try await daemon.next("delegate")
    #expect(request.body.contains(#""roles":["veto","animator"]"#))
    daemon.send(.ok, #"{"id":\#(request.id),"nav":"kiosk"}"#)
    let delegation = try await playing
    for (number, question, answer) in [
      (1, #"{"shouldPop":{"screen":"editor","cause":"api"}}"#, "false"),
      (2, #"{"shouldPush":{"screen":"editor"}}"#, "true"),
      (
        3, #"{"animatorFor":{"op":"push","from":"a","to":"b"}}"#,
        #"{"animator":"slide","duration":300}"#
      ),
    ] {
      daemon.send(
        .ask,
        #"{"ask":\#(number),"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":2,"within":60000,"q":\#(question)}"#
      )
      #expect(
        try await daemon.next("answer").body == #"{"ask":\#(number),"value":\#(answer)}"#)
    }
    withExtendedLifetime(delegation) {}
  }

  @Test func `the display of the guide completes what it has animated`() async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "guide", timeout: patience)
    defer { client.close() }
    let animated = Said()
    let showing = Task {
      try await GuideSnippets.animate(client) { animated.add("\($0.id) \($0.operation)") }
    }
    defer { showing.cancel() }
    let lease = try await daemon.next("lease")
    daemon.send(.ok, #"{"id":\#(lease.id),"nav":"kiosk","owner":"guide"}"#)
    var nav = FakeNav()
    let watch = try await daemon.next("watch")
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
    let began = #""ev":[{"transitionBegan":{"tid":2,"op":"push","from":"home","to":"a"}}]"#
    let event = #""ev":[{"didPush":{"screen":"a"}}]"#
    daemon.send(.diff, nav.push("a").replacing(event, with: began))
    let op = try await daemon.next("op")
    #expect(op.body.contains(#""do":[{"transition.complete":{"tid":2}}]"#))
    #expect(animated.all == ["2 push"])
    daemon.send(.ok, nav.ok(op.id))
    async let configuring: Void = GuideSnippets.settings(client)
    let settings = try await daemon.next("op")
    #expect(
      settings.body.contains(
        #""veto":{"deadline":5000,"policy":"allow","required":false}"#))
    #expect(settings.body.contains(#""tintColor":null"#))
    daemon.send(.ok, nav.ok(settings.id))
    try await configuring
  }

  @Test func `a rehearsal of the guide names where it would lead`() async throws {
    try await withDaemon { client, _ in
      try await GuideSnippets.create(client)
      _ = try await GuideSnippets.push(client)
      try await client.perform(
        [.push(.init(id: "dns"))], on: "kiosk", guardedBy: .unguarded)
      let seen = try await client.state(of: "kiosk")
      let said = Said()
      try await GuideSnippets.rehearse(client, seen) { said.add($0) }
      #expect(said.all == ["it would lead to home > wifi"])
      #expect(try await client.state(of: "kiosk").digest == seen.digest)
    }
  }

  @MainActor @Test func `the model of the guide draws the bar, and pops what it shows`()
    async throws
  {
    try await withDaemon { client, _ in
      try await GuideSnippets.create(client)
      _ = try await GuideSnippets.push(client)
      let (shown, show) = AsyncStream.makeStream(of: String.self)
      let drawing = Task {
        await GuideSnippets.model(client) { bar in
          if let bar { show.yield(GuideSnippets.text(of: bar)) }
        } _: { _ in
        }
      }
      defer { drawing.cancel() }
      let model = NavigationModel(client, nav: "kiosk")
      let following = Task { try await model.run() }
      defer { following.cancel() }
      for await bar in shown where bar == "< Home  Wi-Fi  Scan" { break }
      for await top in Observations({ model.top?.id }) where top == "wifi" { break }
      try await GuideSnippets.back(model)
      for await bar in shown where bar == "Home" { break }
      #expect(try await client.state(of: "kiosk").depth == 1)
    }
  }

  @Test func `an error says whether it makes sense to try again`() async throws {
    try await withDaemon { client, _ in
      let said = Said()
      try await GuideSnippets.retry(client, "nowhere") { said.add($0) }
      #expect(said.all.count == 1)
      #expect(said.all.first?.hasPrefix("no-nav") == true)
    }
  }

  @Test func `a pressed button reaches who watches every revision`() async throws {
    try await withDaemon { client, _ in
      try await GuideSnippets.create(client)
      _ = try await GuideSnippets.push(client)
      let actions = Said()
      let watching = Task { try await GuideSnippets.events(client) { actions.add($0) } }
      defer { watching.cancel() }
      // A press from before the watch has begun is not told, so press until one is.
      while actions.all.isEmpty {
        try await client.perform([.activateButton("scan")], on: "kiosk", guardedBy: .unguarded)
      }
      #expect(Set(actions.all) == ["wifi.scan"])
    }
  }

  @Test func `a banner shows while the daemon is away, and the nav goes on after it`() async throws
  {
    try await withDaemon { client, daemon in
      try await GuideSnippets.create(client)
      let before = try await client.state(of: "kiosk")
      let (banners, show) = AsyncStream.makeStream(of: Bool.self)
      var banner = banners.makeAsyncIterator()
      let telling = Task { await GuideSnippets.status(client) { show.yield($0) } }
      defer { telling.cancel() }
      #expect(await banner.next() == false)
      daemon.kill()
      #expect(await banner.next() == true)
      try daemon.start()
      #expect(await banner.next() == false)
      #expect(try await GuideSnippets.push(client).revision == before.revision + 1)
      #expect(try await client.state(of: "kiosk").epoch == before.epoch)
    }
  }

  @Test func `statuses end when the client is closed, and for one that is closed`() async throws {
    try await withDaemon { client, _ in
      var statuses = client.statuses().makeAsyncIterator()
      #expect(await statuses.next() == .connected)
      client.close()
      #expect(await statuses.next() == nil)
      var late = client.statuses().makeAsyncIterator()
      #expect(await late.next() == nil)
    }
  }

  @Test func `the state of a nav that is not there is an error`() async throws {
    try await withDaemon { client, _ in
      do throws(NavigationClientError) {
        let state = try await client.state(of: "nowhere")
        Issue.record("there is \(state)")
      } catch {
        #expect(error.code == .noNav)
      }
    }
  }

  /// Waits for the result of a screen that `removal` takes away.
  private func result(
    of screen: String, _ client: NavigationClient, removal: [NavigationOperation],
    isAnimated: Bool = false
  ) async throws -> NavigationValue? {
    let waiting = Task { try await client.result(of: screen, in: "kiosk") }
    // The watch has the screen before it goes.
    while !client.isSynchronised("kiosk") { await Task.yield() }
    let reply = try await client.perform(
      removal, on: "kiosk", guardedBy: .override, animated: isAnimated)
    if isAnimated {
      try await client.perform(
        [.completeTransition(reply.revision)], on: "kiosk", guardedBy: .unguarded)
    }
    return try await waiting.value
  }

  @Test func `a client that waits for a screen gets the result of its removal`() async throws {
    try await withDaemon { client, _ in
      try await GuideSnippets.create(client)
      func push(_ id: String) async throws {
        try await client.perform([.push(.init(id: id))], on: "kiosk", guardedBy: .unguarded)
      }
      try await push("a")
      #expect(try await result(of: "a", client, removal: [.pop(result: ["n": 1])]) == ["n": 1])
      try await push("b")
      #expect(
        try await result(of: "b", client, removal: [.pop(result: "r")], isAnimated: true) == "r")
      // It goes without one, and in another way.
      try await push("c")
      #expect(try await result(of: "c", client, removal: [.pop()]) == nil)
      try await push("d")
      #expect(try await result(of: "d", client, removal: [.setStack(["home"])]) == nil)
      try await client.perform([.present(.init(id: "m"))], on: "kiosk", guardedBy: .unguarded)
      #expect(try await result(of: "m", client, removal: [.swipeDown(result: true)]) == true)
      try await push("e")
      #expect(try await result(of: "e", client, removal: [.close()]) == nil)
    }
  }
}
