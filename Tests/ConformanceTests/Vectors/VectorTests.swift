import Conformance
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct VectorTests {
  @Test func `the file of vectors is what the rows and scripts make`() async throws {
    let (vectors, omitted) = try await VectorFile.make()
    let text = VectorFile.text(of: vectors)
    for kind in Vector.Kind.allCases {
      print("vectors of kind \(kind): \(vectors.count { $0.kind == kind })")
    }
    print("octets: \(text.utf8.count); rows that change and refuse nothing: \(omitted.count)")
    #expect(Set(vectors.map(\.id)).count == vectors.count)
    if ProcessInfo.processInfo.environment["NAVD_WRITE_VECTORS"] == "1" {
      try text.write(to: VectorFile.path, atomically: true, encoding: .utf8)
    }
    let stored = try String(contentsOf: VectorFile.path, encoding: .utf8)
    #expect(stored.utf8.elementsEqual(text.utf8), "stale; to write it anew: \(VectorFile.command)")
  }

  @Test func `the session of the library passes every vector`() throws {
    var failures: [String] = []
    let vectors = try Self.stored.get()
    for vector in vectors {
      do { try VectorRunner.run(vector) } catch { failures.append("\(error)") }
    }
    #expect(vectors.count > 300)
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  private static let stored = Result { try VectorFile.lines() }

  /// A vector, and a change of the member at a path, which no client can pass.
  @Test(arguments: [
    ("W-01", "steps.4.then.top", #""home""#),
    ("W-01", "steps.4.from.1.ch.0.ins.0.title", #""WiFi""#),
    ("W-02", "steps.5.to.1.from.rev", "1"),
    ("W-04", "steps.6.is", #""resumed""#),
    ("W-09", "steps.4.is", #""ignored""#),
    ("D-01", "steps.6.to.1.from", #"{"epoch":"","rev":2,"dig":""}"#),
    ("D-14", "steps.4.is", #""ignored""#),
    ("C-016", "steps.5.refused.code", #""desync""#),
    ("T-02", "steps.5.state.screens.0.title", #""e\u0301""#),
    ("S-01", "checksum", #""00000000""#),
  ])
  func `a planted fault is found`(id: String, path: String, value: String) throws {
    let vector = try #require(Self.stored.get().first { $0["id"]?.string == id })
    try VectorRunner.run(vector)
    let steps = path.split(separator: ".").map(String.init)
    let spoiled = try vector.setting(steps[...], try JSONTree(value))
    #expect(!spoiled.isSame(as: vector))
    #expect(throws: VectorRunner.Mismatch.self) { try VectorRunner.run(spoiled) }
  }
}

extension JSONTree {
  /// The same value with another one at a path of names and indexes.
  fileprivate func setting(_ path: ArraySlice<String>, _ value: JSONTree) throws -> JSONTree {
    guard let name = path.first else { return value }
    if case .array(var elements) = self {
      let index = try #require(Int(name))
      elements[index] = try elements[index].setting(path.dropFirst(), value)
      return .array(elements)
    }
    return setting(name, try (self[name] ?? .null).setting(path.dropFirst(), value))
  }
}
