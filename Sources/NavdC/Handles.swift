import CLinux
import NavigationClient

/// The table of all handles that C has.
///
/// A handle is a number that looks like a pointer and is never one. It is not used again, so a handle
/// that was freed, or one of another type, is found out without touching memory.
enum Handles {
  private struct Table {
    var objects: [UInt: any AnyObject & Sendable] = [:]
    var count: UInt = 0
  }

  private static let table = Lock(Table())
  private static let isHeldOverForks = pthread_atfork(
    { Handles.table.lock() }, { Handles.table.unlock() }, { Handles.table.unlock() })
  /// No address of a process begins with these bits, so a program that follows a handle stops there.
  private static let mark: UInt = UInt.bitWidth == 64 ? 0xC0DE << 48 : 0xC000_0000

  static func add(_ object: any AnyObject & Sendable) -> OpaquePointer? {
    _ = isHeldOverForks
    let number = table.withLock { table in
      table.count += 1
      let number = mark | (table.count &* 16)
      table.objects[number] = object
      return number
    }
    return unsafe OpaquePointer(bitPattern: number)
  }

  /// The object behind a handle; nil if it was freed, or has another type.
  static func find<Object>(_ handle: OpaquePointer?) -> Object? {
    let number = UInt(bitPattern: handle)
    return table.withLock { $0.objects[number] } as? Object
  }

  /// The handle of the error that an event has: it ends with that of the event, and has no entry.
  static func error(of event: OpaquePointer?) -> OpaquePointer? {
    unsafe OpaquePointer(bitPattern: UInt(bitPattern: event) | errorBit)
  }

  /// The error behind a handle: its own, or that of an event.
  static func error(_ handle: OpaquePointer?) -> ErrorText? {
    let number = UInt(bitPattern: handle)
    return table.withLock { table in
      switch table.objects[number & ~errorBit] {
      case let event as Event where number & errorBit != 0: event.error
      case let error as ErrorText where number & errorBit == 0: error
      default: nil
      }
    }
  }

  /// The bit of a handle that names the error of an event; it is 0 in all others.
  private static let errorBit: UInt = 8

  /// Forgets a handle, unless it is of another type.
  @discardableResult
  static func remove<Object>(_ handle: OpaquePointer?, _ type: Object.Type) -> Object? {
    let number = UInt(bitPattern: handle)
    return table.withLock { table in
      guard let object = table.objects[number] as? Object else { return nil }
      table.objects[number] = nil
      return object
    }
  }
}

/// A text for C, which can read it for as long as this object is kept.
@safe final class CText: @unchecked Sendable {
  // The reason for `@unchecked`: nothing changes the memory before `deinit`.
  let pointer: UnsafePointer<CChar>?

  init(_ bytes: [UInt8]) { unsafe pointer = UnsafePointer(owned(bytes)) }

  convenience init(_ text: String) { self.init(Array(text.utf8)) }

  deinit { unsafe free(UnsafeMutablePointer(mutating: pointer)) }
}
