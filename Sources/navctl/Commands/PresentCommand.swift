import CommandLineOptions
import NavctlSupport

/// `present`: presents a screen above the visible one.
enum PresentCommand: Command {
  static let declaration = CommandSet.Command(
    "present", "Present a screen above the visible one", group: Subject.presentation,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("from", argument: "ID", "The presenting screen; default the visible one"),
      OptionDeclaration("style", argument: "STYLE", "Such as formSheet or overCurrentContext"),
    ] + NewScreen.options + Change.options,
    epilogue: NewScreen.note + """

      Example: navctl present kiosk pin --title PIN --style overCurrentContext
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.present(invocation.line, id: $0.first)]
    }
  }
}

/// `dismiss`: ends presentations.
enum DismissCommand: Command {
  static let declaration = CommandSet.Command(
    "dismiss", "End all presentations, if they are those you last saw", group: Subject.presentation,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration(
        "from", argument: "ID", "Only what this screen presents; if nothing, itself"),
      OptionDeclaration("swipe", "Swipe the outermost screen down, as a person does"),
      Operations.resultOption,
    ] + Change.options,
    epilogue: "Example: navctl dismiss kiosk --from wifi")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [try Operations.dismiss(invocation.line)] }
  }
}
