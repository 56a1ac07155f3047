import Foundation
import Testing

/// Texts are octets: the modules that read them compare none as Swift does, by canonical equivalence.
///
/// Sources do not show which `==` the compiler took, so the objects of a debug build are read.
@Suite struct TextObjectTests {
  /// The symbols by which an object compares texts as Unicode does.
  private static let symbols: [(symbol: String, remedy: String)] = [
    ("$sSS2eeoiySbSS_SStFZ", "import NavigationCore, whose == compares octets"),
    // Both operators, inlined.
    ("_stringCompareWithSmolCheck", "import NavigationCore, whose == and < compare octets"),
    ("$sSS1loiySbSS_SStFZ", "import NavigationCore, whose < compares octets"),
    ("$sSSSQsWP", "give generic code a closure with ==, or Text"),
    ("$sSSSLsWP", "sort Text, or with a closure"),
    ("$sSysE2eeoiySbx_qd__tSyRd__lFZ", "compare the views utf8"),
  ]

  /// The names of sets of texts, and of dictionaries by texts.
  private static let keys: [(symbol: String, remedy: String)] = [
    ("ShySSG", "a set of texts has Text as its elements"),
    ("SDySS", "a dictionary by texts has Text as its keys"),
  ]

  /// The modules or their folders, and whether their keys are texts from outside.
  ///
  /// Those of the replica and of libnavd are names of navs, those of the daemon names of keys.
  private static let modules = [
    ("NavigationCore", true), ("NavigationHub", true), ("NavigationDaemon", false),
    ("Journal", false), ("NavdC", false), ("NavigationClient", false), ("navctl", false),
    ("Web/Gateway", false), ("Web/Exporter", false),
  ]

  /// Files whose texts are ASCII by a grammar, or words of ours, with the reason.
  private static let exempt: [String: String] = [
    "Access": "names of keys and roles", "RememberedOps": "principals", "Sessions": "principals",
    "Hub+Access": "principals, inlined", "Hub+Shards": "principals, inlined",
    "Heads": "names of navs", "HistoryReads": "names of navs", "Hub+Dormant": "names of navs",
    "Arguments": "names of roles",
    "RecordingRedaction": "words of the protocol", "RedactionRule": "words of the protocol",
    "DirectoryLock": "/proc/locks", "ShardPlacement": "members", "JournalStore": "members",
    "Metadata": "words of ours", "Schema": "words of ours",
    "ClientRequests": "guards are compared one by one",
    "Remedies": "names of commands", "NavigationFeature": "words of the protocol",
    "NavigationRoles": "words of the protocol",
    "Words+Table": "words of the protocol", "DescriptionWords+Table": "words of the protocol",
    "NavigationClientError": "words of the protocol",
    "NavigationClientError+Table": "words of the protocol",
    "NavigationEvent": "words of the protocol",
    "NavigationOperation+Screens": "words of the protocol",
    "NavigationReply": "words of the protocol",
  ]

  private static let products = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent()

  private static func uses(_ object: Data, _ symbols: [(symbol: String, remedy: String)])
    -> [String]
  {
    symbols.filter { object.range(of: Data($0.symbol.utf8)) != nil }
      .map { "\($0.symbol): \($0.remedy)" }
  }

  @Test(.enabled(if: products.lastPathComponent == "debug"), arguments: modules)
  func `no object compares texts by canonical equivalence`(
    folder: String, hasTextKeys: Bool
  ) throws {
    let sources = Repository.files.filter { $0.isIn("Sources/\(folder)") && $0.isSwift }
    let module = folder.prefix { $0 != "/" }
    #expect(sources.count >= 5)
    for source in sources {
      let name = URL(filePath: source.path).deletingPathExtension().lastPathComponent
      if Self.exempt[name] != nil { continue }
      let object = Self.products.appending(path: "\(module).build/\(name).swift.o")
      let symbols = Self.symbols + (hasTextKeys ? Self.keys : [])
      let found = Self.uses(try Data(contentsOf: object), symbols)
      #expect(found.isEmpty, "\(source.path): \(found)")
    }
  }

  @Test func `this file, which compares texts as Swift does, is found`() throws {
    let object = Self.products.appending(path: "TidyTests.build/TextObjectTests.swift.o")
    guard Self.products.lastPathComponent == "debug" else { return }
    #expect(Self.uses(try Data(contentsOf: object), Self.symbols + Self.keys).count >= 2)
    #expect(Self.exempt["Text"] == nil)
  }
}
