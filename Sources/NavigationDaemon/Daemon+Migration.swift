import Journal
import RuntimePaths

extension Daemon {
  /// Reports what a start would change in the format of the journal, and changes no file itself.
  ///
  /// The status is `migrationDue` if a start would change the format. An error means that this
  /// version cannot use the journal.
  static func migrationPlan(
    _ configuration: Configuration, rules: PathRules
  ) throws -> (lines: [String], status: ExitStatus) {
    let directory = try configuration.daemon.stateDirectory ?? rules.stateDirectory()
    let plan = try MigrationPlan.read(directory: directory)
    return (lines(plan, DiskSpace.probe(directory)), plan.steps.isEmpty ? .orderly : .migrationDue)
  }

  static func lines(_ plan: MigrationPlan, _ space: DiskSpace?) -> [String] {
    let found = plan.foundFormat.map { "format \($0), \(plan.bytes) bytes" } ?? "no journal yet"
    var lines = ["journal   \(plan.path)", "found     \(found)"]
    if let holder = plan.holder { lines.append("in use    by \(holder)") }
    lines.append("wanted    format \(MigrationPlan.writtenFormat)")
    guard !plan.steps.isEmpty else {
      let what =
        plan.foundFormat == nil
        ? "none: the first start makes the journal" : "none: there is nothing to do"
      return lines + ["steps     \(what)"]
    }
    for step in plan.steps {
      lines.append("step      format \(step.from) to \(step.to): \(step.summary)")
    }
    let free = space.map { ", \($0.free) are free" } ?? ""
    lines.append("space     \(plan.neededBytes) bytes\(free)")
    lines.append("time      about \((plan.neededMilliseconds + 999) / 1000) s")
    lines.append("do        navctl backup, then start navd of this version")
    return lines
  }
}
