import CommandLineOptions
import NavigationClient
import Testing

@testable import NavigationCore
@testable import NavigationHub
@testable import navctl

/// Reads a JSON text that the test wrote itself.
func value(_ text: String) throws -> JSONValue { try JSONValue(Array(text.utf8)) }

/// A parsed command line: options as name and value, nil for one without a value.
func line(_ options: [(String, String?)] = [], _ positionals: [String] = []) -> ParsedCommandLine {
  ParsedCommandLine(
    options: options.map { ParsedCommandLine.Occurrence($0.0, $0.1) }, positionals: positionals)
}

/// Reads an `err` as the daemon sends it.
func refusal(_ body: String) throws -> ErrReply {
  var reader = ServerMessageReader()
  let message = try reader.read(verb: ServerVerb.err.frame, body: Array(body.utf8))
  guard case .err(let error) = message else { throw UsageError("not an err") }
  return error
}

/// Reads an `ok` as the daemon sends it.
func reply(_ body: String) throws -> OkReply {
  var reader = ServerMessageReader()
  let message = try reader.read(verb: ServerVerb.ok.frame, body: Array(body.utf8))
  guard case .ok(let reply) = message else { throw UsageError("not an ok") }
  return reply
}

extension NavigationOperation {
  var text: String { json }
}

let epoch = "c0ffee12c0ffee12"

func seen(
  rev: UInt64 = 18, top: String? = "wifi", visible: String?? = nil
) throws -> SeenState {
  guard let epoch = Epoch(epoch) else { throw UsageError("not an epoch") }
  return SeenState(epoch: epoch, revision: Revision(rev), top: top, visible: visible)
}

/// The statistics of a daemon, set by their paths; a path that no hub writes is an issue.
struct SampleStatistics {
  private var root: NavigationValue = [:]

  var value: JSONValue {
    guard let value = try? JSONValue(Array(root.json.utf8)) else { preconditionFailure(root.json) }
    return value
  }

  subscript(path: String) -> NavigationValue {
    get { path.split(separator: ".").reduce(root) { $0[String($1)] ?? .null } }
    set {
      #expect(path.hasPrefix("operations.") || Self.known.at(path) != nil, "\(path)")
      root = Self.setting(path.split(separator: ".").map(String.init), of: root, to: newValue)
    }
  }

  private static func setting(
    _ path: [String], of whole: NavigationValue, to value: NavigationValue
  ) -> NavigationValue {
    guard let name = path.first else { return value }
    var members: [String: NavigationValue] = [:]
    if case .object(let former) = whole { members = former }
    members[name] = setting(Array(path.dropFirst()), of: members[name] ?? [:], to: value)
    return .object(members)
  }

  /// The statistics of a hub to which its shell has reported all that is optional.
  private static let known: JSONValue = {
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    hub.measurements.storageProblem = "storage"
    hub.measurements.socketProblem = "socket"
    for gauge in [Measurements.Gauge.backupAge, .backupTotal, .rowsToPrune] {
      hub.measurements[gauge] = 1
    }
    let root = Peer.local(user: 0, group: 0, process: 1)
    let octets = hub.statistics(for: Sender(connection: ConnectionID(1), peer: root))
    guard let value = try? JSONValue(octets) else { preconditionFailure("not JSON") }
    return value
  }()
}

extension NavigationValue {
  static func count(_ number: UInt64) -> NavigationValue { .integer(Int64(number)) }

  static func principals(_ counts: [(name: String, count: UInt64)]) -> NavigationValue {
    .array(counts.map { ["principal": .string($0.name), "connections": .count($0.count)] })
  }
}
