import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Messages that are cut off, changed in one octet or too large.
@Suite struct MessageAttackTests {
  /// Octets that stand in for another one.
  private static let substitutes: [UInt8] = [0x00, 0x20, 0x22, 0x30, 0x5C, 0x7D, 0x80, 0xFF]

  /// The same message with each octet replaced in turn.
  private static func changed(_ body: [UInt8], from seed: Int) -> [[UInt8]] {
    body.indices.map { place in
      var other = body
      let substitute = substitutes[(place + seed) % substitutes.count]
      other[place] = other[place] == substitute ? substitute ^ 1 : substitute
      return other
    }
  }

  private static func isJSON(_ body: [UInt8]) -> Bool {
    (try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)) != nil
  }

  @Test(arguments: Samples.client.map(\.body).indices)
  func `a prefix of a message is bad-json, and the error says where it ends`(index: Int) {
    let (verb, body) = Samples.client[index]
    let octets = Array(body.utf8)
    var reader = ClientMessageReader()
    let whole = reader.told(verb, octets)
    for count in octets.indices {
      guard case .failure(let failure) = reader.told(verb, Array(octets[..<count])) else {
        Issue.record("\(count) octets are read")
        continue
      }
      #expect(failure.code == .badJSON && failure.id == nil)
      let place = failure.text.split(separator: " ").last.flatMap { Int($0) }
      #expect(place.map { $0 <= count } == true, "\(failure.text)")
    }
    // What could not be read leaves nothing behind in the reader.
    #expect(reader.told(verb, octets) == whole)
    #expect((try? whole.get()) != nil)
  }

  @Test(arguments: Samples.client.map(\.body).indices)
  func `a message with one octet changed is read as JSON or refused as none`(index: Int) {
    let (verb, body) = Samples.client[index]
    let octets = Array(body.utf8)
    var (used, tape) = (ClientMessageReader(), JSONTape())
    let whole = used.told(verb, octets)
    for other in Self.changed(octets, from: index) {
      let result = used.told(verb, other)
      var fresh = ClientMessageReader()
      #expect(fresh.told(verb, other) == result)
      if case .failure(let failure) = result, failure.code == .badJSON {
        #expect(failure.id == nil)
        continue
      }
      #expect(Self.isJSON(other), "\(String(decoding: other, as: UTF8.self))")
      guard case .failure(let failure) = result else { continue }
      // The error has the id of the message, if one can be read in it.
      #expect((try? tape.read(other)) != nil)
      let id = tape.member("id", of: tape.root).flatMap { tape.integer($0) }
      #expect(failure.id == id && failure.code == .invalidArgument, "\(failure.text)")
    }
    #expect(used.told(verb, octets) == whole)
  }

  @Test(arguments: Samples.server.map(\.body).indices)
  func `a client refuses a prefix and names its verb, and reads the next message`(index: Int)
    throws
  {
    let (verb, body) = Samples.server[index]
    let (frame, octets) = (Array("nsp1.\(verb)".utf8), Array(body.utf8))
    var reader = ServerMessageReader()
    for count in octets.indices {
      let failure = try #require(throws: ServerMessageFailure.self) {
        try reader.read(verb: frame, body: Array(octets[..<count]))
      }
      #expect(failure.text.hasPrefix("\(verb): "), "\(failure.text)")
    }
    _ = try reader.read(verb: frame, body: octets)
  }

  @Test(arguments: Samples.server.map(\.body).indices)
  func `what a client reads with one octet changed is JSON`(index: Int) {
    let (verb, body) = Samples.server[index]
    let frame = Array("nsp1.\(verb)".utf8)
    var reader = ServerMessageReader()
    for other in Self.changed(Array(body.utf8), from: index) {
      do {
        _ = try reader.read(verb: frame, body: other)
        #expect(Self.isJSON(other), "\(String(decoding: other, as: UTF8.self))")
      } catch {
        #expect(error.text.hasPrefix("\(verb): "), "\(error.text)")
      }
    }
  }

  @Test(arguments: ClientVerb.allCases)
  func `a body one octet above the limit is limit, and is not looked into`(verb: ClientVerb) {
    let body = Samples.client.first { $0.verb == verb.rawValue }?.body ?? ""
    let octets = Array(body.utf8)
    var (equal, less) = (
      ClientMessageReader(maximumBytes: octets.count),
      ClientMessageReader(maximumBytes: octets.count - 1)
    )
    #expect((try? equal.told(verb.rawValue, octets).get()) != nil)
    for large in [octets, Array(repeating: 0xFF, count: octets.count)] {
      guard case .failure(let failure) = less.told(verb.rawValue, large) else {
        Issue.record("\(large.count) octets are read")
        continue
      }
      #expect(failure.code == .limit && failure.id == nil && failure.verb == verb)
      let numbers = failure.text.split(separator: " ").compactMap { Int($0) }
      #expect(numbers == [octets.count, octets.count - 1])
    }
  }

  @Test func `nothing but an object is the body of a message`() {
    var reader = ClientMessageReader()
    for verb in ClientVerb.allCases {
      for (_, json) in ArgumentRow.values where json != "{}" {
        guard case .failure(let failure) = reader.told(verb.rawValue, Array(json.utf8)) else {
          Issue.record("\(verb) \(json)")
          continue
        }
        #expect(failure.code == .badJSON && failure.verb == verb, "\(json)")
      }
    }
  }

  @Test func `a body is nested 32 deep, the arguments of its operations included`() {
    var reader = ClientMessageReader()
    // The message, the list, the operation and its arguments are four of them.
    for (depth, isRead) in [(28, true), (29, false)] {
      let args = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let op = #"{"screen.set":{"screen":"a","args":\#(args)}}"#
      let result = reader.told("op", Array(#"{"id":1,"nav":"n","do":[\#(op)]}"#.utf8))
      switch result {
      case .success(let message):
        #expect(isRead, "\(depth)")
        guard case .op(let told) = message else { continue }
        #expect(told.failures == [nil])
      case .failure(let failure): #expect(!isRead && failure.code == .badJSON, "\(depth)")
      }
    }
  }

  @Test(arguments: [
    ("nsp1.zzz", #"{"id":5}"#, ErrorCode.badVerb, UInt64?.some(5)),
    ("nsp1.zzz", #"{"id":"5"}"#, .badVerb, nil), ("nsp1.zzz", "[]", .badJSON, nil),
    ("nsp1.zzz", "", .badJSON, nil), ("nsp2.op", "", .badVerb, nil),
    ("nsp2.hello", #"{"id":5}"#, .version, nil), ("nsp1.", #"{"id":5}"#, .badFrame, nil),
    ("nsp1.OP", #"{"id":5}"#, .badFrame, nil), ("", "", .badFrame, nil),
  ])
  func `the frame is judged before the body, an unknown verb behind it`(
    frame: String, body: String, code: ErrorCode, id: UInt64?
  ) {
    var reader = ClientMessageReader()
    let failure = #expect(throws: MessageFailure.self) {
      try reader.read(frame: frame.utf8.span, body: body.utf8.span)
    }
    #expect(failure?.code == code && failure?.id == id && failure?.verb == nil)
  }
}
