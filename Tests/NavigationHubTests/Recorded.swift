import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// A recording of a nav of a world, made as navctl makes it.
struct Recorded {
  var lines: [[UInt8]] = []
  /// Where the entry of each revision is in `lines`.
  var places: [UInt64: Int] = [:]

  /// Records a nav of a client's world from a revision on.
  init(
    _ client: Client, nav: String = "kiosk", from: Int? = nil, page: Int = 7,
    redaction: RecordingRedaction? = nil
  ) throws {
    let newest = try client.get("top", nav: nav).revision ?? 0
    let first = try from ?? #require(client.get("diffs", nav: nav).json["floor"] as? Int)
    var writer = RecordingWriter(
      RecordingHeader(
        nav: nav, serverVersion: "navd/0", recordedMilliseconds: 1, from: Revision(UInt64(first)),
        to: Revision(UInt64(newest))), redaction: redaction)
    lines.append(writer.header.line)
    let state = try Self.value(client.get("state", nav: nav, #""at":\#(first)"#))
    lines.append(try writer.stateLine(state, origin: try Self.origin(client, nav, first)))
    var next = first + 1
    while next <= newest {
      let answer = try client.get("diffs", nav: nav, #""from":\#(next),"limit":\#(page)"#)
      #expect(answer.verb == .ok, "\(answer.text)")
      for entry in try Self.elements(Self.value(answer)) {
        places[try Self.integer("rev", in: entry)] = lines.count
        lines.append(try writer.entryLine(entry))
        guard writer.needsState else { continue }
        let state = try client.get("state", nav: nav, #""at":\#(writer.revision.number)"#)
        lines.append(try writer.stateLine(try Self.value(state)))
      }
      next = answer.json["next"] as? Int ?? next + page
    }
    lines.append(writer.endLine)
  }

  /// The compressed file.
  var file: [UInt8] { Self.file(lines) }

  static func file(_ lines: [[UInt8]]) -> [UInt8] {
    var gzip = GzipWriter()
    return lines.flatMap { gzip.append($0 + [0x0A]) } + gzip.finish()
  }

  /// Verifies a file; throws the first fault.
  static func verify(_ file: [UInt8], piece: Int = 1000) throws(RecordingFault) -> UInt64 {
    var reader = RecordingReader()
    var verifier: RecordingVerifier?
    var rest = file[...]
    while !rest.isEmpty {
      reader.append(Array(rest.prefix(piece)))
      rest = rest.dropFirst(piece)
      while let line = try reader.next() {
        if verifier == nil, let header = reader.header { verifier = RecordingVerifier(header) }
        switch line {
        case .entry(let entry): try verifier?.check(entry, line: reader.lineNumber)
        case .end(let end): try verifier?.finish(end)
        }
      }
    }
    try reader.finish()
    return verifier?.revisionCount ?? 0
  }

  /// All entries of a file.
  static func entries(_ file: [UInt8]) throws(RecordingFault) -> [[UInt8]] {
    var reader = RecordingReader()
    var entries: [[UInt8]] = []
    reader.append(file)
    while let line = try reader.next() {
      if case .entry(let entry) = line { entries.append(entry) }
    }
    try reader.finish()
    return entries
  }

  /// The octets of the member `value`.
  static func value(_ sent: Sent) throws -> [UInt8] {
    var tape = JSONTape()
    try tape.read(sent.body, maximumDepth: 48)
    return tape.raw(try #require(tape.member("value", of: 0), "\(sent.text)"))
  }

  private static func elements(_ list: [UInt8]) throws -> [[UInt8]] {
    var tape = JSONTape()
    try tape.read(list, maximumDepth: 48)
    var elements: [[UInt8]] = []
    tape.forEachElement(of: 0) { elements.append(tape.raw($0)) }
    return elements
  }

  private static func origin(_ client: Client, _ nav: String, _ at: Int) throws -> [UInt8]? {
    try elements(value(client.get("diffs", nav: nav, #""from":\#(at),"limit":1"#))).first
  }

  static func integer(_ name: String, in object: [UInt8]) throws -> UInt64 {
    var tape = JSONTape()
    try tape.read(object, maximumDepth: 48)
    return try #require(tape.member(name, of: 0).flatMap { tape.integer($0) })
  }
}
