import CommandLineOptions
import NavigationCore
import NavigationHub
import RuntimePaths

/// `play --verify`: computes the digest after each revision of a recording anew.
enum RecordingProof {
  /// Verifies a file, and prints the result.
  static func run(_ invocation: Invocation, _ path: String) throws {
    var progress = ProgressLine(.proof, as: try ProgressOption.form(invocation))
    defer { progress.end() }
    let start = SystemClock.monotonicMilliseconds()
    var input = try RecordingInput(path)
    let header = try input.header()
    var verifier = RecordingVerifier(header)
    do {
      while let line = try input.next() {
        switch line {
        case .entry(let entry): try verifier.take(entry, line: input.number)
        case .end(let end): try verifier.finish(end)
        }
        if input.number & 255 == 0 { progress.show(input.done, of: input.byteCount) }
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
    let rate = verifier.revisions * 1000 / elapsed
    if invocation.isJSON { return try Output.record(record(path, header, verifier, rate: rate)) }
    var text = "\(path)  ok  \(header.nav)  \(verifier.revisions) revisions from "
    text += "\(header.from.number) to \(verifier.replay.revision.number)  "
    text += "digest \(verifier.replay.digest.text)  \(rate) revisions/s"
    if !header.redacted.isEmpty { text += "  redacted" }
    try Output.line(TerminalText.visible(text))
    if !verifier.comparesBars {
      try Output.line(
        "  the bars were computed by rules \(header.rules), not \(RecordingVerifier.rules): not compared"
      )
    }
  }

  private static func record(
    _ path: String, _ header: RecordingHeader, _ verifier: RecordingVerifier,
    rate: UInt64? = nil, fault: RecordingFault? = nil
  ) -> Record {
    var members: JSONObject = [
      "file": .string(path), "nav": .string(header.nav), "ok": .bool(fault == nil),
      "revisions": .integer(verifier.revisions), "from": .integer(header.from.number),
      "to": .integer(verifier.replay.revision.number), "dig": .string(verifier.replay.digest.text),
      "bars": .bool(verifier.comparesBars && fault == nil),
    ]
    members.add("rate", rate.map { .integer($0) })
    members.add("fault", fault?.description)
    members.add("rev", fault?.revision.map { .integer($0) })
    return Record(.proof, members)
  }
}
