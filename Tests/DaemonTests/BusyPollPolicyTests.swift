import Testing

@testable import NavigationDaemon

@Suite struct BusyPollPolicyTests {
  private let soon: UInt64 = 60_000
  private let late: UInt64 = 1_000_000

  private func attentive() -> BusyPollPolicy {
    var busyPoll = BusyPollPolicy(processors: 2)
    for _ in 0..<30 { busyPoll.noteWait(soon) }
    return busyPoll
  }

  @Test func `nothing is looked for before messages have come soon for a while`() {
    var busyPoll = BusyPollPolicy(processors: 2)
    #expect(busyPoll.pollingLimit == 0)
    for _ in 0..<5 { busyPoll.noteWait(soon) }
    #expect(busyPoll.pollingLimit == 0)
    for _ in 0..<25 { busyPoll.noteWait(soon) }
    #expect(busyPoll.pollingLimit > 0)
    #expect(busyPoll.pollingLimit <= 100_000)
  }

  @Test func `two waits in a row that are long end it, and few short ones do not bring it back`() {
    var busyPoll = attentive()
    for _ in 0..<2 { busyPoll.noteWait(late) }
    #expect(busyPoll.pollingLimit == 0)
    busyPoll.noteWait(soon)
    #expect(busyPoll.pollingLimit == 0)
  }

  @Test func `one message in three that comes late ends it, one in twenty does not`() {
    for (period, isKept) in [(3, false), (20, true)] {
      var busyPoll = attentive()
      var looks = 0
      for step in 0..<200 {
        busyPoll.noteWait(step % period == 0 ? late : soon)
        if step >= 100, busyPoll.pollingLimit > 0 { looks += 1 }
      }
      #expect((looks >= 90) == isKept)
      #expect((looks == 0) != isKept)
    }
  }

  @Test func `an idle loop never looks, however it is woken`() {
    var busyPoll = attentive()
    var looks = 0
    for _ in 0..<100 {
      if busyPoll.pollingLimit > 0 { looks += 1 }
      busyPoll.noteWait(5_000_000_000)
    }
    #expect(looks <= 2)
  }

  @Test func `a look that took long ends it, for longer each time`() {
    var busyPoll = attentive()
    let continues = busyPoll.mustPollAgain(afterPollTaking: 3_000)
    #expect(continues)
    #expect(busyPoll.pollingLimit > 0)
    var rests: [Int] = []
    for _ in 0..<9 {
      let continues = busyPoll.mustPollAgain(afterPollTaking: 30_000)
      #expect(!continues)
      var rest = 0
      while busyPoll.pollingLimit == 0, rest < 5000 {
        busyPoll.noteWait(soon)
        rest += 1
      }
      rests.append(rest)
    }
    #expect(rests == [16, 32, 64, 128, 256, 512, 1024, 1024, 1024])
    // Looks without interruption make up for it.
    for _ in 0..<200 { busyPoll.noteWait(soon) }
    _ = busyPoll.mustPollAgain(afterPollTaking: 30_000)
    for _ in 0..<32 { busyPoll.noteWait(soon) }
    #expect(busyPoll.pollingLimit > 0)
  }

  @Test func `on one processor nothing is looked for`() {
    var busyPoll = BusyPollPolicy(processors: 1)
    for _ in 0..<100 { busyPoll.noteWait(soon) }
    #expect(busyPoll.pollingLimit == 0)
  }

  @Test func `a wait counts once, from when it began`() {
    var (timed, told) = (BusyPollPolicy(processors: 2), BusyPollPolicy(processors: 2))
    for round in 0..<100 as Range<UInt64> {
      let wait = round % 7 * 40_000
      timed.beginWait(at: round * 1_000_000)
      timed.endWait(at: round * 1_000_000 + wait)
      // Without a beginning there is nothing to count.
      timed.endWait(at: (round + 1) * 1_000_000)
      told.noteWait(wait)
      #expect(timed.pollingLimit == told.pollingLimit)
    }
  }

  @Test func `only a message that was waited for and came alone makes the next one likely alone`() {
    var policy = BusyPollPolicy(processors: 2)
    #expect(!policy.messagesArriveOneByOne)
    for (count, isAwaited) in [(1, true), (2, true), (1, true), (1, false)] {
      policy.noteReceived(count, isAwaited: isAwaited)
      #expect(policy.messagesArriveOneByOne == (count == 1 && isAwaited))
    }
  }
}
