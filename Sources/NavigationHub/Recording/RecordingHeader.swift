package import NavigationCore

/// The first line of a recording.
package struct RecordingHeader: Hashable, Sendable {
  /// The version of the format that this program writes, and the newest that it reads.
  package static let version: UInt64 = 1

  package var nav: String
  /// The version of the daemon that the recording comes from.
  package var serverVersion: String
  /// The version of the rules that computed each `resolved`.
  package var rulesVersion: UInt64
  /// When the recording was made, in milliseconds since 1970.
  package var recordedMilliseconds: UInt64
  package var from: Revision
  package var to: Revision
  /// The rules by which contents were replaced; empty if none were.
  package var redactionRules: [String] = []

  /// Makes a header, by the rules of this version.
  package init(
    nav: String, serverVersion: String, recordedMilliseconds: UInt64, from: Revision, to: Revision,
    redactionRules: [String] = []
  ) {
    self.nav = nav
    self.serverVersion = serverVersion
    rulesVersion = HistoryReplay.rulesVersion
    self.recordedMilliseconds = recordedMilliseconds
    self.from = from
    self.to = to
    self.redactionRules = redactionRules
  }

  /// The line, without its line feed.
  package var line: [UInt8] {
    JSONWriter.object { json in
      json.member("navrec", Self.version)
      json.member("nav", nav)
      json.member("server", serverVersion)
      json.member("rules", rulesVersion)
      json.member("recorded", recordedMilliseconds)
      json.member("from", from.number)
      json.member("to", to.number)
      if !redactionRules.isEmpty { json.strings("redacted", redactionRules) }
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
    else { throw .unreadable(line: 1, what: "the header lacks nav, rules, from or to") }
    self.init(
      nav: nav, serverVersion: tape.string("server", of: 0) ?? "",
      recordedMilliseconds: tape.integer("recorded", of: 0) ?? 0,
      from: Revision(from), to: Revision(to))
    self.rulesVersion = rules
    guard let list = tape.member("redacted", of: 0), tape.kind(list) == .array else { return }
    redactionRules = tape.elements(of: list) { tape.string($0) }.compactMap(\.self)
  }
}

/// The last line of a recording.
package struct RecordingEnd: Hashable, Sendable {
  package var entryCount: UInt64
  package var revision: Revision
  package var digest: Digest
}

extension RecordingEnd {
  /// The bytes with which the last line begins, and no other line.
  static let prefix = Array(#"{"end":"#.utf8)

  /// The line, without its line feed.
  package var line: [UInt8] {
    JSONWriter.object { json in
      json.member("end", entryCount)
      json.member("rev", revision.number)
      json.member("dig", digest)
    }
  }

  /// Reads the last line; `number` is its number.
  init(line: [UInt8], number: Int) throws(RecordingFault) {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(line) } catch {
      throw .unreadable(line: number, what: error.reason.rawValue)
    }
    guard let entries = tape.integer("end", of: 0),
      let revision = tape.integer("rev", of: 0),
      let digest = tape.member("dig", of: 0).flatMap({ tape.digest($0) })
    else { throw .unreadable(line: number, what: "the end lacks its members") }
    self.init(entryCount: entries, revision: Revision(revision), digest: digest)
  }
}
