import NavigationCore

/// Separates the name of the nav from the other arguments of a command.
struct NavArguments: Hashable, Sendable {
  var nav: String
  var rest: [String]

  /// Splits the arguments of a command.
  ///
  /// The first argument is the nav, unless `--nav` names it, or `NAVD_NAV` is set and the first
  /// argument is a word of the command. `isOwn` says which words these are; without it, all are if
  /// there are not too many. `rest` is the number of arguments besides the nav, `option` the value of
  /// `--nav`, and `variable` that of `NAVD_NAV`. It throws if an argument is missing or there are too
  /// many.
  init(
    _ positionals: [String], rest: ClosedRange<Int> = 0...Int.max,
    isOwn: ((String) -> Bool)? = nil, option: String?, variable: String?, usage: String
  ) throws(UsageError) {
    let isOwnFirst = isOwn.map { isOwn in positionals.first.map(isOwn) ?? true }
    let isLeftOut =
      option != nil || positionals.isEmpty
      || variable != nil && (isOwnFirst ?? (positionals.count <= rest.upperBound))
    let name = try require(
      isLeftOut ? option ?? variable : positionals[0], "the command needs a nav",
      remedy: "\(usage), or set NAVD_NAV")
    nav = try Quantities.nav(name)
    self.rest = Array(positionals.dropFirst(isLeftOut ? 0 : 1))
    let usage = usage.split(separator: " ").map(String.init).map { $0 == "NAV" ? nav : $0 }
    let remedy = usage.joined(separator: " ")
    if self.rest.count < rest.lowerBound {
      let names = usage.drop { !($0 == nav) }.dropFirst(self.rest.count + 1)
      throw UsageError(
        "\(names.first.map { $0.filter { !"[].".contains($0) } } ?? "an argument") is missing",
        remedy: remedy)
    }
    try require(
      self.rest.count <= rest.upperBound,
      "'\(TerminalText.visible(self.rest[rest.upperBound]))' is not expected", remedy: remedy)
  }
}
