/// What a daemon has beside those that run alone, by its name in `welcome.features`.
package enum Feature: String, CaseIterable, Sendable {
  /// The codes and members of a cluster whose daemons divide the navs (protocol §17).
  case shards
}
