import Foundation
import NavigationCore
import Testing

/// The texts that follow from the tables of operations and of error codes: functions and names of
/// clients, and parts of documents.
enum GeneratedText {
  /// A file, and its contents by the table and by what the file has now.
  struct File: CustomTestStringConvertible, Sendable {
    let path: String
    let contents: @Sendable (String) throws -> String
    var testDescription: String { path }
  }

  struct Missing: Error { let text: String }

  private static let swift = "Sources/NavigationClient/Operations/generated/"
  static let files = [
    File(path: swift + "NavigationOperation+Table.swift") { _ in try operations },
    File(path: swift + "NavigationClientError+Table.swift") { _ in codes },
    File(path: swift + "NavSettings+Table.swift") { _ in
      settings(of: "NavigationSetting", "EnvironmentSetting")
    },
    File(path: swift + "RecordSettings+Table.swift") { _ in
      settings(of: "BarSetting", "ToolbarSetting", "ScreenSetting", "ButtonSetting")
    },
    File(path: swift + "Descriptions+Table.swift") { _ in descriptions },
    File(path: swift + "Words+Table.swift") { _ in try words(ofDescriptions: false) },
    File(path: swift + "DescriptionWords+Table.swift") { _ in try words(ofDescriptions: true) },
    File(path: "web/client/generated/protocol.d.ts") { _ in typescript },
    File(path: "python/navd/generated/operations.py") { _ in try python },
    File(path: "python/navd/generated/descriptions.py") { _ in pythonDescriptions },
    File(path: "docs/protocol.md") { try errors(reference($0)) },
    File(path: "man/navd-protocol.7.scd") { try retries(manual($0)) },
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let kinds = OperationKind.allCases.filter { $0 != .unknown }
  private static let functions = kinds.filter { !$0.row.function.description.isEmpty }

  /// The arguments of generated functions: parameter and value in Swift, then in Python.
  private static let arguments = [
    "screen": [
      "_ screen: String", ".string(screen)", "screen: str", #"check_id(screen, "screen")"#,
    ],
    "button": [
      "_ button: String", ".string(button)", "button: str", #"check_id(button, "button")"#,
    ],
    "hidden": ["_ isHidden: Bool", ".bool(isHidden)", "hidden: bool", "hidden"],
    "rev": ["to revision: UInt64", ".integer(revision)", "rev: int", "rev"],
    "tid": ["_ transition: UInt64", ".integer(transition)", "tid: int", "tid"],
    "value": ["_ value: Double", "NavigationValue.number(value).octets", "value: float", "value"],
    "result": ["result: NavigationValue? = nil", "", "*, result: JSON = None", "result"],
  ]

  private static func argument(of kind: OperationKind) throws -> (name: String, forms: [String])? {
    guard let name = kind.arguments?.first else { return nil }
    guard let forms = arguments[name], kind.arguments?.count == 1 else {
      throw Missing(text: "\(kind.name): a function with its arguments is written by hand")
    }
    return (name, forms)
  }

  /// The first sentence of the documentation, and the others with those that follow from the row.
  private static func documentation(of kind: OperationKind) -> (first: String, others: String) {
    let sentences = kind.row.documentation.description.split(separator: ". ", maxSplits: 1)
    var others = sentences.dropFirst().map(String.init)
    switch kind.neededGuard {
    case .none, .byArguments: break
    case .topScreen: others.append("It needs a guard.")
    case .wholeStack: others.append("It needs a guard by revision, digest or stack.")
    case .visibleScreen: others.append("It needs a guard by `visible`, revision or digest.")
    }
    if kind.arguments == ["result"] {
      others.append("`result`, at most 4 KiB, is for the client that waits for the screen.")
    }
    let first = String(sentences[0])
    return (first.hasSuffix(".") ? first : first + ".", others.joined(separator: " "))
  }

  static func lines(_ text: String, width: Int) -> [String] {
    text.split(separator: " ").reduce(into: [String]()) { lines, word in
      guard let last = lines.last, last.count + word.count < width else {
        return lines.append(String(word))
      }
      lines[lines.count - 1] = last + " " + word
    }
  }

  static func comment(_ first: String, _ others: String) -> String {
    let more = others.isEmpty ? [] : [""] + lines(others, width: 94)
    return (lines(first, width: 94) + more).map { "  ///\($0.isEmpty ? "" : " " + $0)\n" }.joined()
  }

  private static var operations: String {
    get throws {
      let all = try functions.map { kind in
        var (first, others) = documentation(of: kind)
        // Swift's form of a summary is the third person.
        let verb = first.prefix { $0.isLetter }
        let ending = ["s", "sh", "ch"].contains(where: verb.hasSuffix) ? "es" : "s"
        first.replaceSubrange(verb.startIndex..<verb.endIndex, with: verb + ending)
        let name = "\(kind.row.function)"
        var (head, body) = ("", ["NavigationOperation(.\(kind))"])
        if let (member, forms) = try argument(of: kind) {
          head = forms[0]
          body =
            member == "result"
            ? [
              "var arguments: JSONObject = [:]", "arguments.add(\"result\", result?.octets)",
              "return NavigationOperation(.\(kind), arguments)",
            ] : ["NavigationOperation(.\(kind), [\"\(member)\": \(forms[1])])"]
        }
        let start = "  public static func \(name)(\(head)) -> NavigationOperation {"
        return comment(first, others) + "\(start)\n" + body.map { "    \($0)\n" }.joined()
          + "  }\n"
      }
      return "// Written from the table of operations in NavigationCore; see GeneratedTests.\n\n"
        + "import NavigationCore\n\nextension NavigationOperation {\n"
        + all.joined(separator: "\n") + "}\n"
    }
  }

  static func snake(_ name: String) -> String {
    name.replacing("ID", with: "Id").reduce(into: "") {
      $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1)
    }
  }

