import NavigationCore

/// A case of `navctl routes test`: a route, and the stack that opening it must lead to.
struct RouteCase: Sendable {
  var route: String
  /// The ids or routes of the screens, bottom first; nil if the route must be refused.
  var stack: [String]?

  /// Reads a line such as `{"open":"settings/wifi","stack":["home","settings/wifi"]}`, where `stack`
  /// null means that the route must be refused.
  init(_ line: String) throws(UsageError) {
    let value = try Quantities.object(line, what: "the line")
    let names = value.members.map(\.name).sorted()
    guard let route = value["open"]?.string, names == ["open", "stack"],
      value["stack"].map({ $0.kind == .array }) ?? true
    else {
      throw UsageError(
        "a case has open, a route, and stack, a list of ids or routes, or null",
        remedy: #"{"open":"settings/wifi","stack":["home","settings/wifi"]}"#)
    }
    self.route = route
    stack = value["stack"]?.elements.map(\.plainText)
  }

  /// What is wrong with an outcome, the records of the stack, bottom first, or nil for a refusal; nil
  /// if it is the one that the case wants.
  func fault(_ screens: [JSONValue]?) -> String? {
    guard let screens else {
      return stack.map { _ in "no route matches it, or its conditions do not hold" }
    }
    let found = screens.map { $0["route"]?.string ?? $0["id"]?.string ?? "?" }
    guard let stack else { return "it leads to [\(found.joined(separator: ", "))]" }
    let fits =
      stack.count == screens.count
      && zip(stack, screens).allSatisfy { wanted, screen in
        screen["id"]?.string == wanted || screen["route"]?.string == wanted
      }
    return fits
      ? nil
      : "it leads to [\(found.joined(separator: ", "))], not [\(stack.joined(separator: ", "))]"
  }
}

/// The faults of route templates that no error of the daemon shows.
enum RouteTemplates {
  /// For each template why it can never match: an earlier one takes every route of its; nil if it can.
  static func faults(_ routes: [JSONValue]) -> [String?] {
    let patterns = routes.map { ($0["match"]?.string ?? "").pieces }
    return patterns.enumerated().map { index, pattern in
      // A template with conditions leaves the route to the next one where they do not hold.
      let earlier = (0..<index).first {
        routes[$0]["needs"] == nil && covers(patterns[$0], pattern)
      }
      return earlier.map { patterns[$0] }.map { earlier in
        "\(pattern.joined(separator: "/")) never matches: \(earlier.joined(separator: "/")) "
          + "comes first and matches all of it"
      }
    }
  }

  private static func covers(_ one: [String], _ other: [String]) -> Bool {
    one.count == other.count
      && zip(one, other).allSatisfy { $0.hasPrefix(":") && !$1.isEmpty || $0 == $1 }
  }
}

/// The report of a test run in the form that CI servers read.
enum JUnit {
  typealias Case = (name: String, fault: String?)

  static func report(_ suite: String, _ cases: [Case]) -> String {
    let failures = cases.count { $0.fault != nil }
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      #"<testsuite name="\#(escaped(suite))" tests="\#(cases.count)" failures="\#(failures)">"#,
    ]
    for (name, fault) in cases {
      let head = #"  <testcase classname="\#(escaped(suite))" name="\#(escaped(name))""#
      lines.append(
        fault.map { #"\#(head)><failure message="\#(escaped($0))"/></testcase>"# } ?? "\(head)/>")
    }
    return (lines + ["</testsuite>", ""]).joined(separator: "\n")
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // XML has no form for most control characters.
      case let other where other.unicodeScalars.allSatisfy({ $0.value >= 0x20 }):
        result.append(other)
      default: result += "?"
      }
    }
  }
}
