import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `push-item`: puts an item on a standalone bar.
enum PushItemCommand: Command {
  static let declaration = CommandSet.Command(
    "push-item", "Put a known or a new item on top", group: Subject.standalone,
    arguments: PositionalArguments("NAV [ITEM]", count: 0...2),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title of the new item"),
      OptionDeclaration("prompt", argument: "TEXT", "Prompt of the new item"),
      OptionDeclaration("new", "Create the item, even with its id alone"),
    ] + Change.options,
    epilogue: """
      ITEM is the id of an item that the bar knows, or a record in JSON. With any option about the
      item, ITEM is the id of the item that the command creates.

      Example: navctl push-item hud now --title Owen
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.pushItem(invocation.line, id: $0.first)]
    }
  }
}

/// `pop-item`: removes the top item of a standalone bar.
enum PopItemCommand: Command {
  static let declaration = CommandSet.Command(
    "pop-item", "Pop the top item, if it is still the one you last saw", group: Subject.standalone,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: "Example: navctl pop-item hud --top now")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.popItem()] }
  }
}

/// `set-items`: replaces all items of a standalone bar.
enum SetItemsCommand: Command {
  static let declaration = CommandSet.Command(
    "set-items", "Replace all items, if they are those you last saw", group: Subject.standalone,
    arguments: PositionalArguments("NAV [ITEM...]", count: 0...Int.max),
    options: Change.options,
    epilogue: """
      The first ITEM is the bottom; each is an id or a record in JSON. If NAVD_NAV is set, all
      arguments are items.

      Example: navctl set-items hud '{"id":"i","item":{"title":"Owen"}}'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...Int.max) { [try Operations.setItems($0)] }
  }
}
