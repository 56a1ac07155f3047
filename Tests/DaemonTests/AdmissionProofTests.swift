import Testing
import ZeroMQ

@testable import NavigationDaemon

@Suite struct AdmissionProofTests {
  /// Whether somebody who proves nothing is sent away from a socket with these options.
  private func isSentAway(_ options: [SocketOption]) throws -> Bool {
    let context = try Context.make()
    let router = try context.socket(.router)
    try router.set(.linger(milliseconds: 0))
    for option in options { try router.set(option) }
    let name = "navd-test-\(UInt64.random(in: .min ... .max))"
    try router.bind("ipc://@" + name)
    return try AdmissionProof.isSentAway(from: name)
  }

  @Test func `a stranger is sent away only where nobody's answer is asked for`() throws {
    #expect(try isSentAway([.zapDomain("navd.ipc"), .zapEnforceDomain(true)]))
    // As a library would that takes the option and does nothing.
    #expect(try !isSentAway([.zapDomain("navd.ipc"), .zapEnforceDomain(false)]))
    #expect(try !isSentAway([]))
  }

  @Test func `who has no key is sent away from a socket that asks for one`() throws {
    let identity = try CurveKeyPair.generate().secretKey
    #expect(try isSentAway([.curveServer(true), .curveSecretKey(identity)]))
  }

  @Test func `libzmq as it is passes`() throws {
    try AdmissionProof.run(in: try Context.make(), nil)
    try AdmissionProof.run(in: try Context.make(), CurveKeyPair.generate().secretKey)
  }
}
