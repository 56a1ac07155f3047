import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `env`: prints or sets the surroundings of the display, such as its orientation and locale.
enum EnvironmentCommand: Command {
  static let declaration = CommandSet.Command(
    "env", "Set the surroundings of the display", group: Subject.display,
    arguments: PositionalArguments("NAV [KEY=VALUE...]", count: 0...Int.max),
    options: [Lease.option] + Change.options,
    epilogue: """
      KEY is idiom, vCompact, scrollEdge, keyboard, scale, statusBar, backTitleBudget, locale,
      orientation, barPosition, animations, screenReader, contentSizeCategory,
      accessibilityContrast or horizontal. Without KEY, navctl prints the values. While a session
      holds the display, no other can set them; --lease holds it for this command.

      \(MemberWords.note)

      Example: navctl env kiosk vCompact=true locale=zh-Hans
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(
      invocation, isOwn: Members.isMember, part: "environment",
      operation: Operations.environment)
  }
}

/// `configure`: prints or changes the settings of a nav.
enum ConfigureCommand: Command {
  static let declaration = CommandSet.Command(
    "configure", "Change the settings of a nav", group: Subject.display,
    arguments: PositionalArguments("NAV [KEY=VALUE...]", count: 0...Int.max),
    options: Change.options,
    epilogue: """
      KEY is guard, vetoScope, veto, questionDeadline, transitionDeadline, gestureDeadline, queue,
      interactivePop, interactivePopWithoutBackButton, simultaneous, hidesBarsOnTap,
      hidesBarsOnSwipe, hidesBarsWhenVerticallyCompact, hidesBarsWhenKeyboardAppears, profile,
      backTitles, routes, container or restorationID. The command replaces each setting as a whole. Without KEY, navctl prints them.

      \(MemberWords.note)

      Example: navctl configure kiosk hidesBarsOnTap=true veto.policy=allow
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(
      invocation, isOwn: Members.isMember, part: "settings", operation: Operations.configure)
  }
}

/// `attach`: puts a nav on display.
enum AttachCommand: Command {
  static let declaration = CommandSet.Command(
    "attach", "Put a nav on display", group: Subject.display,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: "Example: navctl attach kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.attach()] }
  }
}

/// `detach`: takes a nav off the display.
enum DetachCommand: Command {
  static let declaration = CommandSet.Command(
    "detach", "Take a nav off the display", group: Subject.display,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: "Example: navctl detach kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.detach()] }
  }
}
