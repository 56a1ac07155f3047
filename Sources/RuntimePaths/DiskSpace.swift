import CLinux

/// The free and the total space of a file system.
package struct DiskSpace: Hashable, Sendable {
  /// Bytes that a process without privileges can still use.
  package var free: UInt64
  /// The size of the file system in bytes.
  package var size: UInt64

  /// Reads the space of the file system that contains a path; nil if statvfs(3) fails.
  package static func probe(_ path: String) -> DiskSpace? {
    var space = DiskSpace(free: 0, size: 0)
    guard unsafe navd_disk_space(path, &space.free, &space.size) == 0 else { return nil }
    return space
  }
}

/// The soft limit of open file descriptors; nil if there is none.
package func descriptorLimit() -> UInt64? { UInt64(exactly: navd_descriptor_limit()) }
