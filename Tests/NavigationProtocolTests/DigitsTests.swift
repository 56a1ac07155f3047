@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct DigitsTests {
  /// Numbers with 1 to 16 digits, the smallest and the largest of each length among them.
  private static func numbers(_ seed: UInt64) -> [UInt64] {
    var random = SeededGenerator(seed: seed)
    var numbers: [UInt64] = [0]
    var power: UInt64 = 1
    for _ in 1...16 {
      numbers += [power, power * 10 - 1]
      for _ in 0..<20 { numbers.append(random.next() % (power * 10)) }
      power *= 10
    }
    return numbers
  }

  @Test(arguments: UInt64(1)...4)
  func `the digits of a number are those that it is written with`(seed: UInt64) {
    for number in Self.numbers(seed) {
      let bytes = JSONWriter.value { $0.digits(Digits(number)) }
      #expect(bytes == Array("\(number)".utf8))
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `the digits of an integer in a text are those of the text, wherever it stands`(
    seed: UInt64
  ) throws {
    for number in Self.numbers(seed) where number < 1 << 53 {
      for text in ["[\(number)]", "[\(number),\"following bytes\"]", "[\(number) ]"] {
        var tape = JSONTape()
        try tape.read(Array(text.utf8))
        let bytes = JSONWriter.value { json in
          json.beginArray()
          json.digits(tape.digits(1))
          json.bool(true)
          json.endArray()
        }
        #expect(bytes == Array("[\(number),true]".utf8))
      }
    }
  }

  @Test func `a number that is the whole text has its digits`() throws {
    var tape = JSONTape()
    for text in ["7", "12345678", "123456789", "9007199254740991"] {
      try tape.read(Array(text.utf8))
      #expect(JSONWriter.value { $0.digits(tape.digits(0)) } == Array(text.utf8))
    }
  }
}

@Suite struct OperationKindsTests {
  @Test func `kinds are ordinary if none of them is rare`() {
    let rare: Set<String> = [
      "nav.create", "nav.close", "revert", "open", "button.activate", "gesture.begin",
      "gesture.update", "gesture.finish", "gesture.cancel", "proxy.set", "ui.back",
    ]
    #expect(rare.isSubset(of: OperationKind.allCases.map(\.name)))
    for kind in OperationKind.allCases {
      #expect(kind.isOrdinary == !(rare.contains(kind.name) || kind.isForItems))
      for other in OperationKind.allCases {
        var kinds = OperationKinds()
        #expect(kinds.areOrdinary)
        kinds.append(kind)
        kinds.append(other)
        #expect(kinds.areOrdinary == (kind.isOrdinary && other.isOrdinary))
      }
    }
  }
}
