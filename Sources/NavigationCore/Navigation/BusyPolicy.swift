/// What happens to an operation that meets an open transition, gesture or question.
package enum BusyPolicy: UInt8, CaseIterable, Sendable {
  /// It fails with `transition-in-progress`.
  case reject
  /// It waits for the end.
  case queue
  /// It ends the transition where that stands, and begins from there; for a question it waits.
  case interrupt
}
