import Glibc

/// The arguments of the process, as the C library passed them to the program.
///
/// Swift's `CommandLine` looks for the arguments in the memory before the environment. It
/// finds none if a preloaded library has set a variable, because that moves the environment. The C
/// library passes the arguments to each function in `.init_array`.
package enum ProcessArguments {
  // Written before `main`, when there is one thread, and only read after it.
  fileprivate nonisolated(unsafe) static var count: Int32 = 0
  // As `count`.
  fileprivate nonisolated(unsafe) static var words:
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = nil

  /// The arguments after the name of the program.
  ///
  /// If the process has not even a name, it prints an error and exits with status 2.
  package static var afterName: [String] {
    guard unsafe count > 0 else {
      CommandLineGrammar(program: "navd", summary: "").refuse("the command line is empty")
    }
    return unsafe (1..<Int(max(1, count))).compactMap { index -> String? in
      guard let word = unsafe words?[index] else { return nil }
      if let text = unsafe String(validatingCString: word) { return text }
      let path = unsafe words?[0].map { unsafe String(cString: $0) } ?? "navd"
      let program = path.split(separator: "/").last.map(String.init) ?? path
      let text = unsafe String(cString: word)
      CommandLineGrammar(program: program, summary: "").refuse(
        CommandLineFault(text: "'\(text)' is not UTF-8", remedy: "\(program) --help"))
    }
  }
}

extension String {
  /// The text before and after the first occurrence of a scalar; nil if it does not occur.
  ///
  /// The search compares scalars: a combining mark behind the sign would make another `Character`.
  package func cut(at sign: Unicode.Scalar) -> (before: Substring, after: Substring)? {
    guard let place = unicodeScalars.firstIndex(of: sign) else { return nil }
    return (self[..<place], self[unicodeScalars.index(after: place)...])
  }
}

@section(".init_array") @used
// Only the C library reads it, before `main`.
nonisolated(unsafe) private let storeArguments:
  @convention(c) (Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Void = {
    openStandardDescriptors()
    unsafe (ProcessArguments.count, ProcessArguments.words) = unsafe ($0, $1)
  }

/// Opens /dev/null for each of stdin, stdout and stderr that the process was started without.
///
/// Otherwise the next file that the process opens gets that descriptor, and output for the terminal
/// goes into the file.
private func openStandardDescriptors() {
  var file: Int32 = 0
  while 0...2 ~= file { file = unsafe open("/dev/null", O_RDWR) }
  if file > 2 { close(file) }
}
