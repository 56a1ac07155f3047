import NavigationCore
import NavigationHub

/// A nav in the mind of a scripted daemon: writes the messages that tests send to clients.
struct FakeNav {
  var name = "kiosk"
  var epoch = "c0ffee12c0ffee12"
  var revision: UInt64 = 1
  var screens: [(id: String, ver: UInt64)] = [("home", 1)]

  static let partNames = PartName.allCases.map(\.text)

  var digest: String {
    let checksum = Digest.checksum(
      screens: screens.map { ($0.id, $0.ver) }, parts: Self.partNames.map { ($0, 1) })
    return Digest(checksum: checksum, chain: revision).text
  }

  var position: MirrorPosition {
    MirrorPosition(
      epoch: Epoch(epoch), revision: Revision(revision),
      digest: Digest(digest) ?? Digest(checksum: 0, chain: 0))
  }

  func record(_ screen: (id: String, ver: UInt64)) -> String {
    #"{"id":"\#(screen.id)","ver":\#(screen.ver),"title":"Title of \#(screen.id)","route":"\#(screen.id)","args":{"n":1}}"#
  }

  func snapshot(why: String = "join") -> String {
    snapshots(of: screens.count, why: why).joined()
  }

  /// The snapshot in messages of so many screens.
  func snapshots(of size: Int, why: String = "join") -> [String] {
    let size = max(size, 1)
    let parts = Self.partNames.map { #""\#($0)":{"ver":1}"# }.joined(separator: ",")
    return stride(from: 0, to: max(screens.count, 1), by: size).map { start in
      let end = min(start + size, screens.count)
      let isLast = end == screens.count
      let list = screens[start..<end].map(record).joined(separator: ",")
      let head =
        #""nav":"\#(name)","kind":"controller","epoch":"\#(epoch)","rev":\#(revision),"i":\#(start)"#
      let tail =
        isLast ? #","# + parts + #","resolved":\#(resolved),"dig":"\#(digest)""# : ""
      return #"{\#(head),"last":\#(isLast),"why":"\#(why)","screens":[\#(list)]\#(tail)}"#
    }
  }

  var resolved: String {
    let top = screens.last?.id ?? ""
    return
      #"{"top":"\#(top)","height":44,"left":[{"back":{"text":"Home","source":"title","candidates":["Home","Back"]}}],"middle":{"title":"\#(top)"},"right":[{"button":"scan","title":"Scan","action":"wifi.scan","tintApplies":true}]}"#
  }

  /// Pushes a screen; returns the body of the diff.
  mutating func push(_ id: String) -> String {
    let at = screens.count
    revision += 1
    screens.append((id, revision))
    return diff(#"{"at":\#(at),"del":[],"ins":[\#(record((id, revision)))]}"#, event: "didPush", id)
  }

  /// Pops the top screen; returns the body of the diff.
  mutating func pop() -> String {
    let removed = screens.removeLast()
    revision += 1
    let change = #"{"at":\#(screens.count),"del":["\#(removed.id)"],"ins":[]}"#
    return diff(change, event: "didPop", removed.id)
  }

  func diff(_ change: String, event: String, _ id: String) -> String {
    #"{"nav":"\#(name)","epoch":"\#(epoch)","base":\#(revision - 1),"rev":\#(revision),"seq":1,"cause":"api","by":{"name":"t","op":1},"ch":[\#(change)],"resolved":\#(resolved),"ev":[{"\#(event)":{"screen":"\#(id)"}}],"depth":\#(screens.count),"dig":"\#(digest)"}"#
  }

  var mark: String { #"{"t":1,"at":[["\#(name)",\#(revision),"\#(digest)"]]}"# }

  func end(why: String = "closed") -> String {
    #"{"nav":"\#(name)","view":"full","epoch":"\#(epoch)","rev":\#(revision),"why":"\#(why)"}"#
  }

  func ok(_ id: UInt64, out: String = "[{}]") -> String {
    let top = screens.last.map { "\"\($0.id)\"" } ?? "null"
    return
      #"{"id":\#(id),"nav":"\#(name)","epoch":"\#(epoch)","rev":\#(revision),"changed":true,"depth":\#(screens.count),"top":\#(top),"dig":"\#(digest)","out":\#(out)}"#
  }

  func watched(_ id: UInt64, mode: String) -> String {
    #"{"id":\#(id),"nav":"\#(name)","mode":"\#(mode)","epoch":"\#(epoch)","rev":\#(revision)}"#
  }
}

/// Reads a message as a client does.
func read(_ verb: ServerVerb, _ body: String) throws -> ServerMessage {
  var reader = ServerMessageReader()
  return try reader.read(verb: verb.frame, body: Array(body.utf8))
}

struct Unexpected: Error {
  var what: String
}

func snap(_ body: String) throws -> SnapshotPart {
  guard case .snap(let part) = try read(.snap, body) else { throw Unexpected(what: body) }
  return part
}

func diff(_ body: String) throws -> Diff {
  guard case .diffs(let diffs) = try read(.diff, body), let diff = diffs.first else {
    throw Unexpected(what: body)
  }
  return diff
}

func ok(_ body: String) throws -> OkReply {
  guard case .ok(let reply) = try read(.ok, body) else { throw Unexpected(what: body) }
  return reply
}

func mark(_ body: String) throws -> Mark.Position {
  guard case .mark(let mark) = try read(.mark, body), let position = mark.positions.first else {
    throw Unexpected(what: body)
  }
  return position
}

func end(_ body: String) throws -> WatchEnd {
  guard case .end(let end) = try read(.end, body) else { throw Unexpected(what: body) }
  return end
}
