import NavigationCore

/// Separates the name of the nav from the other arguments of a command.
package struct NavArguments: Hashable, Sendable {
  package var nav: String
  package var rest: [String]

  /// Splits the arguments of a command with a fixed number of them.
  ///
  /// The first argument is the nav, with three exceptions: `--nav` names it, too few arguments
  /// would be left, or `NAVD_NAV` is set and the others suffice.
  /// `rest` is the number of arguments besides the nav, `option` the value of `--nav`, and
  /// `variable` that of `NAVD_NAV`. It throws if an argument is missing or there are too many.
  package init(
    _ positionals: [String], rest: ClosedRange<Int>, option: String?, variable: String?,
    usage: String
  ) throws(UsageError) {
    let fallback = option ?? variable
    let count = positionals.count
    let isFirst =
      option == nil && count > rest.lowerBound
      && (variable == nil || count > rest.upperBound)
    if isFirst {
      nav = try Quantities.nav(positionals[0])
      self.rest = Array(positionals.dropFirst())
    } else if let fallback {
      nav = try Quantities.nav(fallback)
      self.rest = positionals
    } else {
      throw UsageError("the command needs a nav", remedy: "\(usage), or set NAVD_NAV")
    }
    if self.rest.count < rest.lowerBound {
      throw UsageError("an argument is missing", remedy: usage)
    }
    if self.rest.count > rest.upperBound {
      throw UsageError(
        "'\(TerminalText.visible(self.rest[rest.upperBound]))' is not expected", remedy: usage)
    }
  }

  /// Splits the arguments of a command that takes any number of them.
  ///
  /// The first argument is the nav, with two exceptions: `--nav` names it, or `NAVD_NAV` is set and
  /// the first argument is a word of the command.
  /// `isOwn` says whether a word belongs to the command, such as a verb or KEY=VALUE.
  package init(
    _ positionals: [String], isOwn: (String) -> Bool, option: String?, variable: String?,
    usage: String
  ) throws(UsageError) {
    let isLeftOut = option != nil || variable != nil && (positionals.first.map(isOwn) ?? true)
    let count = isLeftOut ? positionals.count : max(0, positionals.count - 1)
    try self.init(
      positionals, rest: count...count, option: option, variable: variable, usage: usage)
  }
}
