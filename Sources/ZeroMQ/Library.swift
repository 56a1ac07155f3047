import CZeroMQ

/// Facts about the libzmq this process runs with.
package enum Library {
  /// A version of libzmq.
  package struct Version: Hashable, Sendable, CustomStringConvertible {
    /// The major number.
    package let major: Int32
    /// The minor number.
    package let minor: Int32
    /// The patch number.
    package let patch: Int32

    /// The version as `4.3.4`.
    package var description: String { "\(major).\(minor).\(patch)" }
  }

  /// The version of the library that was loaded, not the one compiled against.
  package static func version() -> Version {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    unsafe zmq_version(&major, &minor, &patch)
    return Version(major: major, minor: minor, patch: patch)
  }

  /// Whether the library was built with a capability, such as `ipc` or `curve`.
  package static func has(_ capability: String) -> Bool {
    unsafe zmq_has(capability) == 1
  }
}
