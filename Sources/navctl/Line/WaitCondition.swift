import CommandLineOptions
import NavigationCore

/// The condition of `navctl wait`.
enum WaitCondition: Hashable, Sendable {
  /// This screen is on top; nil for an empty stack.
  case top(String?)
  /// The screen on top has this id or this route.
  case shows(String)
  case depth(UInt64)
  case revision(UInt64)

  /// Reads `--top`, `--depth` or `--rev`, of which there must be exactly one.
  init(_ line: ParsedCommandLine) throws(UsageError) {
    var conditions: [WaitCondition] = []
    if let top = line.value(of: "top") { conditions.append(.top(top.isEmpty ? nil : top)) }
    if let depth = try line.integer(of: "depth") { conditions.append(.depth(depth)) }
    if let revision = try line.integer(of: "rev") { conditions.append(.revision(revision)) }
    try require(
      conditions.count == 1, "wait needs one condition",
      remedy: "one of --top ID, --depth N, --rev N")
    self = conditions[0]
  }

  func holds(top: String?, route: String?, depth: Int, revision: UInt64) -> Bool {
    switch self {
    case .top(let wanted): wanted == top
    case .shows(let wanted): wanted == top || wanted == route
    case .depth(let wanted): wanted == UInt64(depth)
    case .revision(let wanted): revision >= wanted
    }
  }

  /// The condition as text, such as "top wifi".
  var text: String {
    switch self {
    case .top(let top): "top \(top ?? "none")"
    case .shows(let screen): "a top with the id or route \(screen)"
    case .depth(let depth): "depth \(depth)"
    case .revision(let revision): "rev \(revision)"
    }
  }
}
