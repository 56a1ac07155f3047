/// The options of the command line.
struct Options {
  var isQuick = false
  var repetitions: Int?
  var only: Set<String> = []
  /// The directory of the results.
  var output = "bench-results"
  /// The directory of the journals; its disk is part of the measurement.
  var directory = "/tmp"
  /// The task for counted instructions; nil to measure workloads.
  var instructions: InstructionsTask?

  /// A limits file, and whether to check it or write it.
  enum InstructionsTask {
    case check(file: String)
    case write(file: String)
  }

  static let usage = """
    usage: bench [--quick] [--reps N] [--only w1,w2a,...] [--out DIR] [--dir DIR]
           bench instructions --check FILE | --write FILE [--dir DIR]
    workloads: \(Workload.all(isQuick: false).map(\.name).joined(separator: " "))
    """

  /// Reads the arguments; nil if they are wrong.
  init?(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    let isCounting = rest.first == "instructions"
    if isCounting { rest.removeFirst() }
    while let name = rest.popFirst() {
      if name == "--quick" {
        isQuick = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch name {
      case "--reps":
        guard let number = Int(value), number > 0 else { return nil }
        repetitions = number
      case "--only": only = Set(value.split(separator: ",").map(String.init))
      case "--out": output = value
      case "--dir": directory = value
      case "--check" where isCounting: instructions = .check(file: value)
      case "--write" where isCounting: instructions = .write(file: value)
      default: return nil
      }
    }
    let names = Set(Workload.all(isQuick: false).map(\.name))
    guard only.isSubset(of: names), isCounting == (instructions != nil) else { return nil }
  }

  /// The number of runs for each pair of workload and target.
  var rounds: Int { repetitions ?? (isQuick ? 3 : 5) }

  var workloads: [Workload] {
    Workload.all(isQuick: isQuick).filter { workload in
      if !only.isEmpty { return only.contains(workload.name) }
      return workload.weight == .light || workload.weight == .heavy && !isQuick
    }
  }
}
