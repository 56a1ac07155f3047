import CLinux
import CommandLineOptions
import RuntimePaths
import Systemd
import Web

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
    OptionDeclaration(
      "inspector",
      "Serve the page of the inspector, which can only read. Without tokens, print an address "
        + "that opens it once, within 60 s, with the rights of the user that runs this"),
    OptionDeclaration("nav", argument: "NAV", "Inspector: show NAV at the start"),
    OptionDeclaration("open", "Inspector: open the address in the browser of the desktop"),
  ])

func say(_ text: String) { writeText("navd-web: \(text)\n") }

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
  let text = socket.path.map { "unix:" + $0 } ?? String(socket.endpoint.dropFirst("tcp://".count))
  do throws(ListenError) {
    return (socket.descriptor, try ListenAddress(text, remoteRefusal: remoteRefusal))
  } catch {
    throw InheritedSocketError(error.description)
  }
}

/// Sends a notification to the service manager; without one it does nothing.
func notify(_ notification: ServiceNotification) {
  do {
    try ServiceManager.notify([notification])
  } catch {
    say("\(error)")
  }
}

/// Completes the configuration of a gateway whose pages may change navs.
func configurePages(_ configuration: inout Gateway.Configuration) {
  configuration.scripts["/navigation-client.js"] =
    line.value(of: "module") ?? "/usr/share/javascript/navd/navigation-client.js"
  let origins = line.values(of: "allow-origin")
  if let origin = origins.first(where: { !RequestGate.isOrigin($0) }) {
    grammar.refuse(
      "--allow-origin: \(origin) is no origin as in http://a.example:9720, without a path")
  }
  configuration.gate.allowedOrigins = Set(origins)
  configuration.pageDirectory = line.value(of: "page")
  if let role = line.value(of: "launch") {
    configuration.launchActor = Gateway.launchActor(role: role)
    guard configuration.launchActor != nil else {
      grammar.refuse("--launch needs the name of a role")
    }
  }
}

/// Completes the configuration of a gateway whose page only reads.
func configureInspector(_ configuration: inout Gateway.Configuration) throws {
  configuration.isReadOnly = true
  configuration.scripts["/chart.js"] = "/usr/share/javascript/chart.js/chart.min.js"
  configuration.pageDirectory = try InspectorFiles.directory(option: line.value(of: "page"))
  if configuration.tokenFile == nil {
    configuration.launchActor = Gateway.launchActor(role: "read")
  }
  // An address that cannot be found later either is an error now.
  _ = try configuration.rules.clientEndpoint(option: configuration.endpoint)
}

let line = grammar.parse(ProcessArguments.afterName)
let isInspector = line.contains("inspector")
for name in isInspector ? ["allow-origin", "module", "launch"] : ["nav", "open"]
where line.contains(name) {
  grammar.refuse("--\(name) \(isInspector ? "does not go with" : "needs") --inspector")
}
do {
  let rules = PathRules.current()
  let inherited = try inheritedSocket()
  let address = try ListenAddress(
    line.value(of: "listen") ?? (isInspector ? "127.0.0.1:0" : "127.0.0.1:9720"),
    remoteRefusal: remoteRefusal)
  var configuration = Gateway.Configuration(
    address: inherited?.address ?? address, rules: rules, scripts: [:])
  configuration.inheritedDescriptor = inherited?.descriptor
  configuration.endpoint = line.value(of: "endpoint")
  configuration.gate = RequestGate(allowedHosts: Set(line.values(of: "allow-host")))
  configuration.tokenFile =
    line.value(of: "tokens")
    ?? rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd-web.tokens" }
  if isInspector { try configureInspector(&configuration) } else { configurePages(&configuration) }
  if configuration.launchActor != nil, case .local = configuration.address {
    let unixSocketReason =
      isInspector
      ? "a browser cannot open a Unix socket: use --tokens with a proxy"
      : "--launch needs ADDRESS:PORT, because a browser cannot open a Unix socket"
    if inherited != nil { throw InheritedSocketError(unixSocketReason) }
    grammar.refuse(unixSocketReason)
  }
  let opener = line.contains("open") ? BrowserOpener(rules.environment) : nil
  defer { opener?.removeFile() }
  try Gateway.run(
    configuration, log: say,
    launched: { url in
      guard isInspector else { return say("open \(url)") }
      let navParameter = line.value(of: "nav").map { "&nav=" + percentEncoded($0) } ?? ""
      writeText("\(url)\(navParameter)\n", to: 1)
      opener?.open(url + navParameter)
    },
    ready: { address in
      // The line of an inspection without tokens is its address alone.
      if configuration.launchActor == nil || !isInspector { say("serving on \(address)") }
      notify(.ready)
    }, stopping: { notify(.stopping) })
} catch {
  exit(Gateway.exitStatus(after: error, log: say))
}
