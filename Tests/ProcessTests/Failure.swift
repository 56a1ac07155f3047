/// Why a test cannot go on, with all that helps to see why.
struct Failure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
