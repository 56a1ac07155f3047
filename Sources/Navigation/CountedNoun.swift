/// A number with its noun: "1 session", "2 sessions", "0 watches".
///
/// - Parameters:
///   - number: how many there are.
///   - noun: the noun for one of them, whose plural takes "s", or "es" behind a hiss.
///   - figures: the number as it is to be printed; its digits if nil.
/// - Returns: both, for people.
package func counted(
  _ number: some BinaryInteger, _ noun: String, figures: String? = nil
) -> String {
  let hisses = ["s", "x", "z", "ch", "sh"].contains { noun.hasSuffix($0) }
  let ending = number == 1 ? "" : hisses ? "es" : "s"
  return "\(figures ?? String(number)) \(noun)\(ending)"
}
