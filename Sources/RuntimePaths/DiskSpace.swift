import CLinux

/// How much room a file system has.
package struct DiskSpace: Hashable, Sendable {
  /// Bytes that a process without privileges may still use.
  package var free: UInt64
  /// All bytes.
  package var size: UInt64

  /// Asks the file system that a path is on; `nil` where there is no telling.
  package static func probe(_ path: String) -> DiskSpace? {
    var space = DiskSpace(free: 0, size: 0)
    guard unsafe navd_disk_space(path, &space.free, &space.size) == 0 else { return nil }
    return space
  }
}

/// The soft limit of open descriptors; `nil` where there is none.
package func descriptorLimit() -> UInt64? { UInt64(exactly: navd_descriptor_limit()) }
