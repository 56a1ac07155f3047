import Foundation
import Testing

extension ProcessTests {
  /// The client of the protocol in Python, without a daemon; docs/vectors.md explains the file.
  @Suite struct VectorTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let runner = folder.appendingPathComponent("Fixtures/vectors.py").path
    private static let file = folder.deletingLastPathComponent()
      .appendingPathComponent("Conformance/vectors.jsonl").path

    private func run(_ fault: String...) throws -> (status: Int32, child: Child) {
      let child = try Child(
        ReferenceClientTests.python, [Self.runner, Self.file] + fault,
        environment: ["PYTHONDONTWRITEBYTECODE": "1"])
      return (try child.ended(), child)
    }

    @Test(.enabled(if: ReferenceClientTests.isRunnable, "python3-zmq is not installed"))
    func `the reference client passes every vector`() throws {
      let lines = try String(contentsOfFile: Self.file, encoding: .utf8).split(separator: "\n")
      let (status, child) = try run()
      #expect(status == 0, "\(child.transcript)")
      #expect(child.standardOutput == "passed \(lines.count), failed 0\n")
    }

    @Test(
      .enabled(if: ReferenceClientTests.isRunnable, "python3-zmq is not installed"),
      arguments: [("shallow", "the state is"), ("trusting", "no watch is sent")])
    func `a client with a planted fault fails`(fault: String, reason: String) throws {
      let (status, child) = try run(fault)
      #expect(status == 1)
      #expect(child.standardOutput.contains(reason), "\(child.transcript)")
    }
  }
}
