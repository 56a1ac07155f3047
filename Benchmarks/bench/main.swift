import Foundation

// Measures navd beside its peers in the same run, because only ratios mean anything on a machine
// that does other things too: libzmq alone, libzmq with one SQLite commit for each turn, and Redis.

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  FileHandle.standardError.write(Data((Options.usage + "\n").utf8))
  exit(2)
}

func progress(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

/// Measures every workload on every target in turn, forth and back.
func measure(_ options: Options) throws -> Results {
  let servers = Servers(options: options)
  let runner = Runner(servers: servers)
  var results = Results()
  if !servers.has(.redis) {
    progress("redis-server is not installed (make bench-deps): redis is left out\n")
  }
  for workload in options.workloads {
    let targets = workload.targets.filter(servers.has)
    for round in 0..<options.rounds {
      progress("\(workload.name) \(round + 1)/\(options.rounds):")
      for target in round % 2 == 0 ? targets : targets.reversed() {
        let numbers = try runner.run(workload, target)
        results.add(numbers, workload, target)
        progress(" \(target.rawValue) \(numbers[workload.metric] ?? 0)")
      }
      progress("\n")
    }
  }
  return results
}

func machine() -> [String: String] {
  let information = ProcessInfo.processInfo
  return [
    "system": information.operatingSystemVersionString,
    "processors": "\(information.processorCount)",
    "time": ISO8601DateFormatter().string(from: Date()),
  ]
}

/// Counts instructions and compares them with the limits, or makes them the limits.
func countInstructions(_ options: Options, _ task: Options.InstructionsTask) throws {
  guard Programs.installed("valgrind") != nil else {
    progress("valgrind is not installed (make bench-deps): no instructions are counted\n")
    return
  }
  let counts = try Instructions(servers: Servers(options: options)).count()
  switch task {
  case .write(let file):
    try Data(InstructionLimits.text(counts).utf8).write(to: URL(filePath: file))
  case .check(let file):
    let (table, excesses) = try InstructionLimits(file: file).compare(counts)
    print(table)
    guard excesses.isEmpty else { throw BenchError(excesses.joined(separator: "\n")) }
  }
}

do {
  if let task = options.instructions {
    try countInstructions(options, task)
    exit(0)
  }
  let results = try measure(options)
  print(results.table(options.workloads))
  let folder = URL(filePath: options.output)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  let stamp = Int(Date().timeIntervalSince1970)
  let file = folder.appending(path: "bench-\(stamp).json")
  try results.json(options.workloads, machine: machine()).write(to: file)
  progress("written to \(file.path)\n")
} catch {
  progress("\nbench: \(error)\n")
  exit(1)
}
