import Foundation
import Testing

extension ProcessTests {
  /// `navctl watch` for scripts, which come and go.
  @Suite struct NavctlWatchTests {
    @Test func `a watch that ends at the present revision prints what is missing up to there`()
      throws
    {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      func catchUp(_ more: String...) throws -> [JSON] {
        let words = ["watch", "kiosk", "--until-current", "-o", "json", "--timeout", "30s"] + more
        let (status, output, errors) = try daemon.navctl(words)
        #expect(status == 0, "\(errors)")
        return try output.split(separator: "\n").map { try JSON(String($0)) }
      }
      let first = try catchUp()
      #expect(first.count == 1)
      let state = try #require(first.first?["state"])
      #expect(state["screens"]?.ids == ["home"])
      let now = try Peer(daemon.endpoint).state("kiosk")["value"]
      let position =
        "\(now?["epoch"]?.string ?? ""):\(now?["rev"]?.integer ?? 0):\(now?["dig"]?.string ?? "")"
      #expect(try catchUp("--from", position).isEmpty)
      for id in ["wifi", "dns"] {
        #expect(try daemon.navctl(["push", "kiosk", id, "--new"]).status == 0)
      }
      let diffs = try catchUp("--from", position)
      let revision = state["rev"]?.integer ?? 0
      #expect(diffs.map { $0["rev"]?.integer } == [revision + 1, revision + 2])
      #expect(try catchUp("--from", position, "--count", "1").count == 1)
      for view in ["bar", "top"] { #expect(try catchUp("--view", view).count == 1) }
      let wrong = try daemon.navctl(["watch", "kiosk", "--until-current", "--wait"])
      #expect(wrong.status == 2 && wrong.errors.contains("--wait"))
      #expect(try daemon.navctl(["watch", "nobody", "--until-current"]).status == 6)
    }
  }
}
