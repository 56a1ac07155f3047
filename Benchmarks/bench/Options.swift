/// What the command line says.
struct Options {
  var isQuick = false
  var repetitions: Int?
  var only: Set<String> = []
  /// Where the results go.
  var output = "bench-results"
  /// Where the journals are; the disk that it is on is part of what is measured.
  var directory = "/tmp"

  static let usage = """
    usage: bench [--quick] [--reps N] [--only w1,w2a,...] [--out DIR] [--dir DIR]
    """

  /// Reads the arguments; nil if they cannot be understood.
  init?(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
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
      default: return nil
      }
    }
    let names = Set(Workload.all(isQuick: false).map(\.name))
    guard only.isSubset(of: names) else { return nil }
  }

  /// How often each pair of workload and target is measured.
  var rounds: Int { repetitions ?? (isQuick ? 3 : 5) }

  var workloads: [Workload] {
    Workload.all(isQuick: isQuick).filter { workload in
      if !only.isEmpty { return only.contains(workload.name) }
      return workload.weight == .light || workload.weight == .heavy && !isQuick
    }
  }
}
