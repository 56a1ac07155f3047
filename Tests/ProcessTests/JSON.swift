import Foundation

/// A JSON value that can be compared.
enum JSON: Equatable, Decodable, CustomStringConvertible {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  init(_ text: some Sequence<UInt8>) throws {
    let data = Data(text)
    do {
      self = try JSONDecoder().decode(JSON.self, from: data)
    } catch {
      throw Failure("no JSON: \(String(decoding: data, as: UTF8.self)): \(error)")
    }
  }

  init(_ text: String) throws { try self.init(text.utf8) }

  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var string: String? { if case .string(let string) = self { string } else { nil } }
  var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
  var integer: UInt64? { if case .number(let number) = self { UInt64(number) } else { nil } }
  var array: [JSON] { if case .array(let array) = self { array } else { [] } }
  var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }

  /// The ids of a list of records.
  var ids: [String] { array.compactMap { $0["id"]?.string } }

  var description: String {
    switch self {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let number): "\(number)"
    case .string(let string): "\"\(string)\""
    case .array(let array): "\(array)"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
    }
  }
}
