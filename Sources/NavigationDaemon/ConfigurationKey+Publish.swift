import NavigationCore

extension ConfigurationKey {
  private static let maximumPatterns = 256

  /// Whether an octet can stand in a name of a nav, or in a pattern for names.
  private static func isOfPattern(_ octet: UInt8) -> Bool {
    "abcdefghijklmnopqrstuvwxyz0123456789._/-*?".utf8.contains(octet)
  }

  /// The navs that navd-publish carries to another daemon.
  static let publishedNavs = ConfigurationKey(
    section: "publish", name: "navs",
    value: .text(
      TextValue(
        expected: "a pattern for names of navs, with * and ?",
        store: { configuration, text in
          if text.isEmpty {
            configuration.publish.navs = []
            return nil
          }
          guard let pattern = NavGlob(text), text.utf8.allSatisfy(isOfPattern) else { return "" }
          guard configuration.publish.navs.count < maximumPatterns else {
            return "at most \(maximumPatterns) lines"
          }
          configuration.publish.navs.append(pattern)
          return nil
        }, show: { $0.publish.navs.map(\.text).joined(separator: ", ") },
        list: { $0.publish.navs.map(\.text) })),
    documentation: "Navs whose history the journal keeps until navd-publish has carried it to "
      + "another daemon. Can be repeated; an empty value removes those before it.")
}
