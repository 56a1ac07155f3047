import CLinux
import NavigationClient

/// The table of all handles that C has.
///
/// A handle is a number that looks like a pointer and is never one. The table uses no number twice, so
/// it recognises a freed handle, or one of another type, without reading memory.
enum Handles {
  private struct Table {
    var objects: [UInt: any AnyObject & Sendable] = [:]
    var issuedCount: UInt = 0
  }

  private static let table = Lock(Table())
  private static let isHeldOverForks = pthread_atfork(
    { Handles.table.lock() }, { Handles.table.unlock() }, { Handles.table.unlock() })
  /// No address of a process begins with these bits: a program that dereferences a handle crashes.
  private static let highBits: UInt = UInt.bitWidth == 64 ? 0xC0DE << 48 : 0xC000_0000

  static func add(_ object: any AnyObject & Sendable) -> OpaquePointer? {
    _ = isHeldOverForks
    let number = table.withLock { table in
      table.issuedCount += 1
      let number = highBits | (table.issuedCount &* 16)
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

  /// The handle of an event's error, which is valid as long as that of the event.
  static func error(of event: OpaquePointer?) -> OpaquePointer? {
    unsafe OpaquePointer(bitPattern: UInt(bitPattern: event) | errorBit)
  }

  /// The error behind a handle of an error, whether a function or an event made it.
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

  /// The bit that is 1 only in handles of events' errors.
  private static let errorBit: UInt = 8

  /// Removes a handle and returns its object; nil if it was freed, or has another type.
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

/// A text in the memory of C, for as long as this object lives.
@safe final class CText: @unchecked Sendable {
  // The reason for `@unchecked`: nothing changes the memory before `deinit`.
  let pointer: UnsafePointer<CChar>?

  init(_ bytes: [UInt8]) { unsafe pointer = UnsafePointer(mallocCopy(bytes)) }

  convenience init(_ text: String) { self.init(Array(text.utf8)) }

  deinit { unsafe free(UnsafeMutablePointer(mutating: pointer)) }
}
