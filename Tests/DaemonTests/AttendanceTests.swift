import Testing

@testable import NavigationDaemon

@Suite struct AttendanceTests {
  private let one = Attendance.Process(user: 1000, number: 11)
  private let two = Attendance.Process(user: 1000, number: 12)

  @Test func `half-open connections are not counted as let in`() {
    var attendance = Attendance()
    for descriptor in 10..<20 as Range<Int32> {
      attendance.noteAccepted(one, behind: descriptor)
    }
    #expect(attendance.open(of: 1000) == 10 && attendance.admitted(of: 1000) == 0)
    attendance.noteAdmitted(one)
    attendance.noteAdmitted(one)
    for descriptor in 10..<18 as Range<Int32> { attendance.noteEnded(descriptor) }
    #expect(attendance.open(of: 1000) == 2 && attendance.admitted(of: 1000) == 2)
  }

  @Test func `what ends is taken off, and nothing is kept of who is gone`() {
    var attendance = Attendance()
    attendance.noteAccepted(one, behind: 3)
    attendance.noteAdmitted(one)
    attendance.noteAccepted(two, behind: 4)
    attendance.noteAdmitted(two)
    #expect(attendance.admitted(of: 1000) == 2)
    attendance.noteEnded(3)
    attendance.noteEnded(3)
    #expect(attendance.admitted(of: 1000) == 1 && attendance.open(of: 1000) == 1)
    attendance.noteEnded(4)
    #expect(attendance.admitted(of: 1000) == 0 && attendance.open(of: 1000) == 0)
    #expect(attendance.admitted(of: 0) == 0)
  }

  @Test func `a descriptor whose end was not told belongs to who has it now`() {
    var attendance = Attendance()
    attendance.noteAccepted(one, behind: 3)
    attendance.noteAdmitted(one)
    attendance.noteAccepted(Attendance.Process(user: 5, number: 9), behind: 3)
    #expect(attendance.open(of: 1000) == 0 && attendance.admitted(of: 1000) == 0)
    #expect(attendance.open(of: 5) == 1)
  }

  @Test func `who has gone before he was answered is not counted`() {
    var attendance = Attendance()
    attendance.noteAccepted(one, behind: 3)
    attendance.noteEnded(3)
    attendance.noteAdmitted(one)
    #expect(attendance.admitted(of: 1000) == 0)
    attendance.noteAccepted(one, behind: 3)
    attendance.noteAdmitted(one)
    attendance.noteAdmitted(one)
    #expect(attendance.admitted(of: 1000) == 1)
  }
}
