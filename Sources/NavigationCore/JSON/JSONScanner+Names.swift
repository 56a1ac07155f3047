// The search for a name that an object has twice.

extension JSONScanner {
  /// Throws if the object has two members with the same name, after unescaping.
  ///
  /// An object with more than 12 members or an escaped name goes through a set, so a hostile one
  /// costs no quadratic time.
  static func checkNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) throws(JSONError) {
    var count = 0
    var key = object + 1
    while key < tokens.count {
      count += 1
      let name = tokens[key]
      if count > 12 || name.isEscaped { return try checkManyNames(of: object, text, tokens) }
      if isName(key, usedIn: object, text, tokens) {
        throw JSONError(.duplicateMember, at: Int(name.start))
      }
      key = Int(tokens[key + 1].next)
    }
  }

  private static func isName(
    _ key: Int, usedIn object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) -> Bool {
    var other = object + 1
    while other < key {
      if areEqual(tokens[key], tokens[other], text) { return true }
      other = Int(tokens[other + 1].next)
    }
    return false
  }

  private static func checkManyNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) throws(JSONError) {
    var names: Set<[UInt8]> = []
    var next = object + 1
    while next < tokens.count {
      let token = tokens[next]
      next = Int(tokens[next + 1].next)
      var name = [UInt8](copying: text.extracting(Int(token.start)..<Int(token.end)))
      if token.isEscaped { name = Array(JSONText.unescape(name[...]).utf8) }
      guard names.insert(name).inserted else {
        throw JSONError(.duplicateMember, at: Int(token.start))
      }
    }
  }

  private static func areEqual(
    _ left: JSONTape.Token, _ right: JSONTape.Token, _ text: Span<UInt8>
  ) -> Bool {
    text.extracting(Int(left.start)..<Int(left.end))
      .hasSameBytes(as: text.extracting(Int(right.start)..<Int(right.end)))
  }
}
