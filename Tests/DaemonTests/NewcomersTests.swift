import NavigationSync
import Testing

@testable import NavigationDaemon

@Suite struct NewcomersTests {
  private let patience = Newcomers.patience

  @Test func `who says nothing is due once, when his time is up`() {
    var newcomers = Newcomers()
    #expect(newcomers.wakeAt == nil)
    newcomers.noteAccepted(5, at: 100)
    newcomers.noteAccepted(6, at: 200)
    #expect(newcomers.wakeAt == 100 + patience)
    #expect(newcomers.takeDue(at: 99 + patience) == [])
    #expect(newcomers.takeDue(at: 100 + patience) == [5])
    #expect(newcomers.takeDue(at: 100 + patience) == [])
    #expect(newcomers.wakeAt == 200 + patience)
    #expect(newcomers.takeDue(at: 300 + patience) == [6])
    #expect(newcomers.wakeAt == nil)
  }

  @Test func `who has spoken or left is never due`() {
    var newcomers = Newcomers()
    for descriptor: Int32 in 1...3 { newcomers.noteAccepted(descriptor, at: 0) }
    newcomers.forget(2)
    newcomers.forget(9)
    #expect(newcomers.takeDue(at: patience) == [1, 3])
  }

  @Test func `who comes behind the same descriptor has his own time`() {
    var newcomers = Newcomers()
    newcomers.noteAccepted(1, at: 0)
    newcomers.noteAccepted(1, at: 50)
    #expect(newcomers.takeDue(at: patience) == [])
    #expect(newcomers.takeDue(at: patience + 50) == [1])
  }

  @Test func `who may not be to blame is granted more, a few times`() {
    var newcomers = Newcomers()
    newcomers.noteAccepted(1, at: 0)
    var now: UInt64 = 0
    for _ in 0..<Newcomers.grants {
      now += patience
      #expect(newcomers.takeDue(at: now) == [1])
      let isGranted = newcomers.grantMore(1, at: now)
      #expect(isGranted)
    }
    #expect(newcomers.takeDue(at: now + patience) == [1])
    let isGranted = newcomers.grantMore(1, at: now + patience)
    #expect(!isGranted)
    newcomers.noteAccepted(1, at: 0)
    let isGrantedAnew = newcomers.grantMore(1, at: 0)
    #expect(isGrantedAnew)
  }

  @Test(arguments: 0..<20)
  func `those due are those who came, said nothing and stayed`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var newcomers = Newcomers()
    var model: [Int32: UInt64] = [:]
    var now: UInt64 = 0
    for _ in 0..<2000 {
      now += UInt64.random(in: 0..<400, using: &random)
      let descriptor = Int32.random(in: 0..<40, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        newcomers.noteAccepted(descriptor, at: now)
        model[descriptor] = now + patience
      case 1:
        newcomers.forget(descriptor)
        model[descriptor] = nil
      default:
        let due = model.filter { $0.value <= now }.map(\.key)
        if let first = model.values.min() { #expect(newcomers.wakeAt.map { $0 <= first } == true) }
        #expect(newcomers.takeDue(at: now).sorted() == due.sorted())
        for descriptor in due { model[descriptor] = nil }
      }
    }
  }
}
