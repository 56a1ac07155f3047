import CommandLineOptions

enum SchemaCommand: Command {
  static let declaration = CommandSet.Command(
    "schema", "Print the JSON Schema of the output", Subject.administration,
    .init("[TYPE]", choices: ["TYPE": Record.Kind.allCases.map(\.rawValue)]),
    note: """
      TYPE is the member type of the objects that -o json prints. Without it, the schema has every
      type. Members that a schema does not name can be added at any time; one that it names keeps
      its name and its type.
      """, example: "schema diff")

  static func run(_ invocation: Invocation) throws {
    guard let word = invocation.line.positionals.first else { return try Output.data(Schema.text) }
    let kind = try require(
      Record.Kind(rawValue: word), "there is no type '\(word)'",
      remedy: "one of \(Record.Kind.allCases.map(\.rawValue).joined(separator: " "))")
    try Output.json(Schema.text(of: kind))
  }
}
