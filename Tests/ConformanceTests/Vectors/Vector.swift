import Conformance

/// One line of `Tests/Conformance/vectors.jsonl`; docs/vectors.md explains the members.
struct Vector {
  /// Where a vector comes from, and so what its members are.
  enum Kind: String, CaseIterable {
    /// A conformance row, as one client saw it.
    case row
    /// A script about the life of a watch.
    case watch
    /// A message that was changed, lost, doubled or delayed on its way.
    case damage
    /// Texts, numbers and names that a client can spoil.
    case text
    /// Records and their digest; it has no steps.
    case digest
  }

  var id: String
  var kind: Kind
  var claim: String
  /// The members behind `claim`.
  var members: [JSONTree.Member]

  var line: String {
    JSONTree.object(
      [("id", id), ("kind", kind.rawValue), ("claim", claim)].map {
        JSONTree.Member(name: $0.0, value: .string($0.1))
      } + members
    ).text
  }
}

/// What a client does when it gets a message.
enum Reaction: String {
  case wait, resumed, replaced, applied, ignored, gap, diverged, ended, refused, answered, event
}

extension JSONTree {
  /// An object with these members, in this order.
  static func members(_ members: KeyValuePairs<String, JSONTree>) -> JSONTree {
    .object(members.map { Member(name: $0.key, value: $0.value) })
  }

  /// The same object with another member, or another value of it.
  func setting(_ name: String, _ value: JSONTree) -> JSONTree {
    var members = members
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].value = value
    } else {
      members.append(Member(name: name, value: value))
    }
    return .object(members)
  }

  /// The same object without a member.
  func removing(_ name: String) -> JSONTree { .object(members.filter { $0.name != name }) }

  static func int(_ value: Int) -> JSONTree { .number(String(value)) }

  /// Whether both are the same value: texts by their code points, which `==` of `String` ignores.
  func isSame(as other: JSONTree) -> Bool {
    switch (self, other) {
    case (.string(let a), .string(let b)): return a.utf8.elementsEqual(b.utf8)
    case (.array(let a), .array(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
    case (.object(let a), .object(let b)):
      let others = Dictionary(b.map { (Array($0.name.utf8), $0.value) }) { first, _ in first }
      return a.count == b.count
        && a.allSatisfy { member in
          others[Array(member.name.utf8)].map { member.value.isSame(as: $0) } ?? false
        }
    default: return self == other
    }
  }
}
