import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// One way to go out of sync, and the proof of what must come of it.
struct DesyncRow: Sendable, CustomTestStringConvertible {
  var claim: String
  var check: @Sendable () throws -> Void

  init(_ claim: String, _ check: @escaping @Sendable () throws -> Void) {
    (self.claim, self.check) = (claim, check)
  }

  var testDescription: String { claim }

  static let all =
    guards + transitions + delegates + repeats + mirrors + lives + rules + limits
    + edits
}

/// Every known way in which a caller, a mirror or the daemon could come to believe in another stack.
@Suite struct DesyncTests {
  @Test(arguments: DesyncRow.all)
  func `nobody goes out of sync unnoticed`(row: DesyncRow) throws { try row.check() }

  @Test func `each of the 66 ways has one claim of its own`() {
    #expect(DesyncRow.all.count == 66)
    #expect(Set(DesyncRow.all.map(\.claim)).subtracting([""]).count == 66)
  }
}

extension Stage {
  /// Expects that an op is refused and that nothing changes; returns the refusal.
  ///
  /// No state, no digest, no revision, no diff, no event, no row in the journal.
  @discardableResult
  func refused(
    _ code: ErrorCode, _ ops: String, _ more: String = Stage.any, reason: String? = nil,
    by client: Client? = nil
  ) throws -> [String: Any] {
    let client = client ?? owner
    let before = try world.standing("kiosk")
    let sent = try send(client, ops, more)
    try #require(sent.map(\.verb) == [.err], "\(ops): \(sent.map(\.text))")
    let error = sent[0].json
    #expect(sent[0].connection == client.connection)
    #expect(sent[0].code == code.rawValue, "\(sent[0].text)")
    #expect(error["reason"] as? String == reason, "\(sent[0].text)")
    #expect(error["effect"] as? String == "none")
    #expect(error["retry"] as? String == code.retry.rawValue)
    #expect(error["rev"] as? Int == revision)
    #expect(error["dig"] as? String == before.digest.text)
    #expect(error["depth"] as? Int == stack.count)
    #expect(error["top"] as? String == stack.last)
    #expect(try world.standing("kiosk") == before)
    return error
  }

  /// Performs ops that must succeed; returns what the viewer saw of them.
  @discardableResult
  func done(_ ops: String, _ more: String = Stage.any, by client: Client? = nil) throws -> [Sent] {
    let client = client ?? owner
    let sent = try send(client, ops, more)
    #expect(sent.to(client).last?.verb == .ok, "\(ops): \(sent.map(\.text))")
    return sent.to(viewer)
  }

  var epoch: String { (try? world.entry("kiosk").epoch.text) ?? "" }
  var digest: String { (try? world.entry("kiosk").digest.text) ?? "" }

  /// A guard by one member.
  static func guarded(_ name: String, _ value: String) -> String { #""if":{"\#(name)":\#(value)}"# }
  static func guarded(top: String) -> String { guarded("top", "\"\(top)\"") }

  static func setStack(_ ids: String...) -> String {
    #"{"setStack":{"screens":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}}"#
  }

  static func present(_ id: String) -> String { #"{"present":{"screen":{"id":"\#(id)"}}}"# }
}
