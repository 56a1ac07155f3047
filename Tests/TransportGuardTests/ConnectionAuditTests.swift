import Testing

@testable import TransportGuard

@Suite struct ConnectionAuditTests {
  private typealias Differences = ConnectionAudit.Differences
  private let age = ConnectionAudit.minimumAge

  @Test func `a difference is reported once, when it is too old`() {
    var audit = ConnectionAudit()
    #expect(audit.dueAt == nil)
    audit.noteChange(at: 10)
    audit.noteChange(at: 500)
    #expect(audit.dueAt == 10 + age)
    #expect(audit.compare(counted: [1, 2, 3], open: [2, 4], at: 100) == Differences())
    #expect(audit.dueAt == 100 + age)
    #expect(audit.compare(counted: [1, 2, 3], open: [2, 4], at: 99 + age) == Differences())
    #expect(
      audit.compare(counted: [1, 2, 3], open: [2, 4], at: 100 + age)
        == Differences(onlyCounted: [1, 3], onlyOpen: [4]))
    #expect(audit.dueAt == nil)
    #expect(audit.compare(counted: [1, 2, 3], open: [2, 4], at: 200 + age) == Differences())
  }

  @Test func `clients are answered by a comparison that is a second old at most`() {
    var audit = ConnectionAudit()
    #expect(audit.isStale(at: 5))
    _ = audit.compare(counted: [], open: [], at: 5)
    #expect(!audit.isStale(at: 1004))
    #expect(audit.isStale(at: 1005))
  }

  @Test func `what is only on its way does not count`() {
    var audit = ConnectionAudit()
    #expect(audit.compare(counted: [1], open: [], at: 0) == Differences())
    #expect(audit.compare(counted: [1], open: [1], at: 1) == Differences())
    #expect(audit.dueAt == nil)
    // Another one later is another difference.
    #expect(audit.compare(counted: [1], open: [], at: age) == Differences())
    #expect(audit.compare(counted: [1], open: [], at: 2 * age).onlyCounted == [1])
  }
}
