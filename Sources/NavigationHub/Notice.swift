/// Something an operator should know.
package struct Notice: Hashable, Sendable {
  /// What sort of thing it is.
  package enum Kind: Hashable, Sendable {
    /// A client reports that its mirror differs.
    case diverged
    /// A nav, or the history of one, cannot be used.
    case faulty
    /// Somebody was refused what he has no right to, or his rights ended.
    case refused
    /// Guards or delegates were passed over, as the client asked.
    case overridden
  }

  /// How important a notice is.
  package enum Level: Sendable { case info, warning }

  /// What sort of thing it is.
  package var kind: Kind
  /// How important it is.
  package var level: Level
  /// What happened, for people; it may quote what a client sent.
  package var text: String
  /// The name of the nav.
  package var nav: String?
  /// The revision of the nav.
  package var revision: UInt64?
  /// What the client calls itself.
  package var client: String?
  /// Who the transport says it is.
  package var principal: String?
  /// The error's code, or a word for what was done.
  package var code: String?

  /// Makes a notice about nobody in particular.
  package init(_ kind: Kind, _ level: Level, _ text: String) {
    self.kind = kind
    self.level = level
    self.text = text
  }
}
