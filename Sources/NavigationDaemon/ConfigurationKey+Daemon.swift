import NavigationCore
import RuntimePaths
import Systemd

extension ConfigurationKey {
  static let daemonKeys: [ConfigurationKey] = [
    text(
      "daemon", "listen", endpoints,
      "The addresses to listen on, in addition to the sockets of the service manager. Can be "
        + "repeated; an empty value removes those before it.", change: .atStart),
    text(
      "daemon", "state", stateDirectory, "The directory of the journal.", change: .atStart),
    text(
      "daemon", "durability", choice(\.daemon.durability),
      "With sync, navd answers after a change is on stable storage. With relaxed, it answers "
        + "before; a power failure can then lose answered changes.", change: .atStart),
    text(
      "daemon", "witness", .path(\.daemon.witnessPath, "an absolute path, or empty for none"),
      "A file outside of the state directory, on other storage if there is any, with the number of "
        + "the newest row. A start that finds fewer rows in the journal, because an older copy was "
        + "put back, gives all navs new epochs. One daemon only.", change: .atStart),
    text(
      "daemon", "socket-mode", socketMode,
      "The mode of the socket: auto is 0660 with a socket-group, else 0600.", change: .atStart),
    text(
      "daemon", "socket-group", socketGroup,
      "The group whose members can connect.", change: .atStart),
  ]

  private static let endpoints = Value(
    expected:
      "ipc:///absolute/path, tcp://ADDRESS:PORT (see [access], and navd-tcp), or empty for "
      + "navd.sock in the runtime directory",
    store: { configuration, text in
      if text.isEmpty {
        configuration.daemon.endpoints = []
        return nil
      }
      for word in text.split(separator: " ", omittingEmptySubsequences: true) {
        if let reason = reasonNotListenable(String(word)) { return reason }
        if !configuration.daemon.endpoints.contains(String(word)) {
          configuration.daemon.endpoints.append(String(word))
        }
      }
      return nil
    }, show: { $0.daemon.endpoints.joined(separator: " ") }, list: { $0.daemon.endpoints },
    valueIfEmpty: { rules in
      do throws(PathError) { return try rules.defaultEndpoint() } catch { return nil }
    })

  /// The reason why navd cannot listen on an address; nil if it can.
  ///
  /// An empty text means that the address has the wrong form, which the message then shows.
  private static func reasonNotListenable(_ endpoint: String) -> String? {
    if endpoint.hasPrefix("tcp:") {
      return NetworkAddress(endpoint) == nil
        ? "tcp://ADDRESS:PORT with the numeric address of one interface, not of all of them"
        : nil
    }
    guard endpoint.hasPrefix("ipc:///"), endpoint.utf8.count > "ipc:///".utf8.count else {
      return ""
    }
    do throws(PathError) {
      _ = try PathRules.endpoint(socketPath: String(endpoint.dropFirst("ipc://".count)))
      return nil
    } catch {
      return error.description
    }
  }

  private static let stateDirectory = Value.path(
    \.daemon.stateDirectory, "an absolute path, or empty for the state directory",
    valueIfEmpty: { rules in
      do throws(PathError) { return try rules.stateDirectory() } catch { return nil }
    })

  private static let socketMode = Value(
    expected: "auto, 0600 or 0660",
    store: { configuration, text in
      switch text {
      case "auto": configuration.daemon.socketMode = nil
      case "0600", "600": configuration.daemon.socketMode = 0o600
      case "0660", "660": configuration.daemon.socketMode = 0o660
      default: return ""
      }
      return nil
    },
    show: { $0.daemon.socketMode.map { "0" + String($0, radix: 8) } ?? "auto" })

  private static let socketGroup = Value.optional(
    \.daemon.socketGroup, "a group's name or number, or empty"
  ) { !$0.contains { $0 == " " || $0 == ":" || $0 == "/" } }
}
