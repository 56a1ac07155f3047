import CLinux
import CommandLineOptions
import Glibc
import NavigationCore
import NavigationHub
import RuntimePaths

enum PlayCommand {
  static let command = Command(
    "play", "Show a recording, or verify it", HelpGroup.look, .init("FILE"),
    options: [
      .init("verify", "Compute each digest anew, and show nothing"),
      .init("speed", argument: "X", "1 as recorded (default), 0 as fast as possible"),
      .init("at", argument: "REV", "Begin with this revision"),
      .init("until", argument: "REV", "Stop at this revision"),
      .init("step", "Show one revision for each key or line of stdin"),
      Invocation.progressOption,
    ],
    note: """
      The command needs no daemon. FILE - is stdin. It draws each revision, and prints who made it and the digest that
      it has computed. With --step: n or space, b, g REV, p plays on, + and - change the speed, q.
      A digest proves order and ids, and is no signature.
      """, example: "play kiosk.navrec --verify", run: run)

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let path = line.positionals[0]
    try require(
      path != RecordingFile.standardStream || !line.contains("step"),
      "--step reads keys from stdin, so the recording cannot come from there")
    do {
      guard line.contains("verify") else { return try play(invocation, path) }
      try require(
        !["speed", "at", "until", "step"].contains(where: line.contains),
        "--verify reads the whole file, without other options")
      try verify(invocation, path)
    } catch let fault as RecordingFault {
      var remedy = "try: record the nav again, if navd still has its history"
      if case .newer = fault { remedy = "try: a newer navctl" }
      throw PlainFailure("recording: \(path): \(fault)", remedy)
    }
  }

  private static func play(_ invocation: Invocation, _ path: String) throws {
    let line = invocation.line
    let speed = try line.value(of: "speed").map { text in
      guard let speed = Double(text), speed >= 0, speed <= 1_000_000 else {
        throw UsageError("--speed takes a number from 0 to 1000000, not '\(text)'")
      }
      return speed
    }
    let at = try line.integer(of: "at").map { Revision($0) }
    let until = try line.integer(of: "until").map { Revision($0) }
    let player = try RecordingPlayer(path)
    let header = player.header
    for (name, revision) in [("at", at), ("until", until)] {
      guard let revision, revision < header.from || revision > header.to else { continue }
      throw UsageError(
        "--\(name): the recording has the revisions \(header.from.number) to \(header.to.number)")
    }
    let signals = try Signals(also: [SIGHUP])
    var playback = Playback(
      invocation: invocation, player: player, speed: speed ?? 1, lastRevision: until ?? header.to)
    try playback.printHeader()
    let steps = line.contains("step")
    // A job in the background must not touch the terminal.
    let isWatched =
      path != RecordingFile.standardStream && !invocation.isJSON && isatty(0) == 1
      && Output.isTerminal && tcgetpgrp(0) == getpgrp()
    try playback.run(signals, at: at ?? header.from, steps: steps, takesKeys: steps || isWatched)
  }

  /// `play --verify`: computes the digest after each revision of a recording anew.
  private static func verify(_ invocation: Invocation, _ path: String) throws {
    var progress = ProgressLine(.recordingProof, as: try invocation.progressForm())
    defer { progress.end() }
    let start = SystemClock.monotonicMilliseconds()
    var input = try RecordingInput(path)
    let header = try input.header()
    var verifier = RecordingVerifier(header)
    do {
      while let line = try input.next() {
        switch line {
        case .entry(let entry): try verifier.check(entry, line: input.lineNumber)
        case .end(let end): try verifier.finish(end)
        }
        if input.lineNumber & 255 == 0 { progress.show(input.bytesRead, of: input.byteCount) }
      }
    } catch let fault as RecordingFault {
      progress.end()
      guard invocation.isJSON else { throw fault }
      try Output.record(record(path, header, verifier, fault: fault))
      throw ExitStatus(status: 1)
    }
    progress.show(input.byteCount, of: input.byteCount)
    progress.end()
    let elapsed = max(1, SystemClock.monotonicMilliseconds() - start)
    let rate = verifier.revisionCount * 1000 / elapsed
    if invocation.isJSON { return try Output.record(record(path, header, verifier, rate: rate)) }
    var text = "\(path)  ok  \(header.nav)  \(verifier.revisionCount) revisions from "
    text += "\(header.from.number) to \(verifier.replay.revision.number)  "
    text += "digest \(verifier.replay.digest.text)  \(rate) revisions/s"
    if !header.redactionRules.isEmpty { text += "  redacted" }
    try Output.line(TerminalText.visible(text))
    if !verifier.comparesBars {
      try Output.line(
        "  the bars were computed by rules \(header.rulesVersion), not \(RecordingVerifier.rulesVersion): not compared"
      )
    }
  }

  /// The record of a verification; `fault` is why it failed, nil if it did not.
  private static func record(
    _ path: String, _ header: RecordingHeader, _ verifier: RecordingVerifier,
    rate revisionsPerSecond: UInt64? = nil, fault: RecordingFault? = nil
  ) -> JSONRecord {
    var members: JSONObject = [
      "file": .string(path), "nav": .string(header.nav), "ok": .bool(fault == nil),
      "revisions": .integer(verifier.revisionCount), "from": .integer(header.from.number),
      "to": .integer(verifier.replay.revision.number), "dig": .string(verifier.replay.digest.text),
      "bars": .bool(verifier.comparesBars && fault == nil),
    ]
    members.add("rate", revisionsPerSecond.map { .integer($0) })
    members.add("fault", fault?.description)
    members.add("rev", fault?.revision.map { .integer($0) })
    return JSONRecord(.proof, members)
  }
}

