import NavigationCore

/// An actor that may use all navs.
func actor(_ name: String) -> SessionActor {
  guard let all = NavGlob("*"), let actor = SessionActor(name: name, role: .ui, navs: [all]) else {
    preconditionFailure("\(name) is no name")
  }
  return actor
}
