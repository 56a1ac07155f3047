/// Where the deletion of rows stands.
struct Pruning {
  /// The next sequence to look at, and the last one that may have to go.
  var next: UInt64 = 0
  var last: UInt64 = 0
  /// The next entry of the ledger to look at.
  var entry = 0
}
