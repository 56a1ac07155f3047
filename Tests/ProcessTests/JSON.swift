import Foundation

/// A JSON value that can be compared.
enum JSON: Equatable, CustomStringConvertible {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Takes what JSONSerialization makes, which is much faster than a decoder of enums.
  private init(_ value: Any) throws {
    switch value {
    case is NSNull: self = .null
    case let text as String: self = .string(text)
    case let list as [Any]: self = .array(try list.map { try JSON($0) })
    case let members as [String: Any]: self = .object(try members.mapValues { try JSON($0) })
    case let number as NSNumber:
      // The type of a character is that of a boolean; numbers have wider ones.
      let isBool = unsafe number.objCType.pointee == CChar(UInt8(ascii: "c"))
      self = isBool ? .bool(number.boolValue) : .number(number.doubleValue)
    default: throw Failure("no JSON: \(value)")
    }
  }

  init(_ text: some Sequence<UInt8>) throws {
    let data = Data(text)
    do {
      self = try JSON(JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
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
