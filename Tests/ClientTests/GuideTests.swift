import CLinux
import Foundation
import NavigationClient
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct GuideTests {
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

  @Test func `the code in the guide is the code that is compiled`() throws {
    let page = try String(
      contentsOf: Self.tests.appending(path: "../../docs/client.md"), encoding: .utf8)
    let source = try String(
      contentsOf: Self.tests.appending(path: "GuideSnippets.swift"), encoding: .utf8)
    let blocks = Self.blocks(of: page)
    let regions = Self.regions(of: source)
    #expect(regions.count >= 12)
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
      #expect(said.all == ["player is on top by now"])
      let reply = try await GuideSnippets.guarded(client)
      #expect(reply.popped == ["player"])
      try await GuideSnippets.other(client, seen)
      let hides = try await client.state(of: "kiosk").top?.value["item"]?["hidesBackButton"]
      #expect(hides == true)
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
        try await client.perform([.activateButton("scan")], on: "kiosk")
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

  /// Runs a test with a daemon of its own and a client of it.
  private func withDaemon(
    _ body: (NavigationClient, RealDaemon) async throws -> Void
  ) async throws {
    let daemon = try RealDaemon()
    defer { daemon.kill() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.directory.endpoint, name: "guide", timeout: .seconds(30))
    defer { client.close() }
    try await body(client, daemon)
  }
}

/// What was said, in order.
private final class Said: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The daemon that was built together with the tests, in a directory of its own.
private final class RealDaemon {
  let directory: TemporaryDirectory
  private var process = Process()

  init() throws {
    directory = try TemporaryDirectory()
    try start()
  }

  func start() throws {
    process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "navd")
    process.arguments = [
      "--listen", directory.endpoint, "--state", directory.url.appending(path: "state").path,
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  /// Kills it, and waits until it is gone.
  func kill() {
    guard process.isRunning else { return }
    _ = CLinux.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
