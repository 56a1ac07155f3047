package import NavigationCore

extension OperationKind {
  /// Whether a person does it, so that it must not happen when the person has gone on.
  package var isByPerson: Bool {
    self == .buttonActivate || name.hasPrefix("ui.") || name.hasPrefix("gesture.")
  }

  /// The time in which such an operation begins or never, unless the program chose another one.
  package static let personLimit = Duration.seconds(2)
}
