import Testing

@testable import NavigationDaemon

@Suite struct VigilTests {
  private let soon: UInt64 = 60_000
  private let late: UInt64 = 1_000_000

  private func attentive() -> Vigil {
    var vigil = Vigil(processors: 2)
    for _ in 0..<30 { vigil.noteWait(soon) }
    return vigil
  }

  @Test func `nothing is looked for before messages have come soon for a while`() {
    var vigil = Vigil(processors: 2)
    #expect(vigil.limit == 0)
    for _ in 0..<5 { vigil.noteWait(soon) }
    #expect(vigil.limit == 0)
    for _ in 0..<25 { vigil.noteWait(soon) }
    #expect(vigil.limit > 0)
    #expect(vigil.limit <= 100_000)
  }

  @Test func `two waits in a row that are long end it, and few short ones do not bring it back`() {
    var vigil = attentive()
    for _ in 0..<2 { vigil.noteWait(late) }
    #expect(vigil.limit == 0)
    vigil.noteWait(soon)
    #expect(vigil.limit == 0)
  }

  @Test func `one message in three that comes late ends it, one in twenty does not`() {
    for (period, isKept) in [(3, false), (20, true)] {
      var vigil = attentive()
      var looks = 0
      for step in 0..<200 {
        vigil.noteWait(step % period == 0 ? late : soon)
        if step >= 100, vigil.limit > 0 { looks += 1 }
      }
      #expect((looks >= 90) == isKept)
      #expect((looks == 0) != isKept)
    }
  }

  @Test func `an idle loop never looks, however it is woken`() {
    var vigil = attentive()
    var looks = 0
    for _ in 0..<100 {
      if vigil.limit > 0 { looks += 1 }
      vigil.noteWait(5_000_000_000)
    }
    #expect(looks <= 2)
  }

  @Test func `a look that took long ends it, for longer each time`() {
    var vigil = attentive()
    let goesOn = vigil.goesOn(afterLook: 3_000)
    #expect(goesOn)
    #expect(vigil.limit > 0)
    var rests: [Int] = []
    for _ in 0..<9 {
      let goesOn = vigil.goesOn(afterLook: 30_000)
      #expect(!goesOn)
      var rest = 0
      while vigil.limit == 0, rest < 5000 {
        vigil.noteWait(soon)
        rest += 1
      }
      rests.append(rest)
    }
    #expect(rests == [16, 32, 64, 128, 256, 512, 1024, 1024, 1024])
    // Looks without interruption make up for it.
    for _ in 0..<200 { vigil.noteWait(soon) }
    _ = vigil.goesOn(afterLook: 30_000)
    for _ in 0..<32 { vigil.noteWait(soon) }
    #expect(vigil.limit > 0)
  }

  @Test func `on one processor nothing is looked for`() {
    var vigil = Vigil(processors: 1)
    for _ in 0..<100 { vigil.noteWait(soon) }
    #expect(vigil.limit == 0)
  }
}
