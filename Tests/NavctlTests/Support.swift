import CommandLineOptions
import NavigationClient
import NavigationCore

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
) throws -> Seen {
  guard let epoch = Epoch(epoch) else { throw UsageError("not an epoch") }
  return Seen(epoch: epoch, revision: Revision(rev), top: top, visible: visible)
}
