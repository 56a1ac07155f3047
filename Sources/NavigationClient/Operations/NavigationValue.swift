import NavigationCore

/// A JSON value, for the arguments of screens and the members of events.
///
/// ```swift
/// let args: NavigationValue = ["ssid": "attic", "channel": 11]
/// ```
public indirect enum NavigationValue: Hashable, Sendable {
  /// `null`.
  case null
  /// A truth value.
  case bool(Bool)
  /// An integer; the daemon reads 0 … 2^53 − 1 as integers, others as numbers.
  case integer(Int64)
  /// A finite number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([NavigationValue])
  /// An object; its members are written in the order of their names.
  ///
  /// If two names are canonically equivalent in Unicode, it has only the last member of the JSON.
  case object([String: NavigationValue])

  /// The value as JSON.
  public var json: String { octets.text }

  /// Reads a JSON text.
  ///
  /// - Parameter json: one JSON value, nested at most 40 deep.
  /// - Throws: `invalid-argument` if it is not valid JSON.
  public init(json: String) throws(NavigationClientError) {
    try self.init(bytes: Array(json.utf8))
  }

  init(bytes: [UInt8]) throws(NavigationClientError) {
    var tape = JSONTape()
    do {
      try tape.read(bytes, maximumDepth: 40)
    } catch {
      throw NavigationClientError(
        .invalidArgument, "not JSON: \(error.reason.rawValue) at octet \(error.offset)")
    }
    self.init(tape, tape.root)
  }

  init(_ tape: JSONTape, _ index: Int) {
    switch tape.kind(index) {
    case .null: self = .null
    case .yes: self = .bool(true)
    case .no: self = .bool(false)
    case .string: self = .string(tape.string(index) ?? "")
    case .integer: self = .integer(Int64(clamping: tape.integer(index) ?? 0))
    case .number:
      let number = tape.number(index) ?? 0
      if let integer = Int64(exactly: number) {
        self = .integer(integer)
      } else {
        self = .number(number)
      }
    case .array:
      self = .array(tape.elements(of: index) { NavigationValue(tape, $0) })
    case .object:
      var members: [String: NavigationValue] = [:]
      tape.forEachMember(of: index) { members[$0] = NavigationValue(tape, $1) }
      self = .object(members)
    }
  }

  var octets: OpaqueJSON { OpaqueJSON(validated: JSONWriter.value(write)) }

  func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .bool(let value): json.bool(value)
    case .integer(let value): json.raw(Array(String(value).utf8))
    // JSON has no infinity and no NaN.
    case .number(let value) where value.isFinite: json.raw(Array(String(value).utf8))
    case .number: json.null()
    case .string(let text): json.string(text)
    case .array(let elements):
      json.beginArray()
      for element in elements { element.write(to: &json) }
      json.endArray()
    case .object(let members):
      json.beginObject()
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        json.dynamicName(name)
        value.write(to: &json)
      }
      json.endObject()
    }
  }
}

extension NavigationValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  /// Makes a text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes a truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Makes a list.
  public init(arrayLiteral elements: NavigationValue...) { self = .array(elements) }
  /// Makes an object; if a name occurs twice, the last value counts.
  public init(dictionaryLiteral elements: (String, NavigationValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
  /// Makes `null`.
  public init(nilLiteral: ()) { self = .null }
}

extension NavigationValue {
  /// The text, if the value is a string.
  public var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The truth value, if the value is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The integer, if the value is one.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// The number, if the value is a number or an integer.
  public var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// The elements, if the value is a list.
  public var array: [NavigationValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members, if the value is an object.
  public var object: [String: NavigationValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// A member, if the value is an object that has it.
  public subscript(name: String) -> NavigationValue? { object?[name] }
}
