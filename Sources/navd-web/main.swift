import CLinux
import CommandLineOptions
import NavigationGateway
import RuntimePaths
import Systemd
import WebServer

let grammar = CommandLineGrammar(
  program: "navd-web",
  summary: "Lets pages in a browser take part in the navigation stacks of navd.",
  epilogue: """
    Serves NSP over HTTP, the JavaScript client and the files of one page, by default on \
    127.0.0.1:9720. Each page needs a token or a launch code. See navd-web(8).
    """,
  version: "navd-web 0.1.0",
  options: [
    OptionDeclaration(
      "endpoint", short: "e", argument: "ADDRESS",
      "Address of navd, or several with commas; else NAVD_ENDPOINT"),
    OptionDeclaration(
      "listen", short: "l", argument: "ADDRESS", "Listen on ADDRESS:PORT or unix:/PATH"),
    OptionDeclaration(
      "allow-host", argument: "NAME", "Answer requests to NAME too, for a proxy; repeatable"),
    OptionDeclaration(
      "allow-origin", argument: "ORIGIN",
      "Serve pages of this other gateway of the cluster too; repeatable"),
    OptionDeclaration("tokens", argument: "FILE", "The tokens of pages, one a line"),
    OptionDeclaration("page", argument: "DIR", "Serve the files of DIR"),
    OptionDeclaration("module", argument: "FILE", "The JavaScript client to serve"),
    OptionDeclaration(
      "launch", argument: "ROLE", "Print an address that opens the page once, with ROLE"),
  ])

/// Writes one line to stderr; ignores errors, since there is nowhere else to report them.
func say(_ text: String) {
  let line = Array("navd-web: \(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

/// The reason why an address of a socket that the service manager passed is not accepted.
struct InheritedSocketError: Error, CustomStringConvertible {
  var description: String

  init(_ reason: String) { description = "check ListenStream= of the socket unit: \(reason)" }
}

let remoteRefusal = "navd-web does not encrypt; use ssh -L, or a proxy in front of unix:/PATH"

/// The listening socket of the service manager with its address; nil if it passed none.
func inheritedSocket() throws -> (descriptor: Int32, address: ListenAddress)? {
  let sockets = try ServiceManager.inheritedSockets()
  guard let socket = sockets.first else { return nil }
  // A connection to a second one would wait for ever.
  guard sockets.count == 1 else {
    throw InheritedSocketError("it has \(sockets.count) sockets, and navd-web serves one")
  }
  let text =
    switch socket.place {
    case .path(let path): "unix:" + path
    case .network(let endpoint): String(endpoint.dropFirst("tcp://".count))
    }
  do throws(ListenError) {
    return (socket.descriptor, try ListenAddress(text, remoteRefusal: remoteRefusal))
  } catch {
    throw InheritedSocketError(error.description)
  }
}

/// Sends a notification to the service manager; without one it does nothing.
func notify(_ notification: ServiceNotification) {
  do {
    try ServiceManager.notify(notification)
  } catch {
    say("\(error)")
  }
}

let line = grammar.parse(Array(CommandLine.arguments.dropFirst()))
do {
  let rules = PathRules.current()
  let inherited = try inheritedSocket()
  let address = try ListenAddress(
    line.value(of: "listen") ?? "127.0.0.1:9720", remoteRefusal: remoteRefusal)
  var configuration = Gateway.Configuration(
    address: inherited?.address ?? address, rules: rules,
    scripts: [
      "/navigation-client.js": line.value(of: "module")
        ?? "/usr/share/javascript/navd/navigation-client.js"
    ])
  configuration.inherited = inherited?.descriptor
  configuration.endpoint = line.value(of: "endpoint")
  let origins = line.values(of: "allow-origin")
  if let origin = origins.first(where: { !RequestGate.isOrigin($0) }) {
    grammar.refuse(
      "--allow-origin: \(origin) is no origin as in http://a.example:9720, without a path")
  }
  configuration.gate = RequestGate(
    allowedHosts: Set(line.values(of: "allow-host")), allowedOrigins: Set(origins))
  configuration.tokenFile =
    line.value(of: "tokens")
    ?? rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd-web.tokens" }
  configuration.pageDirectory = line.value(of: "page")
  if let role = line.value(of: "launch") {
    configuration.launch = Gateway.launchActor(role: role)
    guard configuration.launch != nil else { grammar.refuse("--launch needs the name of a role") }
    if case .local = configuration.address {
      let reason = "--launch needs ADDRESS:PORT, because a browser cannot open a Unix socket"
      if inherited != nil { throw InheritedSocketError(reason) }
      grammar.refuse(reason)
    }
  }
  try Gateway.run(
    configuration, say: say, launched: { say("open \($0)") },
    ready: { address in
      say("serving on \(address)")
      notify(.ready)
    }, stopping: { notify(.stopping) })
} catch {
  exit(Gateway.exitStatus(after: error, say: say))
}
