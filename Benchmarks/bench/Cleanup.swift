import Foundation
import Synchronization

/// Ends what must not outlive the command: processes and directories.
///
/// If the command is killed, the kernel ends the processes that were started through `bench-load
/// guard`. This class handles the signals that can be caught, and removes the directories.
final class Cleanup: Sendable {
  static let shared = Cleanup()

  private struct Content {
    var processes: Set<pid_t> = []
    var directories: Set<URL> = []
    var isEnding = false
  }

  private let content = Mutex(Content())
  /// The pipe to which the handler of a signal writes the number of the signal.
  private let pipe = Pipe()

  func add(process: pid_t) {
    content.withLock { content in
      if content.isEnding { kill(process, SIGKILL) } else { content.processes.insert(process) }
    }
    waitForEnd()
  }

  func remove(process: pid_t) { content.withLock { _ = $0.processes.remove(process) } }

  /// Makes a directory, and registers it for removal.
  func add(directory: URL) throws {
    try content.withLock { content in
      guard !content.isEnding else { return }
      content.directories.insert(directory)
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    waitForEnd()
  }

  func remove(directory: URL) { content.withLock { _ = $0.directories.remove(directory) } }

  /// Blocks for ever once a signal has arrived.
  ///
  /// A server that starts now would remain, and an error that follows from the end needs no
  /// message.
  func waitForEnd() {
    while content.withLock({ $0.isEnding }) { Thread.sleep(forTimeInterval: 1) }
  }

  /// Makes SIGINT, SIGTERM and SIGHUP end everything that was added, and the command.
  func endOnSignals() {
    let reader = pipe.fileHandleForReading
    Thread.detachNewThread {
      guard let number = reader.readData(ofLength: 1).first else { return }
      self.end()
      progress("\nbench: ended by signal \(number); no server is left behind\n")
      exit(128 + Int32(number))
    }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // A handler, because child processes inherit ignored signals.
      _ = signal(number) { Cleanup.shared.raise(UInt8($0)) }
    }
  }

  /// Passes the number of a signal to the waiting thread; the handler of the signal calls it.
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
    // Processes that are ending, or a copy in progress, may still create files.
    for _ in 0..<200 {
      for directory in directories { try? FileManager.default.removeItem(at: directory) }
      let areGone = !directories.contains { FileManager.default.fileExists(atPath: $0.path) }
      if areGone, !processes.contains(where: { kill($0, 0) == 0 }) { return }
      usleep(20_000)
    }
  }
}
