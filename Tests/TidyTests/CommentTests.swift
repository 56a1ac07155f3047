import Testing

/// What must be explained where it is written.
enum CommentRules {
  /// Reports each `public` declaration and each `package` type of a target without a `///` comment.
  static func checkDocumentation(_ file: SourceFile) -> [Violation] {
    guard file.isSwift, file.sourceTarget != nil else { return [] }
    let types = #"actor|class(?!\s+(?:func|var)\b)|enum|protocol|struct"#
    let others = "associatedtype|class|func|init|let|macro|subscript|typealias|var"
    let words = #"(?:(?!(?:\#(others))\b)[@\w()]+\s+)*?"#
    let declarations = #"(?:public|open)\s+(?!import\b)\#(words)(?:\#(types)|\#(others))\b"#
    let packageTypes = #"package\s+(?!import\b)\#(words)(?:\#(types))\b"#
    return file.matches(of: #"\b(\#(declarations)|\#(packageTypes))"#, in: .code)
      .filter { !hasComment("///", above: $0.line, in: file.text) }.map { line, declaration in
        Violation(
          path: file.path, line: line,
          advice: "'\(declaration)' needs a /// comment that begins with one sentence")
      }
  }

  /// Reports each place that turns the concurrency checks off without a reason.
  static func checkReasons(_ file: SourceFile) -> [Violation] {
    guard file.isSwift else { return [] }
    return file.matches(of: #"@unchecked\s+Sendable|nonisolated\(unsafe\)"#, in: .code)
      .filter { !hasComment("//", above: $0.line, in: file.text) }
      .map { line, text in
        Violation(
          path: file.path, line: line,
          advice: "\(text) needs a comment on the line above that names what guards the state")
      }
  }

  /// Whether a comment stands above a line, with nothing but attributes, modifiers and other
  /// comments in between.
  private static func hasComment(_ mark: String, above line: Int, in text: SwiftText) -> Bool {
    var closing = 0
    for index in stride(from: line - 2, through: 0, by: -1) {
      let comment = text.comments[index].drop { $0 == " " }
      let code = text.code[index].drop { $0 == " " }
      if closing == 0, comment.hasPrefix(mark), code.isEmpty { return true }
      if code.isEmpty, comment.hasPrefix("//") || closing > 0 { continue }
      // An attribute whose arguments take several lines is met from its end.
      closing += code.count { $0 == ")" } - code.count { $0 == "(" }
      let isAttribute = code.hasPrefix("@") || code.hasPrefix("nonisolated")
      guard closing > 0 || (closing == 0 && isAttribute) else { return false }
    }
    return false
  }
}

@Suite struct CommentTests {
  @Test func `every public declaration and every package type is documented`() {
    report(Repository.files.flatMap(CommentRules.checkDocumentation))
  }

  @Test func `every unchecked promise about concurrency has its reason`() {
    report(Repository.files.flatMap(CommentRules.checkReasons))
  }

  @Test(arguments: [
    "public func a() {}", "public struct B {", "@frozen public enum C {", "public init(d: Int) {",
    "public private(set) var e = 1", "@inlinable public static func f() {}", "public let g = 1",
    "public consuming func h() {", "public nonisolated(unsafe) static var i = 1",
    "open class func j() {}", "package struct K {", "package final class L {", "package actor M {",
    "package indirect enum N {", "@unsafe package protocol O {",
  ])
  func `a declaration without documentation is found`(line: String) {
    for above in ["", "// Only a remark.", "let z = 1 /// Not above.", "@a(b)", "f(c)", ")"] {
      let file = SourceFile("Sources/A/A.swift", "/// Other.\nvar y = 1\n\(above)\n  \(line)")
      #expect(CommentRules.checkDocumentation(file).map(\.line) == [4], "\(above)")
    }
  }

  @Test(arguments: [
    "/// A.\npackage func a() {}", "/// A.\n@inlinable\n@b(c)\npublic func a() {}",
    "/// A.\n@available(\n  *, deprecated,\n  message: \"b\")\npublic func a() {}",
    "/// A.\n// Guarded by b.\npackage var a = 1", "package import B", "let package = A(name: b)",
    "let a = \"public func\"", "func a() {}", "package extension A {", "struct A {",
    "package func a() {}", "package init(a: Int) {", "package private(set) var a = 1",
    "package static let a = 1", "package class func a() {}", "package typealias A = B",
  ])
  func `a documented, an internal or a package member's declaration is not found`(text: String) {
    #expect(CommentRules.checkDocumentation(SourceFile("Sources/A/A.swift", text)) == [])
  }

  @Test(arguments: ["final class A: @unchecked Sendable {", "nonisolated(unsafe) var a = 1"])
  func `a promise without a reason is found`(line: String) {
    let bare = SourceFile("Sources/A/A.swift", "let b = 1\n\(line)")
    let explained = SourceFile("Sources/A/A.swift", "// Only the loop's thread uses it.\n\(line)")
    #expect(CommentRules.checkReasons(bare).map(\.line) == [2])
    #expect(CommentRules.checkReasons(explained) == [])
  }
}
