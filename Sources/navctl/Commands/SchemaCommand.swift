import CommandLineOptions

/// `schema`: prints the JSON Schema of what `-o json` prints.
enum SchemaCommand: Command {
  static let declaration = CommandSet.Command(
    "schema", "Print the JSON Schema of the output", Subject.administration,
    .init("[TYPE]", choices: ["TYPE": Record.Kind.allCases.map(\.rawValue)]),
    note: """
      TYPE is the member type of the objects that -o json prints. Without it, the schema has every
      type. Members that a schema does not name can be added at any time; one that it names keeps
      its name and its type.
      """, example: "schema diff")

  static func run(_ invocation: Invocation) throws -> Int32 {
    guard let word = invocation.line.positionals.first else {
      try Output.data(Schema.text)
      return 0
    }
    guard let kind = Record.Kind(rawValue: word) else {
      let words = Record.Kind.allCases.map(\.rawValue).joined(separator: " ")
      throw UsageError("there is no type '\(word)'", remedy: "one of \(words)")
    }
    try Output.json(Schema.text(of: kind))
    return 0
  }
}
