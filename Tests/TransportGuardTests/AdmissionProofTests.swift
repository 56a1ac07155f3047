import Testing
import ZeroMQ

@testable import TransportGuard

@Suite struct AdmissionProofTests {
  /// Whether a stranger is turned down by a socket with these options, while nobody answers for it.
  private func isRefused(
    _ options: [SocketOption], _ identity: CurveSecretKey? = nil, stranger: CurveKeyPair? = nil
  ) throws -> Bool {
    let context = try Context()
    let router = try context.socket(.router)
    for option in options { try router.set(option) }
    return try AdmissionProof.isRefused(
      by: router, in: context, identity, stranger: stranger)
  }

  @Test func `a library that takes the option and does nothing is found out`() throws {
    #expect(try isRefused([.zapDomain("navd.ipc"), .zapEnforceDomain(true)]))
    #expect(try !isRefused([.zapDomain("navd.ipc"), .zapEnforceDomain(false)]))
    #expect(try !isRefused([]))
  }

  @Test func `so it is where a key is asked for, which any would do`() throws {
    let identity = try CurveKeyPair.generate().secretKey
    let stranger = try CurveKeyPair.generate()
    let curve: [SocketOption] = [.curveServer(true), .curveSecretKey(identity)]
    let enforced = curve + [.zapDomain("navd.tcp"), .zapEnforceDomain(true)]
    #expect(try isRefused(enforced, identity, stranger: stranger))
    #expect(try !isRefused(curve, identity, stranger: stranger))
    // Who has none is turned down by CURVE itself.
    #expect(try isRefused(curve, identity))
  }

  @Test func `libzmq as it is passes`() throws {
    try AdmissionProof.run(in: try Context(), nil)
    try AdmissionProof.run(in: try Context(), CurveKeyPair.generate().secretKey)
  }
}
