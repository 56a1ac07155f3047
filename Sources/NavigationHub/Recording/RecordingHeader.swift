package import NavigationCore

/// The first line of a recording.
package struct RecordingHeader: Hashable, Sendable {
  /// The version of the format that this program writes, and the newest that it reads.
  package static let version: UInt64 = 1

  package var nav: String
  /// The version of the daemon that the recording comes from.
  package var server: String
  /// The version of the rules that computed each `resolved`.
  package var rules: UInt64
  /// When the recording was made, in milliseconds since 1970.
  package var recorded: UInt64
  package var from: Revision
  package var to: Revision
  /// The rules by which contents were replaced; empty if none were.
  package var redacted: [String] = []

  /// Makes a header, by the rules of this version.
  package init(
    nav: String, server: String, recorded: UInt64, from: Revision, to: Revision,
    redacted: [String] = []
  ) {
    self.nav = nav
    self.server = server
    rules = HistoryReplay.rulesVersion
    self.recorded = recorded
    self.from = from
    self.to = to
    self.redacted = redacted
  }

  /// The line, without its line feed.
  package var line: [UInt8] {
    JSONWriter.object { json in
      json.member("navrec", Self.version)
      json.member("nav", nav)
      json.member("server", server)
      json.member("rules", rules)
      json.member("recorded", recorded)
      json.member("from", from.number)
      json.member("to", to.number)
      if !redacted.isEmpty { json.list("redacted", redacted) }
    }
  }

  /// Reads the first line; throws `notRecording` or `newer`.
  package init(line: [UInt8]) throws(RecordingFault) {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(line) } catch { throw .notRecording }
    guard let version = tape.integer("navrec", of: 0) else { throw .notRecording }
    guard version <= Self.version else { throw .newer(version) }
    guard let nav = tape.string("nav", of: 0), let rules = tape.integer("rules", of: 0),
      let from = tape.integer("from", of: 0),
      let to = tape.integer("to", of: 0)
    else { throw .broken(line: 1, what: "the header lacks nav, rules, from or to") }
    self.init(
      nav: nav, server: tape.string("server", of: 0) ?? "",
      recorded: tape.integer("recorded", of: 0) ?? 0,
      from: Revision(from), to: Revision(to))
    self.rules = rules
    guard let list = tape.member("redacted", of: 0), tape.kind(list) == .array else { return }
    redacted = tape.elements(of: list) { tape.string($0) }.compactMap(\.self)
  }
}

/// The last line of a recording.
package struct RecordingEnd: Hashable, Sendable {
  package var entries: UInt64
  package var revision: Revision
  package var digest: Digest
}

extension RecordingEnd {
  /// The bytes with which the last line begins, and no other line.
  static let prefix = Array(#"{"end":"#.utf8)

  /// The line, without its line feed.
  package var line: [UInt8] {
    JSONWriter.object { json in
      json.member("end", entries)
      json.member("rev", revision.number)
      json.member("dig", digest)
    }
  }

  /// Reads the last line; `number` is its number.
  init(line: [UInt8], number: Int) throws(RecordingFault) {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(line) } catch {
      throw .broken(line: number, what: error.reason.rawValue)
    }
    guard let entries = tape.integer("end", of: 0),
      let revision = tape.integer("rev", of: 0),
      let digest = tape.member("dig", of: 0).flatMap({ tape.digest($0) })
    else { throw .broken(line: number, what: "the end lacks its members") }
    self.init(entries: entries, revision: Revision(revision), digest: digest)
  }
}
