import Foundation
import Synchronization

/// What must not outlive the command, however it ends: processes and directories.
///
/// A process that is started through `bench-load guard` is ended by the kernel when the command is
/// killed; this is for the signals that can be caught, and for the directories.
final class Cleanup: Sendable {
  static let shared = Cleanup()

  private struct Content {
    var processes: Set<pid_t> = []
    var directories: Set<URL> = []
    var isEnding = false
  }

  private let content = Mutex(Content())
  /// Written to by the handler of a signal.
  private let pipe = Pipe()

  func add(process: pid_t) {
    content.withLock { content in
      if content.isEnding { kill(process, SIGKILL) } else { content.processes.insert(process) }
    }
    waitForEnd()
  }

  func remove(process: pid_t) { content.withLock { _ = $0.processes.remove(process) } }

  /// Makes a directory.
  func add(directory: URL) throws {
    try content.withLock { content in
      guard !content.isEnding else { return }
      content.directories.insert(directory)
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    waitForEnd()
  }

  func remove(directory: URL) { content.withLock { _ = $0.directories.remove(directory) } }

  /// Does not return when a signal has come: what is begun now would remain, and what fails now
  /// needs no word.
  func waitForEnd() {
    while content.withLock({ $0.isEnding }) { Thread.sleep(forTimeInterval: 1) }
  }

  /// From now on SIGINT, SIGTERM and SIGHUP end everything that was added, and the command.
  func endOnSignals() {
    let reader = pipe.fileHandleForReading
    Thread.detachNewThread {
      guard let number = reader.readData(ofLength: 1).first else { return }
      self.end()
      progress("\nbench: ended by signal \(number); no server is left behind\n")
      exit(128 + Int32(number))
    }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // A handler, for signals that are ignored would be ignored by what is started too.
      _ = signal(number) { Cleanup.shared.raise(UInt8($0)) }
    }
  }

  /// Called by the handler of a signal.
  private func raise(_ number: UInt8) {
    _ = unsafe withUnsafeBytes(of: number) { bytes in
      unsafe write(pipe.fileHandleForWriting.fileDescriptor, bytes.baseAddress, bytes.count)
    }
  }

  private func end() {
    let (processes, directories) = content.withLock { content in
      content.isEnding = true
      return (content.processes, content.directories)
    }
    for process in processes { kill(process, SIGKILL) }
    // What is about to die, or is being copied, may still make files.
    for _ in 0..<200 {
      for directory in directories { try? FileManager.default.removeItem(at: directory) }
      let areGone = !directories.contains { FileManager.default.fileExists(atPath: $0.path) }
      if areGone, !processes.contains(where: { kill($0, 0) == 0 }) { return }
      usleep(20_000)
    }
  }
}
