import Foundation
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import NavigationDaemon

@Suite struct ServingConfigurationTests {
  private let rules = PathRules(environment: ProcessEnvironment([:]), userID: getuid())

  private func serving(
    _ configuration: Configuration = Configuration(), file: String? = nil
  ) -> ServingConfiguration {
    ServingConfiguration(configuration, from: ConfigurationSources(file: file), rules: rules)
  }

  private func refusal(
    _ serving: ServingConfiguration, _ new: Configuration, _ faults: [ConfigurationError] = []
  ) -> ServingConfiguration.Refusal? {
    do throws(ServingConfiguration.Refusal) {
      try serving.check(new, faults)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a fault is the reason, and the others come after it`() {
    let faults = ["one", "two", "three"].map { ConfigurationError(file: "f", message: $0) }
    let refusal = refusal(serving(), Configuration(), faults)
    #expect(refusal?.reason == "f: one")
    #expect(refusal?.otherReasons == ["f: two", "f: three"])
  }

  @Test func `a value that needs a restart is refused, with both values`() {
    var new = Configuration()
    new.daemon.stateDirectory = "/elsewhere"
    let refusal = refusal(serving(), new)
    #expect(
      refusal?.reason
        == "[daemon] state is (empty) and would be /elsewhere, which needs a restart")
    #expect(refusal?.otherReasons == [])
  }

  @Test func `the longest message may change up to that of the start, whatever is in use`() {
    var first = Configuration()
    first.hub.maximumRequestBytes = 50_000
    var serving = serving(first)
    for (bytes, isRefused) in [(20_000, false), (50_000, false), (50_001, true), (9000, false)] {
      var new = first
      new.hub.maximumRequestBytes = bytes
      let refusal = refusal(serving, new)
      #expect((refusal != nil) == isRefused, "\(bytes)")
      if refusal == nil {
        var loaded = serving.loaded
        loaded.configuration = new
        serving.loaded = loaded
      }
    }
    #expect(serving.current.hub.maximumRequestBytes == 9000)
  }

  @Test func `what the sources say is a candidate, and is in use when it is put to use`() throws {
    try withTemporaryDirectory { root in
      let file = root + "/navd.conf"
      func write(_ text: String) throws {
        try text.write(toFile: file, atomically: false, encoding: .utf8)
      }
      try write("[limits]\ndepth = 7\n")
      var serving = serving(
        try ConfigurationSources(file: file).load().configuration, file: file)
      try write("[limits]\ndepth = 9\n[access]\nrole = operator uid:5\n")
      let candidate = try serving.examine()
      #expect(candidate.loaded.configuration.hub.nav.stackDepth == 9)
      #expect(candidate.access.access.roles.map(\.role.name) == ["operator"])
      #expect(serving.current.hub.nav.stackDepth == 7)
      serving.loaded = candidate.loaded
      #expect(serving.current.hub.nav.stackDepth == 9)

      try write("[limits]\ndepth = none\nnavs = none\n")
      let error = #expect(throws: ServingConfiguration.Refusal.self) { try serving.examine() }
      #expect(error?.reason.hasPrefix(file + ":2: ") == true)
      #expect(error?.otherReasons.count == 1)
      try write("[access]\nrole = operator user:no-such-user-here\n")
      let unknown = try serving.examine()
      #expect(Daemon.warnings(about: unknown.loaded).count == 1)
      #expect(serving.current.hub.nav.stackDepth == 9)
    }
  }
}
