/// The arguments of the process, as the C library passed them to the program.
///
/// `CommandLine` looks for them beside the environment. A preloaded library that sets a variable in
/// its constructor moves the environment, and then there are no arguments there. The C library calls
/// the functions in `.init_array` with the arguments themselves.
package enum ProcessArguments {
  // Written before `main`, when there is one thread, and only read after it.
  fileprivate nonisolated(unsafe) static var count: Int32 = 0
  // As `count`.
  fileprivate nonisolated(unsafe) static var words:
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = nil

  /// The arguments after the name of the program.
  ///
  /// Without even that name, the process ends with status 2, because nobody knows what it should do.
  package static var afterName: [String] {
    let all = unsafe (0..<Int(count)).compactMap { index in
      unsafe words?[index].map { unsafe String(cString: $0) }
    }
    guard !all.isEmpty else {
      CommandLineGrammar(program: "navd", summary: "").refuse("the command line is empty")
    }
    return Array(all.dropFirst())
  }
}

@section(".init_array") @used
// Only the C library reads it, before `main`.
nonisolated(unsafe) private let noteArguments:
  @convention(c) (Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Void = {
    unsafe (ProcessArguments.count, ProcessArguments.words) = unsafe ($0, $1)
  }
