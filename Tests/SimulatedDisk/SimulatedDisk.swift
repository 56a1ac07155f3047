import CSimulatedDisk
import Foundation
package import NavigationCore

/// The disk of one thread: files in a directory in memory, calls that fail, and power failures.
///
/// It replaces the calls of libc in this program, so that the journal and SQLite run unchanged. Each
/// process that uses it begins with `attach` in a directory of its own. One thread uses it.
@safe
package final class SimulatedDisk {
  /// A class of calls that can fail.
  package enum Call: Int32, CaseIterable, Sendable {
    case open, read, write, sync, truncate, name
  }

  /// Which calls fail, and how.
  package struct Fault: Sendable {
    package var call: Call
    /// The number of the first call that fails, counted from 1.
    package var at: Int64
    /// The number of the error; 0 for a write or read of half of the bytes.
    package var error: Int32
    /// Whether all later calls fail too.
    package var isLasting: Bool

    package init(_ call: Call, at: Int64, error: Int32, isLasting: Bool) {
      (self.call, self.at, self.error, self.isLasting) = (call, at, error, isLasting)
    }
  }

  private let calls: UnsafeMutablePointer<simulated_disk>
  private let root: String
  private var lives = 0
  private var recorded = RecordedDisk()
  /// The paths of `recorded` are below this one, whatever the directory of the process.
  private static let base = "/disk"
  /// What could not be recorded, which is a fault of the simulation.
  private var recordingError: (any Error)?

  /// Makes an empty disk below a directory, which is removed with it.
  package init(below root: String) {
    self.root = root
    unsafe calls = .allocate(capacity: 1)
    unsafe calls.initialize(to: simulated_disk())
  }

  deinit {
    simulated_disk_attach(nil)
    unsafe calls.deallocate()
    try? FileManager.default.removeItem(atPath: root)
  }

  /// The directory of the present process, with all that is on the disk.
  private var directory: String { "\(root)/\(lives)" }
  /// The state directory in it.
  package var state: String { directory + "/state" }

  /// The path of a file beside the state directory.
  package var witness: String { directory + "/witness" }

  /// The calls of a class since the process began.
  package func count(_ call: Call) -> Int64 {
    unsafe withUnsafeBytes(of: calls.pointee.calls) { bytes in
      unsafe bytes.loadUnaligned(fromByteOffset: Int(call.rawValue) * 8, as: Int64.self)
    }
  }

  package var faults: Int { Int(unsafe calls.pointee.faults) }
  package var changes: Int64 { unsafe calls.pointee.changes }
  package var isDead: Bool { unsafe calls.pointee.is_dead }

  /// Lets calls fail, or none.
  package var fault: Fault? {
    didSet {
      unsafe calls.pointee.fault_call = fault?.call.rawValue ?? -1
      guard let fault else { return }
      unsafe calls.pointee.fault_at = fault.at
      unsafe calls.pointee.fault_error = fault.error
      unsafe calls.pointee.fault_lasts = fault.isLasting
    }
  }

  /// Lets the process die in the change number `change`, after so many bytes of a write.
  package func die(in change: Int64, afterBytes bytes: Int64) {
    unsafe calls.pointee.last_change = change
    unsafe calls.pointee.last_bytes = bytes
  }

  /// Begins a process on the files that are there, and attaches the disk to this thread.
  package func attach() throws {
    lives += 1
    simulated_disk_attach(nil)
    try write(files(), to: directory)
    let faults = unsafe calls.pointee.faults
    unsafe calls.pointee = simulated_disk()
    unsafe calls.pointee.faults = faults
    unsafe calls.pointee.fault_call = -1
    unsafe calls.pointee.last_change = .max
    unsafe withUnsafeMutableBytes(of: &calls.pointee.directory) { buffer in
      unsafe buffer.copyBytes(from: directory.utf8)
    }
    unsafe calls.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    unsafe calls.pointee.record = { context, operation, path, second, offset, bytes, count in
      guard let context = unsafe context, let path = unsafe path, let second = unsafe second else {
        return
      }
      let disk = unsafe Unmanaged<SimulatedDisk>.fromOpaque(context).takeUnretainedValue()
      let data = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
      unsafe disk.record(
        UInt8(bitPattern: operation), String(cString: path), String(cString: second), Int(offset),
        Array(data))
    }
    unsafe simulated_disk_attach(calls)
  }

  private func record(
    _ operation: UInt8, _ path: String, _ second: String, _ offset: Int, _ bytes: [UInt8]
  ) {
    guard let kind = RecordedCall.Kind(rawValue: String(Unicode.Scalar(operation))) else { return }
    let call = RecordedCall(
      kind: kind, path: path, second: second, offset: offset, bytes: bytes[...]
    ).moved(from: directory, to: Self.base)
    do { try recorded.apply(call) } catch { recordingError = recordingError ?? error }
  }

  /// Ends the process on files of which nothing is kept.
  package func detach() {
    simulated_disk_attach(nil)
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Lets the process do nothing any more; the caller then drops what it holds of it.
  package func kill() { unsafe calls.pointee.is_dead = true }

  /// Ends the process, after `kill` and after the last file is closed.
  ///
  /// A loss takes a part of what was not synced, in units of so many bytes; without one, all of it stays.
  package func end(
    _ loss: (RecordedDisk.Loss, unit: Int)?, _ random: inout SeededGenerator
  ) throws {
    simulated_disk_attach(nil)
    if let recordingError { throw recordingError }
    let files = recorded.image(loss?.0 ?? .nothing, unit: loss?.unit ?? 512, &random)
    if loss != nil {
      recorded = RecordedDisk(files)
    }
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// All files with what was written to them; the paths begin with "/".
  package func files() -> [String: [UInt8]] {
    var random = SeededGenerator(seed: 0)
    var files: [String: [UInt8]] = [:]
    for (path, bytes) in recorded.image(.nothing, unit: 512, &random) {
      files[String(path.dropFirst(Self.base.count))] = bytes
    }
    return files
  }

  /// Replaces all files between two processes, as an administrator does.
  package func replaceFiles(_ files: [String: [UInt8]]) {
    recorded = RecordedDisk(
      Dictionary(uniqueKeysWithValues: files.map { (Self.base + $0.key, $0.value) }))
  }

  private func write(_ files: [String: [UInt8]], to directory: String) throws {
    try FileManager.default.createDirectory(
      atPath: directory + "/state", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for (path, bytes) in files {
      let made = FileManager.default.createFile(
        atPath: directory + path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
      guard made else { throw UnknownCall(description: "cannot make \(directory)\(path)") }
    }
  }
}
