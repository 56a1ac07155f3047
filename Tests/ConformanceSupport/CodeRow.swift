/// The rows that are checked by code, for no script could say them.
package enum CodeRow: String, CaseIterable {
  case missingDiff = "C-352"
  case doubledDiff = "C-353"
  case wrongDigest = "C-355"
  case suspectClient = "C-364"
  case snapshotAmongDiffs = "C-367"
  case invariants = "C-378"
  case replay = "C-379"
  case equalDaemons = "C-381"
  case refusals = "C-383"

  /// The rows that look at what random ops do, each at the same runs.
  package static let random: [CodeRow] = [.invariants, .replay, .refusals]

  /// The rows about mirrors.
  package static let mirrors: [CodeRow] = [
    .missingDiff, .doubledDiff, .wrongDigest, .suspectClient, .snapshotAmongDiffs,
  ]
}
