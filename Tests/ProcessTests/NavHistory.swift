import NavigationCore

/// Everything that clients saw of one nav, and what its daemons say about it in the end.
///
/// `violations` judges it. The revision in each answer is the place of the message in one order. The
/// history is linearizable if a naive stack that replays the changes in this order gives each answer,
/// and if no message stands before one that was answered before this one was sent.
struct NavHistory: Sendable {
  /// A message about the nav, and all that came back.
  struct Operation: Sendable {
    /// The name of the client.
    var client: String
    /// The number of the message, which no other message of the client has.
    var id: UInt64
    /// What it changes; nil for a read.
    var change: Change?
    /// When it was sent first, in nanoseconds.
    var sent: UInt64
    /// Its answers; none means that nobody knows whether it was performed.
    var answers: [Answer] = []
  }

  /// A change of the stack.
  enum Change: Sendable, Equatable {
    /// Makes the nav with one screen.
    case create(root: String)
    /// Pushes a new screen.
    case push(String)
    /// Pops the top, if it is `top`; any top for nil.
    case pop(top: String?)
    /// Leaves the lowest screen and puts a new one on it, at this revision; at any for nil.
    case reset(String, revision: UInt64?)
  }

  /// What a message got back.
  struct Answer: Sendable {
    /// When it came, in nanoseconds.
    var at: UInt64
    /// The member that sent it.
    var from: String
    var kind: Kind
    /// The position of the nav that it names.
    var revision: UInt64
    var digest: String

    /// What it says.
    enum Kind: Sendable, Equatable {
      /// The revision is the one that the message made; `popped` left the stack.
      case changed(popped: String?)
      /// The message had nothing to change.
      case unchanged
      /// The stack has these screens.
      case read([String])
      /// A guard does not hold.
      case refused
    }
  }

  /// A revision in the log of the nav.
  struct Entry: Sendable {
    var revision: UInt64
    /// The client and the message that made it.
    var client: String
    var id: UInt64
    var digest: String
  }

  /// A mirror at a revision.
  struct Sight: Sendable {
    var revision: UInt64
    var screens: [String]
    var digest: String
    /// Its epoch, if that was asked for.
    var epoch = ""
    /// Whether it followed from the one before by a diff.
    var isNext: Bool
  }

  /// The name of the nav.
  var nav: String
  var operations: [Operation] = []
  var log: [Entry] = []
  /// The epochs that the nav got later: the digests of the revisions at which they began have a
  /// second form.
  var epochs: Set<String> = []
  /// What each watcher saw, in the order in which it saw it.
  var sights: [[Sight]] = []
  /// The nav after everything was answered.
  var final = Sight(revision: 0, screens: [], digest: "", isNext: false)

  /// A change or a read in words.
  static func words(_ operation: Operation) -> String {
    let what =
      switch operation.change {
      case nil: "get"
      case .create(let root): "create with \(root)"
      case .push(let screen): "push \(screen)"
      case .pop(let top): "pop \(top ?? "any")"
      case .reset(let screen, let revision):
        "reset to \(screen) at \(revision.map { "\($0)" } ?? "any")"
      }
    let answers = operation.answers.map {
      "\($0.kind) at \($0.revision) \($0.digest) from \($0.from) after "
        + "\(($0.at - min($0.at, operation.sent)) / 1000) µs"
    }
    return "\(operation.client) \(operation.id) “\(what)” sent at \(operation.sent / 1000), "
      + (answers.isEmpty ? "no answer" : answers.joined(separator: "; "))
  }
}

/// The naive model: a stack with the revision that pushed each screen.
struct StackModel: Sendable {
  private(set) var revision: UInt64 = 0
  private var stack: [(id: String, version: UInt64)] = []
  /// The other 16 digits of the digest, which a model cannot compute.
  var chain = ""

  /// The ids of the stack, bottom first.
  var screens: [String] { stack.map(\.id) }

  /// Performs a change; returns its answer, which changes nothing if it is `unchanged` or `refused`.
  mutating func perform(_ change: NavHistory.Change) -> NavHistory.Answer.Kind {
    let before = stack
    switch change {
    case .create(let root):
      guard revision == 0 else { return .refused }
      stack = [(root, 1)]
    case .push(let screen):
      guard revision > 0, !screens.contains(screen) else { return .refused }
      stack.append((screen, revision + 1))
    case .pop(let top):
      guard revision > 0, top == nil || top == stack.last?.id else { return .refused }
      guard stack.count > 1 else { return .unchanged }
      stack.removeLast()
    case .reset(let screen, let wanted):
      guard revision > 0, wanted == nil || wanted == revision else { return .refused }
      stack = [stack[0], (screen, revision + 1)]
    }
    revision += 1
    if case .pop = change { return .changed(popped: before.last?.id) }
    return .changed(popped: nil)
  }

  /// The checksum by the protocol, and the chain of the log.
  var digest: String { checksum + chain }

  /// The first 8 digits of the digest; no change of the model touches a part.
  var checksum: String {
    var lines = stack.map { "\($0.id)@\($0.version)" }
    for part in ["bar", "toolbar", "presented", "transition", "environment", "settings"] {
      lines.append(":\(part)@1")
    }
    let hex = String(crc32(Array(lines.joined(separator: "\n").utf8)), radix: 16)
    return String(repeating: "0", count: 8 - hex.count) + hex
  }
}
