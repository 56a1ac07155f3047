import NavigationCore

@testable import NavigationHub

// The descriptions of the client in Python: a class for each record, with a parameter for each
// member.
extension GeneratedText {
  static var pythonDescriptions: String {
    let id = Setting(
      name: "id", documentation: "Its id; None lets the daemon choose one.", type: "")
    let button = classText(
      "ButtonDescription", "A button of the bar or of the toolbar.",
      """
      A new button has exactly one of `title`, `image` (perhaps with `title`), `system_item` and
      `custom_view`.
      """, [[id]] + Setting.all(ButtonContent.self))
    let item = classText(
      "ItemDescription", "The contents that a screen gives to the bar.", "",
      Setting.all(NavigationItem.self))
    let content = Setting(name: "item", documentation: "Its content in the bar.", type: "")
    let kind = Setting(
      name: "kind", documentation: "What it holds.", type: "", words: ScreenKind.words)
    let screen = classText(
      "ScreenDescription",
      "A new screen: an id, a title, and what the program needs to find its content.",
      "Everything that may read the nav sees `args`, so no secret belongs there.",
      [[id]] + Setting.hot + [[content], [kind]] + Setting.all(ScreenDetails.self))
    return """
      \"""Screens, items and buttons as operations describe them; see GeneratedTests.\"""

      from __future__ import annotations

      from collections.abc import Mapping, Sequence
      from typing import Literal, TypeAlias, Union

      from ..descriptions import Description, check_id
      from ..wire import JSON

      __all__ = [
          "AnyButton", "AnyScreen", "ButtonDescription", "ItemDescription", "ScreenDescription",
      ]


      \(button)

      #: A button: a new one, its record as a dict, or the id of one that the nav knows.
      AnyButton: TypeAlias = Union[ButtonDescription, Mapping[str, JSON], str]


      \(item)

      \(screen)

      #: A screen: a new one, its record as a dict, or the id of one that the nav knows.
      AnyScreen: TypeAlias = Union[ScreenDescription, Mapping[str, JSON], str]

      """
  }

  private static let types = [
    "Bool": "bool | None", "ImageReference": "str | Mapping[str, JSON] | None",
    "Button": "AnyButton | None", "Array<Button>": "Sequence[AnyButton] | None",
    "Edges": "Sequence[str] | None", "OpaqueJSON": "JSON", "TitleView": "JSON",
    "Menu": "Sequence[Mapping[str, JSON]] | None", "Badge": "int | str | bool | None",
  ]
  private static let typesByName = [
    "item": "ItemDescription | Mapping[str, JSON] | None", "args": "JSON",
    "appearance": "Mapping[str, JSON] | None",
  ]

  private static func classText(
    _ name: String, _ summary: String, _ more: String, _ runs: [[Setting]]
  ) -> String {
    let members = runs.map { $0[0] }
    let parameters = members.map { member in
      let words = member.words.map { "\"\($0)\"" }.joined(separator: ", ")
      let type =
        words.isEmpty
        ? typesByName[member.name] ?? types[member.type] ?? "str | None"
        : "Literal[\(words)] | None"
      return "\(snake(member.name)): \(type) = None".replacing(" ", with: "\u{A0}")
    }
    let entries = members.map { member in
      let parameter = snake(member.name)
      let what = name.prefix { $0 != "D" }.lowercased()
      let value =
        member.name == "id"
        ? "None if id is None else check_id(id, \"the id of a \(what)\")" : parameter
      return "\"\(member.name)\": \(value)".replacing(" ", with: "\u{A0}")
    }
    let documentation = members.flatMap { member in
      lines("\(snake(member.name)): \(member.documentation)", width: 86).enumerated().map {
        ($0.offset == 0 ? "      " : "        ") + $0.element
      }
    }
    let head = more.isEmpty ? [] : more.split(separator: "\n").map { "    " + $0 } + [""]
    return """
      class \(name)(Description):
          \"""\(summary)

      \((head + ["    Members:"] + documentation).joined(separator: "\n"))
          \"""

          __slots__ = ()

          def __init__(
              self, *,
      \(block(parameters)),
          ) -> None:
              super().__init__({
      \(block(entries, deeper: "    "))})

      """
  }

  private static func block(_ words: [String], deeper: String = "") -> String {
    lines(words.joined(separator: ", "), width: 90).map {
      "        \(deeper)\($0)".replacing("\u{A0}", with: " ")
    }.joined(separator: "\n")
  }
}
