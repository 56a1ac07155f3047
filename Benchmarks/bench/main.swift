import Foundation

// Compares navd with its peers in the same run: libzmq alone, libzmq with one SQLite commit in each
// turn, and Redis. Only ratios are meaningful on a machine with other load.

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  FileHandle.standardError.write(Data((Options.usage + "\n").utf8))
  exit(2)
}

@Sendable func progress(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

/// Measures every workload on every target in turn; every other round has the targets in reverse
/// order.
func measure(_ options: Options) throws -> Results {
  let servers = try Servers(options: options)
  let runner = Runner(servers: servers)
  var results = Results()
  if !servers.has(.redis) {
    progress("redis-server is not installed (make bench-deps): redis is left out\n")
  }
  let workloads = options.workloads
  let begin = ContinuousClock.now
  for (index, workload) in workloads.enumerated() {
    let targets = workload.targets.filter(servers.has)
    let rounds = min(options.rounds, workload.mostRounds)
    progress("[\(index + 1)/\(workloads.count)] \(workload.name): \(workload.title)\n")
    for round in 0..<rounds {
      let elapsed = (ContinuousClock.now - begin).components.seconds
      progress(String(format: "%5d:%02d  %d/%d", elapsed / 60, elapsed % 60, round + 1, rounds))
      for target in round % 2 == 0 ? targets : targets.reversed() {
        run(workload, target, by: runner, into: &results)
      }
      progress("  \(Metric.named(workload.metric).unit)\n")
    }
  }
  return results
}

/// Performs one measurement; a failed run is void and does not end the others.
func run(
  _ workload: Workload, _ target: Target, by runner: Runner, into results: inout Results
) {
  do {
    let runs = try runner.run(workload, target)
    for numbers in runs { results.add(numbers, workload, target) }
    let found = runs.compactMap { $0[workload.metric] }.map(Metric.text)
    progress("  \(target.rawValue) \(found.joined(separator: " "))")
  } catch {
    Cleanup.shared.waitForEnd()
    results.addFailure("\(error)", workload, target)
    progress("  \(target.rawValue) void (\(error))")
  }
}

/// Counts instructions, and compares them with the limits file or writes it.
func countInstructions(_ options: Options, _ task: Options.InstructionsTask) throws {
  guard Programs.installed("valgrind") != nil else {
    progress("valgrind is not installed (make bench-deps): no instructions are counted\n")
    return
  }
  let counts = try Instructions(servers: try Servers(options: options)).count()
  switch task {
  case .write(let file):
    try Data(InstructionLimits.text(counts).utf8).write(to: URL(filePath: file))
  case .check(let file):
    let (table, excesses) = try InstructionLimits(file: file).compare(counts)
    print(table)
    guard excesses.isEmpty else { throw BenchError(excesses.joined(separator: "\n")) }
  }
}

/// Writes all runs, the table and the charts to a new set of files.
func write(_ results: Results, _ page: String, _ machine: Machine, _ options: Options) throws {
  let folder = URL(filePath: options.output)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  let name = "bench-\(Int(Date().timeIntervalSince1970))"
  try results.json(options.workloads, machine: machine)
    .write(to: folder.appending(path: "\(name).json"))
  try Data(page.utf8).write(to: folder.appending(path: "\(name).md"))
  for (plot, picture) in results.plots(options.workloads) {
    try Data(picture.utf8).write(to: folder.appending(path: "\(name)-\(plot).svg"))
  }
  progress("written to \(folder.appending(path: name).path)*\n")
}

do {
  Cleanup.shared.endOnSignals()
  if let task = options.instructions {
    try countInstructions(options, task)
    exit(0)
  }
  let results = try measure(options)
  let machine = Machine(directory: options.directory)
  let page = "\(machine.text)\n\(results.table(options.workloads))"
  try write(results, page, machine, options)
  print(page)
  exit(results.failures.isEmpty ? 0 : 1)
} catch {
  progress("\nbench: \(error)\n")
  exit(1)
}
