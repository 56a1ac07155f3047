import CLinux
import CSystemd
package import RuntimePaths

/// A message to the service manager, see sd_notify(3).
package struct ServiceNotification: Hashable, Sendable {
  package let assignment: String

  package static let ready = Self(assignment: "READY=1")
  package static let stopping = Self(assignment: "STOPPING=1")
  /// The loop is running, which restarts the time of the watchdog.
  package static let watchdog = Self(assignment: "WATCHDOG=1")

  /// A reload has begun at this time of CLOCK_MONOTONIC; `ready` ends it.
  package static func reloading(sinceMicroseconds time: UInt64) -> Self {
    Self(assignment: "RELOADING=1\nMONOTONIC_USEC=\(time)")
  }

  /// The activity of the program in one line, which `systemctl status` shows.
  package static func status(_ text: String) -> Self {
    // A newline in the text would begin another assignment.
    Self(assignment: "STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
  }

  /// The start or stop needs at least this much more time.
  package static func extendTimeout(milliseconds: UInt64) -> Self {
    Self(assignment: "EXTEND_TIMEOUT_USEC=\(milliseconds)000")
  }
}

/// A listening socket that the service manager has opened and passed.
package struct InheritedSocket: Hashable, Sendable {
  /// The descriptor, non-blocking and closed on exec; the receiver owns it.
  package var descriptor: Int32
  /// The address in the form of libzmq: a path, or the numeric address of one interface.
  package var endpoint: String

  /// The path of a Unix socket; nil for a network.
  package var path: String? {
    endpoint.hasPrefix("ipc://") ? String(endpoint.dropFirst("ipc://".count)) : nil
  }
}

/// The reason why a passed socket cannot be used.
package enum PassedSocketError: Error, Hashable, Sendable, CustomStringConvertible {
  case system(SystemError)
  /// A descriptor is not a listening socket with an address of its own.
  case notAListeningSocket(name: String, descriptor: Int32)

  package var description: String {
    switch self {
    case .system(let error): error.description
    case .notAListeningSocket(let name, let descriptor):
      "the service manager passed descriptor \(descriptor) (\(name)), which listens neither "
        + "at a path nor at the address of one interface; check ListenStream= in its socket unit"
    }
  }
}

/// The interface to the service manager that started this process, if one did.
package enum ServiceManager {
  /// Sends notifications in one message; without a service manager it does nothing.
  package static func notify(_ notifications: [ServiceNotification]) throws(SystemError) {
    let text = notifications.map(\.assignment).joined(separator: "\n")
    let result = unsafe sd_notify(0, text)
    guard result >= 0 else { throw SystemError("notify the service manager", "", code: -result) }
  }

  /// The interval at which the loop must notify the watchdog, in milliseconds.
  ///
  /// It is half of `WatchdogSec=`; nil if the unit sets no watchdog.
  package static func watchdogInterval() throws(SystemError) -> UInt64? {
    var microseconds: UInt64 = 0
    let result = unsafe sd_watchdog_enabled(0, &microseconds)
    guard result >= 0 else { throw SystemError("read WATCHDOG_USEC", "", code: -result) }
    return result == 0 ? nil : watchdogInterval(allowedMicroseconds: microseconds)
  }

  /// Half of the time that the unit allows, at least 1 ms.
  static func watchdogInterval(allowedMicroseconds: UInt64) -> UInt64 {
    max(1, allowedMicroseconds / 2000)
  }

  /// Takes the listening sockets that the service manager has opened, in the order of the unit.
  ///
  /// Call it once and before other threads start, because it removes environment variables.
  package static func inheritedSockets() throws(PassedSocketError) -> [InheritedSocket] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = unsafe sd_listen_fds_with_names(1, &names)
    guard count >= 0 else {
      throw .system(SystemError("take the service manager's sockets", "", code: -count))
    }
    defer { unsafe free(names) }
    var sockets: [InheritedSocket] = []
    for index in 0..<Int(count) {
      var name = ""
      if let text = unsafe names?[index] {
        name = unsafe String(cString: text)
        unsafe free(text)
      }
      sockets.append(try inspect(SD_LISTEN_FDS_START + Int32(index), name: name))
    }
    return sockets
  }

  /// The warning about sockets that the service manager passed to another process than this one; nil
  /// if there are none.
  ///
  /// For example, LISTEN_PID names a shell that runs navd without `exec`.
  package static func warning(
    about environment: ProcessEnvironment, process: Int32
  ) -> String? {
    guard environment["LISTEN_FDS"] != nil, let owner = environment["LISTEN_PID"],
      Int32(owner) != process
    else { return nil }
    return "the service manager passed its sockets to process \(owner), and navd is process "
      + "\(process): start navd with exec in that script"
  }

  /// Checks that a descriptor is a listening socket, and makes it non-blocking.
  static func inspect(_ descriptor: Int32, name: String) throws(PassedSocketError)
    -> InheritedSocket
  {
    let kind = Int32(SOCK_STREAM.rawValue)
    let endpoint: String
    if sd_is_socket_unix(descriptor, kind, 1, nil, 0) > 0, let path = socketPath(of: descriptor) {
      endpoint = "ipc://" + path
    } else if sd_is_socket(descriptor, AF_UNSPEC, kind, 1) > 0,
      let address = NetworkAddress(boundTo: descriptor)
    {
      endpoint = address.endpoint
    } else {
      throw .notAListeningSocket(name: name, descriptor: descriptor)
    }
    guard navd_set_nonblocking(descriptor) == 0 else {
      throw .system(SystemError("make non-blocking", name, code: navd_errno()))
    }
    return InheritedSocket(descriptor: descriptor, endpoint: endpoint)
  }

  private static func socketPath(of descriptor: Int32) -> String? {
    var bytes = [CChar](repeating: 0, count: 109)
    let length = unsafe bytes.withUnsafeMutableBufferPointer {
      unsafe navd_unix_socket_path(descriptor, $0.baseAddress, Int32($0.count))
    }
    guard length > 0 else { return nil }
    return String(decoding: bytes[..<Int(length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
