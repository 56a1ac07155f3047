import CLinux
import CSystemd
package import RuntimePaths

/// What the daemon tells the service manager.
package enum ServiceNotification: Hashable, Sendable {
  /// The journal is replayed and the endpoint is bound.
  case ready
  /// The configuration is being read again since then, by CLOCK_MONOTONIC; `ready` ends it.
  case reloading(sinceMicroseconds: UInt64)
  /// What the daemon is doing, one line for people.
  case status(String)
  /// The daemon is stopping.
  case stopping
  /// The loop is alive.
  case watchdog
  /// Starting or stopping takes at least so much longer.
  case extendTimeout(milliseconds: UInt64)

  /// The line of sd_notify(3).
  package var assignment: String {
    switch self {
    case .ready: "READY=1"
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    // A newline would begin another assignment.
    case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
    case .stopping: "STOPPING=1"
    case .watchdog: "WATCHDOG=1"
    case .extendTimeout(let milliseconds):
      "EXTEND_TIMEOUT_USEC=\(milliseconds.multipliedReportingOverflow(by: 1000).partialValue)"
    }
  }
}

/// A listening socket the service manager has opened for us.
package struct InheritedSocket: Hashable, Sendable {
  /// Its descriptor, non-blocking and closed on exec; the receiver owns it.
  package var descriptor: Int32
  /// The name from `FileDescriptorName=`.
  package var name: String
  /// Where it listens.
  package var place: Place

  /// Where a socket listens.
  package enum Place: Hashable, Sendable {
    /// At a path of the file system.
    case path(String)
    /// At the numeric address of one interface, as `tcp://ADDRESS:PORT`.
    case network(String)
  }

  /// The address as libzmq has it.
  package var endpoint: String {
    switch place {
    case .path(let path): "ipc://" + path
    case .network(let endpoint): endpoint
    }
  }
}

/// Why a socket the service manager passed cannot be used.
package enum ServiceManagerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call failed.
  case system(SystemError)
  /// A descriptor is not a socket that navd can serve.
  case notAListeningSocket(name: String, descriptor: Int32)

  /// The error as one line for people.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .notAListeningSocket(let name, let descriptor):
      "the service manager passed descriptor \(descriptor) (\(name)), which listens neither "
        + "at a path nor at the address of one interface; check ListenStream= in its socket unit"
    }
  }

  /// The status navd ends with.
  package var exitStatus: ExitStatus { .endpoint }
}

/// The service manager that started this process, if one did.
package enum ServiceManager {
  /// Tells the service manager, in one message; nothing happens without one.
  package static func notify(_ notifications: ServiceNotification...) throws(SystemError) {
    try notify(notifications)
  }

  static func notify(_ notifications: [ServiceNotification]) throws(SystemError) {
    let text = notifications.map(\.assignment).joined(separator: "\n")
    let result = unsafe sd_notify(0, text)
    guard result >= 0 else { throw SystemError("notify the service manager", "", code: -result) }
  }

  /// How often the loop must report that it is alive, in milliseconds.
  ///
  /// Half of what the unit allows; `nil` when the unit sets no watchdog.
  package static func watchdogInterval() throws(SystemError) -> UInt64? {
    var microseconds: UInt64 = 0
    let result = unsafe sd_watchdog_enabled(0, &microseconds)
    guard result >= 0 else { throw SystemError("read WATCHDOG_USEC", "", code: -result) }
    return result == 0 ? nil : watchdogInterval(allowedMicroseconds: microseconds)
  }

  /// Half of the time the unit allows, at least a millisecond.
  static func watchdogInterval(allowedMicroseconds: UInt64) -> UInt64 {
    max(1, allowedMicroseconds / 2000)
  }

  /// The listening sockets the service manager has opened, in the order of the unit.
  ///
  /// Call it once, before threads are started: it removes the variables that describe them.
  package static func inheritedSockets() throws(ServiceManagerError) -> [InheritedSocket] {
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

  /// Checks one descriptor and prepares it.
  static func inspect(_ descriptor: Int32, name: String) throws(ServiceManagerError)
    -> InheritedSocket
  {
    let kind = Int32(SOCK_STREAM.rawValue)
    let place: InheritedSocket.Place
    if sd_is_socket_unix(descriptor, kind, 1, nil, 0) > 0, let path = socketPath(of: descriptor) {
      place = .path(path)
    } else if sd_is_socket(descriptor, AF_UNSPEC, kind, 1) > 0,
      let address = NetworkAddress(boundTo: descriptor)
    {
      place = .network(address.endpoint)
    } else {
      throw .notAListeningSocket(name: name, descriptor: descriptor)
    }
    guard navd_set_nonblocking(descriptor) == 0 else {
      throw .system(SystemError("make non-blocking", name, code: navd_errno()))
    }
    return InheritedSocket(descriptor: descriptor, name: name, place: place)
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
