import Glibc
import NavigationCore
import RuntimePaths

/// What one fuzzer does with one input.
///
/// A target ends the process where a law does not hold, which libFuzzer reports as a crash.
package protocol FuzzTarget: SendableMetatype {
  init()

  /// Handles one input; what it keeps must not change what the next input leads to.
  mutating func run(_ input: Span<UInt8>)
}

/// libFuzzer's own main function, in the library that `-sanitize=fuzzer` links.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// The fuzzer runs its inputs on one thread.
/// The target that runs, once it was chosen.
nonisolated(unsafe) private var running: (any FuzzTarget)?

/// Runs the target that `NAVD_FUZZ_TARGET` names, with libFuzzer's arguments.
///
/// A variable names it and no argument: libFuzzer starts the program again to merge a corpus.
package func runFuzzer(_ targets: [String: any FuzzTarget.Type]) -> Never {
  let name = ProcessEnvironment.current()["NAVD_FUZZ_TARGET"] ?? ""
  guard let target = targets[name] else {
    let names = targets.keys.sorted().joined(separator: ", ")
    report("NAVD_FUZZ_TARGET is one of \(names), not '\(name)'")
    exit(2)
  }
  unsafe running = target.init()
  var count = CommandLine.argc
  var arguments = unsafe CommandLine.unsafeArgv
  exit(
    unsafe runDriver(&count, &arguments) { start, count in
      unsafe running?.run(Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count)))
      return 0
    })
}

/// Ends the process with a reason unless a law holds.
package func demand(_ holds: Bool, _ reason: @autoclosure () -> String) {
  if !holds { fail(reason()) }
}

/// Ends the process; the text is on stderr even where the optimiser drops that of a trap.
package func fail(_ reason: String) -> Never {
  report("law broken: \(reason)")
  abort()
}

/// Writes a line to stderr.
private func report(_ line: String) {
  let octets = Array((line + "\n").utf8)
  _ = unsafe write(STDERR_FILENO, octets, octets.count)
}

// The fuzzer runs its inputs on one thread.
/// A sum of results, which keeps the optimiser from removing what computes them.
nonisolated(unsafe) private var observed: UInt64 = 0

/// Uses a result.
// Never inlined: its callers' results must be computed.
@inline(never)
package func observe(_ result: some BinaryInteger) {
  unsafe observed = unsafe observed &* 31 &+ UInt64(truncatingIfNeeded: result)
}

extension Span<UInt8> {
  /// The octets as an array.
  package var octets: [UInt8] { [UInt8](copying: self) }
}
