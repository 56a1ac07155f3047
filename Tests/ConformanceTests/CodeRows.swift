/// The rows that are checked by code.
enum CodeRows {
  static let ids: Set<String> = [
    "C-352", "C-353", "C-355", "C-364", "C-367", "C-378", "C-379", "C-381", "C-383",
  ]
}
