package import NavigationCore

/// The first thing that is wrong with a recording.
package enum RecordingFault: Error, Hashable, Sendable {
  /// The file is no recording.
  case notRecording
  /// The file is of a later version of the format.
  case newer(UInt64)
  /// The file ends before its last line.
  case truncated
  /// The compressed file is damaged, behind this many whole lines.
  case damaged(line: Int, what: String)
  /// A line cannot be read.
  case broken(line: Int, what: String)
  /// A revision is not the one that follows the revision before.
  case order(line: Int, revision: UInt64, after: UInt64)
  /// The state after a revision has another digest than the recording names.
  case digest(line: Int, revision: UInt64, computed: Digest, recorded: Digest?)
  /// A change does not apply to the state before it.
  case contradiction(line: Int, revision: UInt64, what: String)
  /// The resolved bar after a revision is not the one that the rules compute.
  case resolved(line: Int, revision: UInt64)
  /// The last line names another number of entries, revision or digest.
  case end(what: String)
}

extension RecordingFault: CustomStringConvertible {
  /// The fault in words.
  package var description: String {
    switch self {
    case .notRecording: "this is no recording of navd"
    case .newer(let version): "the recording has version \(version); this navctl reads version 1"
    case .truncated: "the recording is truncated: its last line is missing"
    case .damaged(let line, let what): "the file is damaged behind line \(line): \(what)"
    case .broken(let line, let what): "line \(line) cannot be read: \(what)"
    case .order(let line, let revision, let after):
      "line \(line): revision \(revision) follows revision \(after)"
    case .digest(let line, let revision, let computed, let recorded):
      "line \(line): revision \(revision) has digest \(computed.text), "
        + "not \(recorded.map(\.text) ?? "the one that is missing")"
    case .contradiction(let line, let revision, let what):
      "line \(line): revision \(revision) does not apply: \(what)"
    case .resolved(let line, let revision):
      "line \(line): the bar of revision \(revision) is not what its state shows"
    case .end(let what): "the last line \(what)"
    }
  }

  /// The revision that is wrong; nil if the fault is not about one.
  package var revision: UInt64? {
    switch self {
    case .order(_, let revision, _), .digest(_, let revision, _, _),
      .contradiction(_, let revision, _), .resolved(_, let revision):
      revision
    case .notRecording, .newer, .truncated, .damaged, .broken, .end: nil
    }
  }
}
