/// An event that the guard reports to the log.
package struct Incident: Hashable, Sendable {
  /// The severity of an incident.
  package enum Severity: Hashable, Sendable { case notice, warning, error }

  /// The kind of an incident.
  package enum Kind: Hashable, Sendable {
    case refused
    case limited
    /// The count of connections was wrong.
    case miscounted
  }

  package var severity: Severity
  package var kind: Kind
  package var text: String
  /// The principal of the peer; nil if it is not known.
  package var principal: String?
  /// A word that identifies the action, for the log; nil for none.
  package var code: String?

  init(_ severity: Severity, _ kind: Kind, _ text: String) {
    self.severity = severity
    self.kind = kind
    self.text = text
  }
}
