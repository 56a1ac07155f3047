@testable import NavigationCore
import Testing

@Suite struct HubSmokeTests {
  @Test func `a session creates a nav, watches it, pushes and pops`() throws {
    let world = World()
    let client = try world.kiosk()
    var mirror = Mirror()
    for message in try client.watch() { try mirror.apply(message) }
    #expect(mirror.ids == ["home"])
    for op in [#"{"push":{"screen":{"id":"wifi","title":"Wi-Fi"}}}"#, #"{"popToRoot":{}}"#] {
      for message in try client.send("op", client.opBody(op)) { try mirror.apply(message) }
      #expect(mirror.digest == (try world.entry("kiosk").digest.text))
    }
    #expect(mirror.ids == ["home"])
    #expect(mirror.revision == 3)
  }
}
