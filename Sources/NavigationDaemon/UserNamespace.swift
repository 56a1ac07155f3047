import RuntimePaths

/// The user namespace of this process.
package enum UserNamespace {
  /// The number of all users that the namespace does not map; nil if it maps all.
  package static var unknownUser: UInt32? {
    let texts = ["/proc/self/uid_map", "/proc/sys/kernel/overflowuid"].map { path in
      (try? readSmallFile(path)).map { String(decoding: $0, as: UTF8.self) }
    }
    return unknownUser(map: texts[0], overflow: texts[1])
  }

  /// The same by the texts of the two files of proc(5); without the first, the namespace maps all.
  static func unknownUser(map: String?, overflow: String?) -> UInt32? {
    guard let map else { return nil }
    let mapped = map.split(separator: "\n").reduce(into: UInt64(0)) { sum, line in
      sum += line.split(separator: " ").dropFirst(2).first.flatMap { UInt64($0) } ?? 0
    }
    // The number 2^32-1 stands for no user.
    guard mapped < UInt64(UInt32.max) else { return nil }
    // navd.service hides /proc/sys.
    return overflow.flatMap { UInt32($0.filter(\.isNumber)) } ?? 65534
  }
}
