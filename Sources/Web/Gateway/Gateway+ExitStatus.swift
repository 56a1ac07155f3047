extension Gateway {
  /// Reports an error of `run`, or of a value that it needs, as the one line of a program that ends.
  ///
  /// The status is 2 for a wrong address to listen on, 3 for a file of tokens that cannot be used,
  /// else 1.
  package static func exitStatus(after error: any Error, say: (String) -> Void) -> Int32 {
    say(error is ListenError ? "usage: --listen: \(error)" : "\(error)")
    if error is ListenError { return 2 }
    return (error as? TokenFileError)?.isFailedRead == false ? 3 : 1
  }
}