  private static var python: String {
    get throws {
      let all = try functions.map { kind in
        let (first, others) = documentation(of: kind)
        var (parameter, value) = ("", "")
        if let (member, forms) = try argument(of: kind) {
          (parameter, value) = (forms[2], ", \(member)=\(forms[3])")
        }
        let more = others.isEmpty ? "" : "\n\n" + text(others) + "\n    "
        return """


          def \(snake("\(kind.row.function)"))(\(parameter)) -> Operation:
              \"""\(lines(first, width: 89).joined(separator: "\n    "))\(more)\"""
              return operation("\(kind.name)"\(value))

          """
      }
      let names = functions.map { "\"\(snake("\($0.row.function)"))\"" }.sorted()
      return """
        \"""The operations whose functions follow from the table of navd; see GeneratedTests.\"""

        from __future__ import annotations

        from ..descriptions import check_id
        from ..operation import Operation, operation
        from ..wire import JSON

        __all__ = [
        \(text(names.joined(separator: ", "))),
        ]

        """ + all.joined()
    }
  }

  private static func text(_ words: String) -> String {
    lines(words, width: 96).map { "    " + $0 }.joined(separator: "\n")
  }
}

// The documents: only the names, rights and guards in them are written, and their words stay.
extension GeneratedText {
  /// The text with what stands between two others replaced.
  private static func replacing(
    _ text: String, from start: String, to end: String, _ make: (Substring) throws -> String
  ) throws -> String {
    guard let head = text.range(of: start),
      let tail = text[head.upperBound...].range(of: end)
    else { throw Missing(text: "\(start) … \(end)") }
    let inner = head.upperBound..<tail.lowerBound
    return try text[..<inner.lowerBound] + make(text[inner]) + text[inner.upperBound...]
  }

  private static func names(_ kinds: [OperationKind], _ mark: String = "`") -> String {
    kinds.map { mark + $0.name + mark }.joined(separator: ", ")
  }

  private static func reference(_ page: String) throws -> String {
    let table = try replacing(
      page, from: "| op | arguments | right: out | errors, notes |\n|---|---|---|---|\n",
      to: "\n\n", rows)
    let guarded = try replacing(table, from: "* `removal`, the default: ", to: "\n* `all`") { _ in
      let needing = { (guarded: OperationKind.NeededGuard) in
        names(kinds.filter { $0.neededGuard == guarded })
      }
      let text =
        "* `removal`, the default: \(needing(.topScreen)), and `replace` without `screen` need one"
        + " of `top`, `rev`, `dig`, `stack`. \(needing(.wholeStack)), and `insert` with `at` need"
        + " one of `rev`, `dig`, `stack`. \(needing(.visibleScreen)) need one of `visible`, `rev`,"
        + " `dig`."
      return lines(text, width: 158).joined(separator: "\n  ").replacing(
        "* `removal`, the default: ", with: "")
    }
    return try replacing(guarded, from: "A nav of kind `bar` accepts", to: " Other known") { _ in
      let bars = kinds.filter { $0.suitsStandaloneBars && !$0.isForBarItems }
      let loose = bars.filter { !$0.name.hasPrefix("nav.") && !$0.name.hasPrefix("button.") }
      let text =
        "A nav of kind `bar` accepts `nav.*`, `button.*`, the three item operations, "
        + "\(names(loose)). `screen` of `item.set` is the item's id."
      return lines(text, width: 158).joined(separator: "\n").replacing(
        "A nav of kind `bar` accepts", with: "")
    }
  }

