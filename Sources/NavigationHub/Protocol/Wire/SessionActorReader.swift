import NavigationCore

extension SessionActor {
  /// Reads the member `actor` of a `hello`; throws `invalid-argument` for another form, unknown
  /// members too.
  init(_ index: Int, in tape: borrowing JSONTape) throws(MessageFailure) {
    guard let name = tape.member("name", of: index).flatMap({ tape.string($0) }),
      let role = tape.member("role", of: index).flatMap({ tape.string($0) }),
      let navs = tape.member("navs", of: index).flatMap({ tape.strings($0) }),
      tape.count(index) == 3, !role.isEmpty
    else {
      throw MessageFailure(.invalidArgument, "actor is {name,role,navs} and nothing else")
    }
    let patterns = navs.compactMap { NavGlob($0) }
    guard patterns.count == navs.count,
      let actor = SessionActor(name: name, role: Role(role), navs: patterns)
    else {
      throw MessageFailure(
        .invalidArgument,
        "actor has a name of 1 to 64 letters, digits, '.', '_' and '-', and 1 to 64 patterns of navs"
      )
    }
    self = actor
  }
}
