import Foundation
import Testing

/// The scripts of Tests/Conformance/sessions, which the clients in JavaScript and Python run too.
@Suite struct SessionScriptTests {
  struct Script {
    var file: String
    var title: String
    var lines: [(number: Int, text: String)] = []
  }

  /// Each script holds for all seeds of pauses.
  static let seeds: [UInt64] = Array(1...8)

  static func scripts() throws -> [Script] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Conformance/sessions")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    var scripts: [Script] = []
    for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "txt" {
      let lines = try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let text = line.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("script ") {
          scripts.append(Script(file: file.lastPathComponent, title: String(line.dropFirst(7))))
        } else if !text.isEmpty, !line.hasPrefix("#") {
          scripts[scripts.count - 1].lines.append((index + 1, text))
        }
      }
    }
    return scripts
  }

  static func run(_ script: Script, seed: UInt64) throws {
    var run = SessionRun(seed: seed)
    for line in script.lines {
      do { try run.take(line.text) } catch {
        throw SessionRun.Mismatch(
          "\(script.file):\(line.number): \(line.text): \(error) (\(script.title))")
      }
    }
    try run.expectNothing()
  }

  @Test func `every script passes, whatever the pauses`() throws {
    let scripts = try Self.scripts()
    var failures: [String] = []
    for script in scripts {
      do { for seed in Self.seeds { try Self.run(script, seed: seed) } } catch {
        failures.append("\(error)")
      }
    }
    print("\(scripts.count - failures.count) of \(scripts.count) scripts pass")
    #expect(scripts.count >= 15)
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }
}
