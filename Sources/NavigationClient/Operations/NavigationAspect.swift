import NavigationCore

/// A part or view of a nav for ``NavigationClient/read(_:of:within:)``.
public struct NavigationAspect: Hashable, Sendable {
  private var what: GetRequest.What
  private var screen: String?
  private var from: Revision?
  private var limit: UInt64 = 100

  private init(_ what: GetRequest.What) { self.what = what }

  /// The whole state, as ``NavigationState`` has it.
  public static let state = Self(.state)
  /// The visible content of the bar, as ``NavigationBarContent`` has it.
  public static let bar = Self(.bar)
  /// The top screen.
  public static let top = Self(.top)
  /// The screens and buttons that the daemon keeps though nothing shows them, oldest first.
  public static let detached = Self(.detached)
  /// The payload for ``NavigationOperation/restore(_:root:)``; needs the setting `restorationID`.
  public static let restoration = Self(.restoration)
  /// The first 100 entries of the log, oldest first.
  public static let log = Self(.log)
  /// The result of a self-check: the daemon computes all derived data anew and compares them.
  public static let verify = Self(.verify)
  /// Figures such as the owner, the depth and the number of watches.
  public static let stats = Self(.stats)

  /// The record of one screen, also of one that is presented or detached.
  public static func screen(_ id: String) -> Self {
    var result = Self(.screen)
    result.screen = id
    return result
  }

  /// Entries of the log, oldest first.
  ///
  /// - Parameters:
  ///   - revision: the first revision.
  ///   - limit: the maximum number of revisions, 1 … 1000.
  /// - Returns: the aspect.
  public static func log(from revision: UInt64, limit: Int = 100) -> Self {
    var result = Self(.log)
    result.from = Revision(revision)
    result.limit = UInt64(clamping: limit)
    return result
  }

  func request(of nav: String) -> GetRequest {
    GetRequest(id: 0, nav: nav, what: what, screen: screen, from: from, limit: limit)
  }
}
