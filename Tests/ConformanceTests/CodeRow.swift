import Testing

/// The rows that are checked by code, for no script could say them.
enum CodeRow: String, CaseIterable {
  case missingDiff = "C-352"
  case doubledDiff = "C-353"
  case wrongDigest = "C-355"
  case suspectClient = "C-364"
  case snapshotAmongDiffs = "C-367"
  case invariants = "C-378"
  case replay = "C-379"
  case equalDaemons = "C-381"
  case refusals = "C-383"

  func check() throws {
    switch self {
    case .missingDiff: try MirrorRows.missingDiff()
    case .doubledDiff: try MirrorRows.doubledDiff()
    case .wrongDigest: try MirrorRows.wrongDigest()
    case .suspectClient: try MirrorRows.suspectClient()
    case .snapshotAmongDiffs: try MirrorRows.snapshotAmongDiffs()
    case .invariants, .replay, .refusals: try RandomRows.check(self)
    case .equalDaemons: try RandomRows.equalDaemons()
    }
  }
}
