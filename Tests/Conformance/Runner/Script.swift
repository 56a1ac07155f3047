/// One row of the table of cases.
package struct ConformanceCase: Sendable {
  /// The row's id, like `C-013`.
  package var id: String
  /// The file it stands in.
  package var file: String
  /// The line of its id, from 1.
  package var line: Int
  /// Where the rule comes from, by the short names in `docs/rules.md`.
  package var source = ""
  /// What holds before, in words.
  package var given = ""
  /// What happens, in words.
  package var when = ""
  /// What must follow, in words.
  package var then = ""
  /// Whether the row is checked by code instead of a script.
  package var isCode = false
  /// The script.
  var lines: [ScriptLine] = []
}

/// One line of a script.
struct ScriptLine {
  var number: Int
  var text: String
  var command: ScriptCommand
}

/// Texts of JSON may hold the placeholders `$name` (a kept value) and `@X` (the record of a screen).
enum ScriptCommand {
  case fact(ScriptFact)
  case step(ScriptStep)
  case expectation(ScriptExpectation)
}

/// What is set up; it must succeed.
enum ScriptFact {
  /// The members of a screen's record, for `nav` and `@X`.
  case screen(String, String)
  case nav([String], isAttached: Bool)
  case standalone([String])
  /// Another client, if `role` is given one of another user with this role.
  case client(String, role: String?)
  case perform(ScriptOperation)
  /// A request that must be answered with `ok`.
  case request(client: String, verb: String, members: String)
  case answer(client: String, question: String, value: String)
  case reaction(event: String, ScriptOperation)
  case storage(isFailing: Bool)
  case keep(String, ScriptSource, path: String)
}

/// A message of operations in the words of a script.
///
/// Its JSON has placeholders, so it is no operation before they are filled in.
struct ScriptOperation {
  var client = "1"
  var label: String?
  /// The label of the op whose id is used again.
  var reused: String?
  /// The list of ops, as JSON with placeholders.
  var operations = ""
  var names: [String] = []
  var isAnimated: Bool?
  var onBusy: String?
  /// Sends no guard of its own accord.
  var isBare = false
  var guards: String?
}

/// What happens; everything expected below it is about this.
enum ScriptStep {
  case operation(ScriptOperation)
  case again(client: String, label: String)
  case request(client: String, verb: String, members: String)
  case advance(UInt64)
  case restart
  case lose(String)
  case hello(String)
  /// Goes on with the answer of an earlier op.
  case reply(String)
}

enum ScriptExpectation {
  case changed, unchanged, ok, pending, same, missingNav
  case refused(String, fields: String)
  case queued(Int)
  case revisions(Int)
  case events([String])
  case event(String, fields: String)
  case ephemeral([String])
  case touches([String])
  case stack([String])
  case slots(ScriptSide, [String])
  case shown(String, String?)
  case value(ScriptSource, path: String, ScriptRelation)
  case kept(String, ScriptSource, path: String)
  case recorded(String)
  case asked(String, [String])
  case settled(String, [String])
  case got(String, [String])

  /// Whether it speaks about the answer to the last op.
  var isAboutReply: Bool {
    switch self {
    case .changed, .unchanged, .ok, .pending, .refused, .queued, .recorded: true
    default: false
    }
  }

  /// Whether it is about a state and needs no step.
  var isAboutState: Bool {
    switch self {
    case .stack, .slots, .shown, .kept, .missingNav: true
    case .value(let source, _, _):
      switch source {
      case .state, .screen, .resolved, .log: true
      case .diff, .reply, .out: false
      }
    default: false
    }
  }
}

enum ScriptSide { case left, right }

/// Where a value is read.
enum ScriptSource {
  case state, resolved, diff, reply, out, log
  case screen(String)
}

enum ScriptRelation {
  case equals(String), has(String), differs(String), isAbsent
}
