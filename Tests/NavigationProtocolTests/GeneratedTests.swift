import Foundation
import Testing

@Suite struct GeneratedTests {
  private static let command =
    "NAVD_WRITE_GENERATED=1 swift test --disable-xctest --filter NavigationProtocolTests.GeneratedTests"

  @Test(arguments: GeneratedText.files)
  func `what follows from the tables is in the file`(file: GeneratedText.File) throws {
    let url = GeneratedText.root.appending(path: file.path)
    let isWriting = ProcessInfo.processInfo.environment["NAVD_WRITE_GENERATED"] == "1"
    let stored = try? String(contentsOf: url, encoding: .utf8)
    let text = try file.contents(stored ?? "")
    if isWriting, text != stored {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: true, encoding: .utf8)
    }
    #expect(isWriting || stored == text, "stale; to write it anew: \(Self.command)")
  }
}
