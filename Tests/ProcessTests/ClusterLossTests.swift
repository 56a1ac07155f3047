import Foundation
import NavigationCore
import PostgresServer
import Testing

/// Three daemons and a pair of servers lose each of these in turn, while clients use navs of all
/// daemons; each answer must fit into one order of all changes.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ClusterLossTests {
  /// Plays 300 rounds with NAVD_TEST_LONG=1, or NAVD_TEST_ROUNDS; NAVD_TEST_SEED repeats the choices
  /// of a run.
  @Test func `no loss of a daemon, a server or the network loses, doubles or reorders anything`()
    throws
  {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["NAVD_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    let count =
      environment["NAVD_TEST_ROUNDS"].flatMap { Int($0) }
      ?? (environment["NAVD_TEST_LONG"] == nil ? 10 : 300)
    var random = SeededGenerator(seed: seed)
    let rounds = Loss.rounds(
      count, withNetwork: ClusterNetwork.isPossible, using: &random)
    let scene = try LossScene(hasNetwork: ClusterNetwork.isPossible)
    for (round, loss) in rounds.enumerated() {
      let begin = Date()
      let note = "seed \(seed), round \(round), \(loss)"
      do {
        for violation in try scene.play(round: round, loss, seed: seed) {
          Issue.record("\(note): \(violation)")
        }
      } catch {
        Issue.record("\(note): \(error)\n\(scene.transcripts)")
        return
      }
      if environment["NAVD_TEST_VERBOSE"] != nil {
        print("\(note): \(Int(begin.timeIntervalSinceNow * -1000)) ms")
      }
    }
  }

  @Test func `ten rounds have each kind of loss`() {
    for seed in 0..<50 {
      var random = SeededGenerator(seed: UInt64(seed))
      let rounds = Loss.rounds(10, withNetwork: true, using: &random)
      #expect(Set(rounds) == Set(Loss.allCases))
    }
  }
}