/// Plays a recording at its own pace times `speed`, and handles the keys that control it.
private struct Playback: ~Copyable {
  let invocation: Invocation
  var player: RecordingPlayer
  var speed: Double
  let lastRevision: Revision
  var isPaused = false
  var takesKeys = false
  /// When the next revision is due, in milliseconds of the monotonic clock.
  var nextDue: UInt64 = 0

  func printHeader() throws {
    let header = player.header
    let note = header.redactionRules.isEmpty ? "" : "  redacted"
    let range = "revisions \(header.from.number) to \(header.to.number)"
    let members: JSONObject = [
      "state": .string("started"), "nav": .string(header.nav),
      "from": .integer(header.from.number), "to": .integer(header.to.number),
      "redacted": .array(header.redactionRules.map { .string($0) }),
    ]
    try invocation.write(
      TerminalText.visible("\(header.nav)  \(range)\(note)"), JSONRecord(.playback, members))
  }

  /// Plays until the last revision, a signal or the key q; if `isStepwise`, until the end of stdin.
  mutating func run(
    _ signals: borrowing Signals, at first: Revision, steps isStepwise: Bool, takesKeys: Bool
  ) throws {
    try player.seek(first)
    isPaused = isStepwise
    var keys = takesKeys ? PlayKeys() : nil
    self.takesKeys = takesKeys
    scheduleNext()
    try drawCurrentRevision()
    while signals.next() == nil {
      while let request = keys?.next() { guard try carryOut(request) else { return } }
      if isStepwise ? keys?.isAtEnd == true : hasEnded { return }
      let now = SystemClock.monotonicMilliseconds()
      if !isPaused, !hasEnded, now >= nextDue {
        try player.advance()
        scheduleNext()
        try drawCurrentRevision()
        continue
      }
      let wait = isPaused || hasEnded ? -1 : Int32(clamping: nextDue - now)
      var entries = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: keys?.isAtEnd ?? true ? -1 : 0, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&entries, 2, wait)
      if entries[1].revents != 0 { keys?.read() }
    }
  }

  private var hasEnded: Bool { player.hasReached(lastRevision) }

  private mutating func scheduleNext() {
    let now = SystemClock.monotonicMilliseconds()
    nextDue = now
    guard speed > 0, let next = player.nextEntryMilliseconds,
      let last = RecordingPlayer.milliseconds(of: player.currentEntry)
    else { return }
    // The clock of the daemon may have been set back.
    let gap = next > last ? Double(next - last) / speed : 0
    nextDue = now + UInt64(min(gap, 1e12))
  }

  /// Carries out what a key asks; returns false for `quit`.
  private mutating func carryOut(_ request: PlayRequest) throws -> Bool {
    switch request {
    case .quit: return false
    case .next:
      isPaused = true
      if !hasEnded { try player.advance() }
    case .back:
      isPaused = true
      if player.revision > player.header.from {
        try player.seek(Revision(player.revision.number - 1))
      }
    case .goTo(let revision):
      guard player.contains(Revision(revision)) else {
        Output.error("navctl: the recording has no revision \(revision)")
        return true
      }
      isPaused = true
      try player.seek(Revision(revision))
    case .togglePause: isPaused.toggle()
    case .faster: speed = speed == 0 ? 0 : speed * 2
    case .slower: speed = speed == 0 ? 1 : speed / 2
    case .unknown(let text):
      Output.error("navctl: '\(TerminalText.visible(text))' is none of n, b, g REV, p, +, -, q")
      return true
    }
    scheduleNext()
    try drawCurrentRevision()
    return true
  }

  private func drawCurrentRevision() throws {
    let entry = try JSONValue(player.currentEntry)
    let revision = player.revision.number
    let state = hasEnded ? "ended" : isPaused ? "paused" : "playing"
    guard !invocation.isJSON else {
      var members: JSONObject = [
        "state": .string(state), "nav": .string(player.header.nav), "rev": .integer(revision),
        "dig": .string(player.digest.text), "proven": .bool(player.isAtEnd),
      ]
      for name in ["t", "cause", "by", "do"] {
        members.add(name, entry[name].map(\.opaque))
      }
      members.add("value", OpaqueJSON(validated: player.state))
      return try Output.record(JSONRecord(.playback, members))
    }
    try invocation.write(
      StateDrawing(columns: invocation.columns).lines(try JSONValue(player.state)))
    let ops = entry["do"]?.elements.compactMap(\.string).joined(separator: " ")
    var text = "rev \(revision)  \(state)"
    if let ops = ops ?? entry["cause"]?.string { text += "  \(ops)" }
    if let by = entry["by"]?["principal"]?.string { text += "  \(by)" }
    text += "  digest \(player.digest.text)"
    if player.isAtEnd { text += "  ok" }
    try Output.line(TerminalText.visible(text))
    guard takesKeys, Output.isTerminal, !hasEnded else { return }
    let now = SystemClock.monotonicMilliseconds()
    let next =
      isPaused ? "p plays on" : "next in \((nextDue - min(nextDue, now)) / 1000) s; p pauses"
    try Output.line("\(next), n shows it, b goes back, q ends")
  }
}
