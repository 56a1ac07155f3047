import Glibc
import NavigationClient

// Three programs that share one navigation stack. `demo/run` plays a scenario with them.
//
//   navd-demo shell NAV    the user interface: makes the nav, shows what is on top
//   navd-demo header NAV   the header bar
//   navd-demo remote NAV   a remote control
//
// All of them print a line for each revision, and obey the lines that they read.

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 2 else {
  Console.complain("Usage: navd-demo shell|header|remote NAV")
  exit(2)
}
let (role, nav) = (arguments[0], arguments[1])

do {
  // Without an endpoint, the library uses navd's default paths.
  let client = try await NavigationClient.connect(name: role)
  defer { client.close() }
  let player = Player(client: client, nav: nav, console: Console(role: role))
  switch role {
  case "shell": try await playShell(player)
  case "header": try await playHeader(player)
  case "remote": try await playRemote(player)
  default:
    Console.complain("navd-demo: there is no \(role)")
    exit(2)
  }
} catch {
  Console.complain("navd-demo: \(role): \(error)")
  exit(1)
}
