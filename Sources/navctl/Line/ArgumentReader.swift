import CommandLineOptions
import NavigationCore

/// An error of the command line; navctl sends nothing and ends with status 2.
struct UsageError: Error, Hashable, Sendable {
  var message: String
  /// What to type next, in one line; nil if the message implies that.
  var remedy: String?

  init(_ message: String, remedy: String? = nil) {
    self.message = message
    self.remedy = remedy
  }

  /// Runs `body`, and puts `location`, such as `plan.txt:3`, in front of the message of its error.
  static func located<Value>(
    _ location: String, _ body: () throws(UsageError) -> Value
  ) throws(UsageError) -> Value {
    do throws(UsageError) {
      return try body()
    } catch {
      throw UsageError("\(location): \(error.message)", remedy: error.remedy)
    }
  }
}

func require(
  _ condition: Bool, _ message: @autoclosure () -> String, remedy: @autoclosure () -> String? = nil
) throws(UsageError) {
  if !condition { throw UsageError(message(), remedy: remedy()) }
}

func require<Value>(
  _ value: Value?, _ message: @autoclosure () -> String, remedy: @autoclosure () -> String? = nil
) throws(UsageError) -> Value {
  guard let value else { throw UsageError(message(), remedy: remedy()) }
  return value
}

extension ParsedCommandLine {
  /// The value of an option that takes one of some words; the first of them without the option.
  func choice(of option: String, _ words: [String]) throws(UsageError) -> String {
    guard let value = value(of: option) else { return words[0] }
    let others = words.dropLast().joined(separator: ", ")
    try require(
      words.contains(value),
      "--\(option) takes \(others) or \(words[words.count - 1]), not '\(value)'")
    return value
  }

  func integer(of option: String) throws(UsageError) -> UInt64? {
    guard let text = value(of: option) else { return nil }
    return try ArgumentReader.integer(text, option: option)
  }

  func milliseconds(of option: String) throws(UsageError) -> UInt64? {
    guard let text = value(of: option) else { return nil }
    return try ArgumentReader.milliseconds(text, option: option)
  }
}

enum ArgumentReader {
  /// Milliseconds from "500ms", "5s", "1.5s", "2m" or plain seconds; at most 30 days.
  static func milliseconds(_ text: String, option: String) throws(UsageError) -> UInt64 {
    let units: [(suffix: String, factor: Double)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]
    let unit = units.first { text.hasSuffix($0.suffix) }
    let number = unit.map { String(text.dropLast($0.suffix.utf8.count)) } ?? text
    let isNumber = number.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2E }
    let value = isNumber ? Double(number).map { $0 * (unit?.factor ?? 1000) } : nil
    guard let value, value >= 0, value <= 2_592_000_000 else {
      throw UsageError("--\(option) takes a time such as 500ms, 5s or 2m, not '\(text)'")
    }
    // A number without a unit may be meant in milliseconds.
    try require(
      unit != nil || value <= 60_000, "--\(option) \(text) has no unit",
      remedy: "--\(option) \(text)ms, or --\(option) \(text)s")
    return UInt64(value)
  }

  static func integer(_ text: String, option: String) throws(UsageError) -> UInt64 {
    try require(integer(text), "--\(option) takes a whole number, not '\(text)'")
  }

  /// An integer from 0 to 2^53 − 1, in digits without a sign; nil for any other text.
  static func integer(_ text: String) -> UInt64? {
    guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt64(text),
      number < 1 << 53
    else { return nil }
    return number
  }

  static func epoch(_ text: String, option: String) throws(UsageError) -> Epoch {
    try require(Epoch(text), "--\(option) takes 16 hex digits, as show prints them, not '\(text)'")
  }

  static func position(_ text: String, option: String) throws(UsageError) -> MirrorPosition {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let epoch = Epoch(parts[0]), let revision = integer(parts[1]),
      let digest = Digest(parts[2])
    else {
      throw UsageError("--\(option) takes EPOCH:REV:DIGEST, as show prints them, not '\(text)'")
    }
    return MirrorPosition(epoch: epoch, revision: Revision(revision), digest: digest)
  }

  /// The value of a text that must be valid JSON; `what` names it in the error.
  static func json(_ text: String, what: String) throws(UsageError) -> OpaqueJSON {
    let bytes = Array(text.utf8)
    var tape = JSONTape()
    do {
      try tape.read(bytes)
    } catch {
      let quotedAsJSON = quotedAsJSON(text)
      var other = JSONTape()
      let isValid = (try? other.read(Array(quotedAsJSON.utf8))) != nil
      throw UsageError(
        "\(what) is not JSON: \(error.reason.rawValue) at byte \(error.offset)",
        remedy: isValid ? "\(what.hasPrefix("--") ? "\(what) " : "")'\(quotedAsJSON)'" : nil)
    }
    return OpaqueJSON(validated: tape.raw(tape.root))
  }

  /// The text with double quotes for single ones and around bare words, to suggest valid JSON.
  private static func quotedAsJSON(_ text: String) -> String {
    var result = ""
    var word = ""
    var isQuoted = false
    func quoted(_ word: String) -> String {
      ["true", "false", "null", ""].contains { $0 == word } || Double(word) != nil
        ? word : "\"\(word)\""
    }
    for character in text {
      if character == "'" || character == "\"" {
        isQuoted.toggle()
        result += word + "\""
        word = ""
      } else if isQuoted || !"{}[]:, ".contains(character) {
        word.append(character)
      } else {
        result += quoted(word) + String(character)
        word = ""
      }
    }
    return result + word
  }

  /// The value of a text that must be a JSON object; `what` names it in the error.
  static func jsonObject(_ text: String, what: String) throws(UsageError) -> OpaqueJSON {
    let value = try json(text, what: what)
    try require(value.bytes.first == UInt8(ascii: "{"), "\(what) is not a JSON object: '\(text)'")
    return value
  }

  static func object(_ text: String, what: String) throws(UsageError) -> JSONValue {
    let octets = try jsonObject(text, what: what)
    do { return try JSONValue(octets.bytes) } catch { throw UsageError("\(what) is not JSON") }
  }

  static func nav(_ text: String) throws(UsageError) -> String {
    try require(
      text.first == "$" || NavName(text) != nil,
      "'\(TerminalText.visible(text))' cannot be the name of a nav",
      remedy: "a name is one of a-z 0-9, then up to 127 of a-z 0-9 . _ / -")
    return text
  }
}
