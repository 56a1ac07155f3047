import Foundation

/// A stage in the processing of an operation, and the functions that perform it.
enum Stage: String, CaseIterable {
  case receive, decode, decide, encode, journal, send

  /// Substrings of mangled function names.
  ///
  /// The instructions of these functions are the stage's count.
  var functions: [String] {
    switch self {
    case .receive: ["10ServerLoopV11takeMessage"]
    case .decode: ["19ClientMessageReaderV6decode"]
    case .decide: ["13NavigationHub0B0V6handle_2at"]
    // The client's answer is encoded inline in the function that decides, so it counts there.
    case .encode: ["12DiffEnvelopeV6encode", "11ChangedBodyO5write"]
    case .journal: ["13JournalWriterC3run"]
    case .send: ["13GuardedRouterV4send"]
    }
  }

  /// Stages nested in this one.
  ///
  /// Their instructions are subtracted from its count.
  var inner: [Stage] {
    switch self {
    case .receive: [.decode]
    case .decide: [.encode]
    default: []
    }
  }
}

/// Counts the instructions that navd executes for one operation; other load on the machine does not
/// change them.
///
/// For each count navd runs twice under callgrind, with 1,000 and with 4,000 operations. The
/// difference excludes the instructions of its start and its end.
struct Instructions {
  let servers: Servers
  private static let few = 1000, more = 4000

  /// Counts the instructions of one operation by stage; `rest` is everything else.
  ///
  /// It returns medians of three counts, because the number of operations in one commit varies from
  /// run to run.
  func count() throws -> [String: Int] {
    let counts = try (0..<3).map { _ in try countOnce() }
    var medians: [String: Int] = [:]
    for name in counts[0].keys { medians[name] = counts.map { $0[name, default: 0] }.sorted()[1] }
    return medians
  }

  private func countOnce() throws -> [String: Int] {
    let first = try profile(operations: Self.few)
    let second = try profile(operations: Self.more)
    func perOperation(_ function: String) throws -> Int {
      guard let begin = first.cost(of: function), let end = second.cost(of: function) else {
        throw BenchError("no function is called \(function): correct the stages")
      }
      return (end - begin) / (Self.more - Self.few)
    }
    var whole: [Stage: Int] = [:]
    for stage in Stage.allCases {
      whole[stage] = try stage.functions.map(perOperation).reduce(0, +)
    }
    var counts: [String: Int] = [:]
    for stage in Stage.allCases {
      counts[stage.rawValue] = stage.inner.reduce(whole[stage, default: 0]) {
        $0 - whole[$1, default: 0]
      }
    }
    let all = try perOperation("PROGRAM TOTALS")
    counts["rest"] = all - counts.values.reduce(0, +)
    return counts
  }

  private func profile(operations: Int) throws -> Profile {
    guard let valgrind = Programs.installed("valgrind"),
      let annotate = Programs.installed("callgrind_annotate")
    else { throw BenchError("valgrind is not installed") }
    let folder = servers.root.appending(path: "navd-count-\(UInt32.random(in: .min ... .max))")
    try Cleanup.shared.add(directory: folder)
    defer {
      try? FileManager.default.removeItem(at: folder)
      Cleanup.shared.remove(directory: folder)
    }
    let file = folder.appending(path: "out").path
    var setup = Setup()
    setup.wrapper = [valgrind, "--tool=callgrind", "--callgrind-out-file=\(file)"]
    _ = try servers.serving(.navd, setup) { server in
      try servers.programs.numbers(
        of: "bench-load",
        [
          "run", "endpoint=\(server.endpoint)", "window=64", "navs=16", "warm=500",
          "ops=\(operations)",
        ])
    }
    let text = try servers.programs.text(
      of: annotate, ["--auto=no", "--inclusive=yes", "--threshold=100", file])
    return Profile(text: text)
  }
}

/// The output of callgrind_annotate.
struct Profile {
  private let lines: [(cost: Int, name: Substring)]

  init(text: String) {
    lines = text.split(separator: "\n").compactMap { line in
      // 12,345 (67.89%)  file:function [object]
      let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard words.count == 2, let cost = Int(words[0].filter { $0 != "," }) else { return nil }
      return (cost, words[1])
    }
  }

  /// The instructions of a function with everything that it calls; nil if no function has this
  /// name.
  func cost(of function: String) -> Int? {
    lines.filter { $0.name.contains(function) }.map(\.cost).max()
  }
}

/// The limits of the instructions for each stage.
struct InstructionLimits {
  private var limits: [String: Int] = [:]

  init(file: String) throws {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count == 2, let limit = Int(words[1]), Stage(rawValue: String(words[0])) != nil
      else { throw BenchError("\(file): a stage and a number expected: \(line)") }
      limits[String(words[0])] = limit
    }
    for stage in Stage.allCases where limits[stage.rawValue] == nil {
      throw BenchError("\(file): no limit for \(stage.rawValue)")
    }
  }

  /// Compares counts with the limits; returns a table in Markdown, and the stages more than 5 %
  /// above their limits.
  func compare(_ counts: [String: Int]) -> (table: String, excesses: [String]) {
    var lines = ["| stage | instructions | limit |", "| --- | ---: | ---: |"]
    var excesses: [String] = []
    for name in Stage.allCases.map(\.rawValue) + ["rest"] {
      let count = counts[name, default: 0]
      lines.append("| \(name) | \(count) | \(limits[name].map(String.init) ?? "") |")
      if let limit = limits[name], count * 100 > limit * 105 {
        excesses.append("\(name) takes \(count) instructions, more than \(limit) and 5 %")
      }
    }
    lines.append("| all | \(counts.values.reduce(0, +)) | |")
    return (lines.joined(separator: "\n"), excesses)
  }

  /// The contents of a limits file for these counts.
  static func text(_ counts: [String: Int]) -> String {
    let head = """
      # Instructions of navd for one operation, by stage: the limits of `make bench-instructions`,
      # which fails when one is exceeded by more than 5 %. `bench instructions --write FILE` counts
      # them anew; a change that raises one says why.

      """
    return head
      + Stage.allCases.map { "\($0.rawValue) \(counts[$0.rawValue, default: 0])\n" }.joined()
  }
}
