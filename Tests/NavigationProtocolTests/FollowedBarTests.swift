import Testing

@testable import NavigationCore
@testable import NavigationHub

/// A nav whose screens and parts change at random, as a journal's rows would change them.
private struct BarWalk {
  var nav = NavigationController(revision: Revision(1))
  private var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    nav.isStandalone = below(4) == 0
  }

  private mutating func below(_ limit: UInt64) -> UInt64 { random.next() % limit }

  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list[Int(below(UInt64(list.count)))]
  }

  private func json(_ text: String) -> OpaqueJSON { OpaqueJSON(validated: Array(text.utf8)) }

  mutating func step() throws {
    nav.revision = nav.revision.next
    for _ in 0...below(2) { try change() }
  }

  private mutating func change() throws {
    switch below(14) {
    case 0...3: nav.stack.append(try screen())
    case 4...6: _ = nav.stack.popLast()
    case 7:
      guard let index = nav.stack.indices.last else { return }
      nav.stack[index].title = title()
      nav.stack[index].version = nav.revision
    case 8:
      guard !nav.stack.isEmpty else { return }
      let index = nav.stack.count - 1 - Int(below(UInt64(min(nav.stack.count, 4))))
      nav.stack[index].details = pick([ScreenDetails(), details()])
      nav.stack[index].version = nav.revision
    case 9:
      nav.presented.content.chain =
        below(2) == 0
        ? [] : [Presented(screen: try screen(), from: nil, style: pick([nil, "popover"]))]
      nav.presented.version = nav.revision
    case 10: changeBar()
    case 11:
      nav.toolbar.content.isHidden = below(2) == 0
      nav.toolbar.version = nav.revision
    case 12: changeEnvironment()
    default:
      nav.settings.content.interactivePop.isEnabled = below(2) == 0
      nav.settings.content.interactivePopWithoutBackButton = below(2) == 0
      nav.settings.content.profile.iOS = pick([14, 17])
      nav.settings.content.appearanceProxies = below(2) == 0 ? [:] : ["NavigationBar": look()]
      nav.settings.version = nav.revision
    }
  }

  private mutating func screen() throws -> Screen {
    let id = try #require(ScreenID("s\(nav.revision.number)-\(below(1_000_000))"))
    var screen = Screen(id: id, version: nav.revision)
    screen.title = title()
    if below(4) == 0 { screen.details = details() }
    return screen
  }

  private mutating func title() -> String? {
    pick([
      nil, "", "A", "Title", "Notifications", "a \"quoted\" \\ title\n", "短い", "back  ",
      String(repeating: "x", count: 128), String(repeating: "x", count: 129),
    ])
  }

  private mutating func details() -> ScreenDetails {
    var details = ScreenDetails()
    details.edges = pick([.all, [.left]])
    details.item.title = title()
    details.item.prompt = pick([nil, "Prompt"])
    details.item.largeTitleDisplayMode = pick([.automatic, .always, .never])
    details.item.hidesBackButton = below(3) == 0
    if below(3) == 0 { details.item.appearance[.standard] = json("{}") }
    if below(3) == 0 { details.item.accessibility[.label] = pick(["L", "M"]) }
    if below(3) == 0 { details.accessibility[.language] = pick(["de", "fr"]) }
    if below(3) == 0 {
      let content = ButtonContent([.set(\.title, pick(["Up", ""]))])
      details.item.backBarButtonItem = ButtonID("back").map { Button(id: $0, content: content) }
    }
    return details
  }

  private mutating func look() -> BarLook {
    var look = BarLook()
    look.barStyle = pick([nil, .black])
    look.translucent = pick([nil, true, false])
    look.titleTextAttributes.font = pick([nil, json("17")])
    if below(2) == 0 {
      look.backIndicatorImage = ImageReference(ref: "i")
      look.backIndicatorMask = ImageReference(ref: "m")
    }
    return look
  }

  private mutating func changeBar() {
    nav.bar.content = pick([Bar(), nav.bar.content])
    if below(2) == 0 { nav.bar.content.look = look() }
    nav.bar.content.prefersLargeTitles = below(2) == 0
    nav.bar.content.isHidden = below(4) == 0
    nav.bar.content.appearance[.scrollEdge] = pick([nil, nil, json("{}")])
    nav.bar.version = nav.revision
  }

  private mutating func changeEnvironment() {
    nav.environment.content = pick([Environment(), nav.environment.content])
    nav.environment.content.isVerticallyCompact = below(3) == 0
    nav.environment.content.isAtScrollEdge = below(3) == 0
    nav.environment.content.backTitleColumns = pick([nil, 4, 8])
    nav.environment.content.locale = pick(["en", "zh-Hans"])
    nav.environment.version = nav.revision
  }
}

@Suite struct FollowedBarTests {
  @Test(arguments: UInt64(1)...24)
  func `whatever changes, it tells whether the bytes do`(seed: UInt64) throws {
    var walk = BarWalk(seed: seed)
    var followed = FollowedBar()
    var json = JSONWriter()
    followed.follow(walk.nav)
    var changes = 0
    for step in 0..<400 {
      let before = walk.nav.encodedBar
      let note: Comment = "seed \(seed) step \(step)"
      #expect(followed.isRight(for: walk.nav), note)
      try walk.step()
      json.removeAll()
      json.beginArray()
      let isNew = followed.write(walk.nav, &json)
      json.endArray()
      let text = String(decoding: walk.nav.encodedBar, as: UTF8.self)
      #expect(String(decoding: json.bytes, as: UTF8.self) == "[\(text)]", note)
      #expect(isNew == (walk.nav.encodedBar != before), note)
      followed.follow(walk.nav)
      if isNew { changes += 1 }
    }
    #expect(changes > 100 && changes < 400, "\(changes) changes")
  }

  @Test func `a bar that has not followed a change is not right`() throws {
    var nav = NavigationController(revision: Revision(1))
    nav.stack.append(Screen(id: try #require(ScreenID("a")), version: Revision(1)))
    var followed = FollowedBar()
    followed.follow(nav)
    #expect(followed.isRight(for: nav))
    nav.stack[0].title = "Another"
    #expect(!followed.isRight(for: nav))
    nav.revision = Revision(2)
    followed.follow(nav)
    #expect(followed.isRight(for: nav))
  }
}

@Suite struct LineChecksumTests {
  @Test func `lines have the checksum of their bytes, behind any others`() {
    var random = SeededGenerator(seed: 3)
    for length in 0..<80 {
      let name = String(repeating: "n", count: length)
      let version = random.next() >> (random.next() % 64)
      let before = (0..<random.next() % 90).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let seed = crc32(before)
      var first = LineChecksum(hasPrecedingLine: false)
      first.append(name.utf8.span, version)
      #expect(first.checksum == crc32(Array("\(name)@\(version)".utf8)))
      first.append(name.utf8.span, 0)
      let both = Array("\(name)@\(version)\n\(name)@0".utf8)
      #expect(first.checksum == crc32(both))
      #expect(first.checksum(after: seed) == crc32(before + both))
      var next = LineChecksum(hasPrecedingLine: true, from: seed)
      next.append(name.utf8.span, version)
      #expect(next.checksum == crc32(before + Array("\n\(name)@\(version)".utf8)))
    }
  }
}
