import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct JSONEqualityTests {
  private func areEqual(_ left: String, _ right: String) -> Bool {
    OpaqueJSON.areEqual(
      OpaqueJSON(validated: Array(left.utf8)), OpaqueJSON(validated: Array(right.utf8)))
  }

  @Test(
    arguments: [
      ("1", "1"), ("1", "1.0"), ("100", "1e2"), ("-0", "0"), ("0.5", "5e-1"), ("null", "null"),
      (#""a""#, #""\u0061""#), (#""é""#, #""\u00e9""#), ("[]", "[ ]"), ("[1,2]", "[ 1 , 2.0 ]"),
      ("1000000000000000001", "1000000000000000001"),
      (#"{"a":1,"b":2,"c":3}"#, #"{"a":1,"c":3,"b":2}"#),
      (#"{"a":1,"b":[true]}"#, #"{"b":[true],"\u0061":1}"#), ("{}", "{ }"),
    ])
  func `values that are written differently are equal`(left: String, right: String) {
    #expect(areEqual(left, right))
    #expect(areEqual(right, left))
  }

  @Test(
    arguments: [
      ("1", "2"), ("1", #""1""#), ("0", "false"), ("null", "false"), ("true", "false"),
      ("[1,2]", "[2,1]"), ("[1]", "[1,1]"), (#"{"a":1}"#, #"{"a":1,"b":1}"#),
      (#"{"a":1}"#, #"{"b":1}"#), ("{}", "[]"), (#""a""#, #""A""#), ("9007199254740991", "1"),
      (#"{"a":{"b":null}}"#, #"{"a":{}}"#), ("1.5", "1"),
      ("1000000000000000001", "1000000000000000002"), (#""é""#, #""e\u0301""#),
      (#"{"a":1,"b":2,"c":3}"#, #"{"a":1,"c":2,"b":3}"#),
    ])
  func `different values are not`(left: String, right: String) {
    #expect(!areEqual(left, right))
    #expect(!areEqual(right, left))
  }
}
