/// Tells the nav's name from the other arguments of a command.
package struct NavArguments: Hashable, Sendable {
  /// The nav.
  package var nav: String
  /// The other arguments.
  package var rest: [String]

  /// Splits the arguments.
  ///
  /// The first is the nav, unless `--nav` says it, too few would be left, or `NAVD_NAV` is set and
  /// the arguments do without.
  /// - Parameters:
  ///   - positionals: all arguments.
  ///   - rest: how many arguments the command takes beside the nav.
  ///   - option: the value of `--nav`.
  ///   - variable: the value of `NAVD_NAV`.
  ///   - usage: what to type, for the error.
  /// - Throws: what is missing, or too much.
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
      throw UsageError("which nav?", remedy: "\(usage), or set NAVD_NAV")
    }
    if self.rest.count < rest.lowerBound {
      throw UsageError("an argument is missing", remedy: usage)
    }
    if self.rest.count > rest.upperBound {
      throw UsageError(
        "'\(TerminalText.visible(self.rest[rest.upperBound]))' is not expected", remedy: usage)
    }
  }
}
