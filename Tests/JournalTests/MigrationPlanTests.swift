import Testing

@testable import Journal

/// The steps from the format of a journal to that of this version.
@Suite struct MigrationPlanTests {
  private typealias Step = MigrationPlan.Step
  private static let known = [
    Step(from: 3, to: 4, summary: "adds a column", spacePercent: 0, bytesPerSecond: 1_000_000),
    Step(
      from: 4, to: 5, summary: "writes every row anew", spacePercent: 110, bytesPerSecond: 500_000),
  ]

  private static func plan(_ found: Int64?, wanted: Int64 = 5) throws(JournalError) -> MigrationPlan
  {
    try MigrationPlan(path: "/j", found: found, bytes: 10_000_000, known: known, wanted: wanted)
  }

  @Test func `the steps lead from the format found to the one wanted, and no further`() throws {
    #expect(try Self.plan(3).steps == Self.known)
    #expect(try Self.plan(4).steps == [Self.known[1]])
    #expect(try Self.plan(3, wanted: 4).steps == [Self.known[0]])
    for found in [5, nil] as [Int64?] {
      let plan = try Self.plan(found)
      #expect(plan.steps.isEmpty && plan.neededBytes == 0 && plan.neededMilliseconds == 0)
    }
  }

  @Test func `the space is that of the largest step, the time that of all`() throws {
    let plan = try Self.plan(3)
    #expect(plan.neededBytes == 11_000_000)
    #expect(plan.neededMilliseconds == 10_000 + 20_000)
  }

  @Test func `a newer format is refused, and one that no step leaves`() throws {
    #expect(throws: JournalError.newer(path: "/j", found: 6, supported: 5)) { try Self.plan(6) }
    #expect(throws: JournalError.older(path: "/j", found: 2, supported: 3)) { try Self.plan(2) }
  }

  @Test func `this version reads one format, and has no steps`() throws {
    #expect(MigrationPlan.writtenFormat == 7 && MigrationPlan.knownSteps.isEmpty)
    #expect(try MigrationPlan(path: "/j", found: 7, bytes: 1).steps.isEmpty)
    #expect(throws: JournalError.older(path: "/j", found: 6, supported: 7)) {
      try MigrationPlan(path: "/j", found: 6, bytes: 1)
    }
  }
}