  /// Writes names and rights into the rows, and a row for each operation that has none.
  private static func rows(_ table: Substring) throws -> String {
    var rows: [(kind: OperationKind, text: String)] = []
    for line in table.split(separator: "\n") {
      var cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      let own = cells[1].matches(of: /`([\w.]+)`/).map { OperationKind(name: String($0.1)) }
      guard cells.count == 6, let kind = own.first, !own.contains(.unknown) else {
        throw Missing(text: "an operation in the row \(line)")
      }
      // Whether the button pops, only the state shows.
      if kind != .buttonActivate {
        cells[1] = cell(own)
        let right = cells[3].prefix { $0 != ":" && $0 != ";" }
        if right.wholeMatch(of: /[, ]*((push|pop|admin)[, ]*)+/) != nil {
          let isEnd = right.endIndex == cells[3].endIndex
          cells[3].replaceSubrange(
            right.startIndex..<right.endIndex, with: rights(kind) + (isEnd ? " " : ""))
        }
      }
      rows.append((kind, cells.joined(separator: "|")))
      for other in own.dropFirst() { rows.append((other, "")) }
    }
    for (index, kind) in kinds.enumerated() where !rows.contains(where: { $0.kind == kind }) {
      let before = index == 0 ? -1 : rows.firstIndex { $0.kind == kinds[index - 1] } ?? -1
      rows.insert(
        (kind, "|\(cell([kind]))| |\(rights(kind)) | \(kind.row.documentation) |"), at: before + 1)
    }
    return rows.map(\.text).filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private static func cell(_ kinds: [OperationKind]) -> String {
    " " + kinds.map { "`\($0.name)`" + ($0.waitsForTransition ? "†" : "") }.joined(separator: ", ")
      + " "
  }

  private static func rights(_ kind: OperationKind) -> String {
    let names: [(Rights, String)] = [(.push, "push"), (.pop, "pop"), (.admin, "admin")]
    return " " + names.filter { kind.rights.isSuperset(of: $0.0) }.map(\.1).joined(separator: ", ")
  }

  private static func manual(_ page: String) throws -> String {
    let groups: [(first: OperationKind, title: String)] = [
      (.navCreate, "Navs"), (.push, "The stack"), (.present, "Presentations"),
      (.screenCreate, "Screens and buttons"), (.barSet, "Bars"),
      (.uiBackTap, "Touch, transitions and the display"),
    ]
    let bounds = groups.compactMap { kinds.firstIndex(of: $0.first) } + [kinds.count]
    let text = groups.indices.map { index in
      let all = names(Array(kinds[bounds[index]..<bounds[index + 1]]), "*")
      return lines("\(groups[index].title): \(all).", width: 104).joined(separator: "\n")
    }
    return try replacing(page, from: "\nNavs:", to: "\n\n# ERRORS") { _ in
      String(text.joined(separator: "\n\n").dropFirst("Navs:".count))
    }
  }
}

// The error codes: names in Swift, and in the documents the retry of each.
extension GeneratedText {
  private static var codes: String {
    "// Written from the table of error codes in NavigationCore; see GeneratedTests.\n\n"
      + "extension NavigationClientError {\n  /// The code of an error.\n"
      + openType(
        "Code",
        ErrorCode.allCases.flatMap { code -> [String] in
          let name = code == .internal ? "`internal`" : "\(code)"
          return lines(code.row.meaning, width: 92).map { "/// " + $0 } + [
            "public static let \(name) = Self(rawValue: \"\(code.rawValue)\")"
          ]
        }
      ).map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined() + "}\n"
  }

  /// Writes the retry into each row; throws if codes are missing, or do not fit into one row.
  private static func errors(_ page: String) throws -> String {
    var missing = ErrorCode.allCases
    let start = "| code | retry | meaning |\n|---|---|---|\n"
    return try replacing(page, from: start, to: "\n\n") { table in
      let rows = try table.split(separator: "\n").map { line in
        var cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let codes = cells[1].matches(of: /[a-z-]+/).compactMap { ErrorCode(rawValue: "\($0.0)") }
        guard cells.count == 5, let retry = codes.first?.retry,
          codes.allSatisfy({ $0.retry == retry && missing.contains($0) })
        else { throw Missing(text: "one retry for the codes of \(line)") }
        missing.removeAll { codes.contains($0) }
        cells[2] = " \(retry.rawValue) "
        return cells.joined(separator: "|")
      }
      guard missing.isEmpty else { throw Missing(text: "rows for \(missing)") }
      return rows.joined(separator: "\n")
    }
  }

  static let allRetries = [Retry.no, .sameAfterCorrection, .resync, .later]

  private static func retries(_ page: String) throws -> String {
    try replacing(page, from: "\n|[ *no*\n", to: "\n\n_same_") { _ in
      let groups = allRetries.map { retry in
        let codes = ErrorCode.allCases.filter { $0.retry == retry }.map(\.rawValue)
        let list = lines(codes.joined(separator: ", "), width: 100).joined(separator: "\n   ")
        return retry == .no ? ":< \(list)" : "|  *\(retry.rawValue)*\n:  \(list)"
      }
      return groups.joined(separator: "\n")
    }
  }
}
