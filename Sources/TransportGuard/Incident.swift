/// Something that the guard noticed or did, for the log.
package struct Incident: Hashable, Sendable {
  /// The importance of an incident.
  package enum Severity: Hashable, Sendable { case notice, warning, error }

  /// The subject of an incident.
  package enum Kind: Hashable, Sendable {
    /// A peer that was refused.
    case refused
    /// A limit that was reached.
    case limited
    /// The count of connections, which was wrong.
    case miscounted
  }

  /// How important it is.
  package var severity: Severity
  /// What it is about.
  package var kind: Kind
  /// The line of the log.
  package var text: String
  /// The principal of the peer, where it is known.
  package var principal: String?
  /// A word for what was done.
  package var code: String?

  init(_ severity: Severity, _ kind: Kind, _ text: String) {
    self.severity = severity
    self.kind = kind
    self.text = text
  }
}
