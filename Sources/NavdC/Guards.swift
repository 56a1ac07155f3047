internal import CNavd
import NavigationCore

/// The guards that hold as long as a nav is as the user saw it.
///
/// Throws a misuse if `tape` is no state as NAVD_EVENT_STATE has it, or `what` is no part of one.
func guards(_ tape: JSONTape, _ what: String) throws(Failure) -> OpaqueJSON {
  guard let epoch = tape.member("epoch", of: tape.root).flatMap({ tape.string($0) }),
    let revision = tape.member("rev", of: tape.root).flatMap({ tape.integer($0) }),
    let screens = tape.member("screens", of: tape.root), tape.kind(screens) == .array
  else { throw .misuse("state has no epoch, rev and screens; pass the JSON of a state") }
  let ids = tape.elements(of: screens) { screen in
    tape.member("id", of: screen).flatMap { tape.string($0) }
  }.compactMap(\.self)
  var guards: JSONObject = ["epoch": .string(epoch)]
  let top = ids.last.map { OpaqueJSON.string($0) } ?? .null
  let visible = outermost(tape).map { OpaqueJSON.string($0) } ?? top
  switch what {
  case "epoch": break
  case "rev": guards.add("rev", .integer(revision))
  case "stack": guards.add("stack", .array(ids.map { .string($0) }))
  case "visible": guards.add("visible", visible)
  case "top":
    guards.add("top", top)
    guards.add("visible", visible)
  default: throw .misuse("\(what) is none of top, stack, rev, visible and epoch")
  }
  return .object(guards)
}

/// The id of the outermost presented screen.
private func outermost(_ tape: JSONTape) -> String? {
  guard let part = tape.member("presented", of: tape.root),
    let chain = tape.member("chain", of: part), tape.kind(chain) == .array
  else { return nil }
  return tape.elements(of: chain) { element in
    let screen = tape.member("screen", of: element)
    return screen.flatMap { tape.member("id", of: $0) }.flatMap { tape.string($0) }
  }.last ?? nil
}
