internal import CNavd
import NavigationCore
import NavigationClient

// What the functions of C read from their arguments.

/// The text of an argument that must not be NULL.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String {
  guard let text = try unsafe optionalText(pointer, name) else { throw .misuse("\(name) is NULL") }
  return text
}

/// The text of an argument; nil for NULL.
func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String? {
  guard let pointer = unsafe pointer else { return nil }
  guard let text = unsafe String(validatingCString: pointer) else {
    throw .misuse("\(name) is not UTF-8")
  }
  return text
}

func client(_ handle: OpaquePointer?) throws(Failure) -> Client {
  guard let client: Client = unsafe Handles.find(handle) else {
    throw unsafe .misuse(handle == nil ? "client is NULL" : "client was freed, or is no client")
  }
  return client
}

/// The time limit of an argument, at least 100 ms; for -1 it is `defaultLimit`.
func timeLimit(_ milliseconds: Int32, _ defaultLimit: Duration?) throws(Failure) -> Duration? {
  guard milliseconds != -1 else { return defaultLimit }
  guard milliseconds >= 100 else {
    throw .misuse("the time limit is \(milliseconds) ms; it is 100 ms or more, or -1")
  }
  return .milliseconds(milliseconds)
}

/// The maximum depth of JSON in an argument, so that the whole message stays within the limit of 32.
let maximumArgumentDepth = 30

func json(
  _ text: String, _ name: String, maximumDepth: Int = maximumArgumentDepth
) throws(Failure) -> JSONTape {
  var tape = JSONTape()
  do throws(JSONError) {
    try tape.read(Array(text.utf8), maximumDepth: maximumDepth)
  } catch {
    throw .misuse("\(name) is not JSON: \(error.reason.rawValue) at octet \(error.offset)")
  }
  return tape
}

/// The texts of the operations in a JSON array, and whether one of them is by a person.
func operations(_ text: String) throws(Failure) -> (texts: [[UInt8]], areByPerson: Bool) {
  let tape = try json(text, "operations")
  guard tape.kind(tape.root) == .array, tape.count(tape.root) > 0 else {
    throw .misuse("operations is a JSON array of at least one operation")
  }
  var operations: [[UInt8]] = []
  var (areObjects, areByPerson) = (true, false)
  tape.forEachElement(of: tape.root) { element in
    operations.append(tape.raw(element))
    guard tape.kind(element) == .object, tape.count(element) == 1 else {
      areObjects = false
      return
    }
    tape.forEachMember(of: element) { name, _ in
      areByPerson = areByPerson || OperationKind(name: name).isByPerson
    }
  }
  guard areObjects else {
    throw .misuse("an operation is an object with one member, such as {\"pop\":{}}")
  }
  return (operations, areByPerson)
}

/// Reads the guards in a JSON object that has the form of the member `if` of an op.
func guards(_ text: String) throws(Failure) -> Guards {
  let tape = try json(text, "guard")
  guard tape.kind(tape.root) == .object else { throw .misuse("guard is a JSON object") }
  var guards = Guards()
  if let wrong = guards.readUntilInvalid(tape, tape.root) {
    throw .misuse(
      "\(wrong) of guard is no guard, or has a wrong value; guards are \(Guards.names)")
  }
  return guards
}

/// Reads the roles in a JSON object that has the form of the message `delegate`.
func registration(_ text: String) throws(Failure) -> DelegateRegistration {
  let tape = try json(text, "roles")
  guard let list = tape.member("roles", of: tape.root), let names = tape.strings(list) else {
    throw .misuse("roles is an object such as {\"roles\":[\"veto\"]}")
  }
  var roles: Set<DelegateRole> = []
  for name in names {
    guard let role = DelegateRole(rawValue: name) else { throw .misuse("\(name) is no role") }
    roles.insert(role)
  }
  let orientations = tape.member("orientations", of: tape.root)
  let supported = orientations.flatMap { tape.member("supported", of: $0) }
  let preferred = orientations.flatMap { tape.member("preferred", of: $0) }
  return DelegateRegistration(
    roles: roles, supportedOrientations: supported.flatMap { tape.strings($0) } ?? [],
    preferredOrientation: preferred.flatMap { tape.string($0) })
}

/// Makes guards that hold as long as a part of a nav equals the state that the user saw.
///
/// It throws a misuse if `state` is not the JSON of an NAVD_EVENT_STATE, or `part` names no part.
func guardsOnState(_ state: JSONTape, part: String) throws(Failure) -> OpaqueJSON {
  guard let epoch = state.member("epoch", of: state.root).flatMap({ state.string($0) }),
    let revision = state.member("rev", of: state.root).flatMap({ state.integer($0) }),
    let screens = state.member("screens", of: state.root), state.kind(screens) == .array
  else { throw .misuse("state has no epoch, rev and screens; pass the JSON of a state") }
  let ids = state.elements(of: screens) { screen in
    state.member("id", of: screen).flatMap { state.string($0) }
  }.compactMap(\.self)
  var guards: JSONObject = ["epoch": .string(epoch)]
  let top = ids.last.map { OpaqueJSON.string($0) } ?? .null
  let visible = outermostPresentedID(in: state).map { OpaqueJSON.string($0) } ?? top
  switch part {
  case "epoch": break
  case "rev": guards.add("rev", .integer(revision))
  case "stack": guards.add("stack", .array(ids.map { .string($0) }))
  case "visible": guards.add("visible", visible)
  case "top":
    guards.add("top", top)
    guards.add("visible", visible)
  default: throw .misuse("\(part) is none of top, stack, rev, visible and epoch")
  }
  return .object(guards)
}

/// The id of the outermost presented screen in a state; nil if none is presented.
private func outermostPresentedID(in tape: JSONTape) -> String? {
  guard let part = tape.member("presented", of: tape.root),
    let chain = tape.member("chain", of: part), tape.kind(chain) == .array
  else { return nil }
  return tape.elements(of: chain) { element in
    let screen = tape.member("screen", of: element)
    return screen.flatMap { tape.member("id", of: $0) }.flatMap { tape.string($0) }
  }.last ?? nil
}
