import Glibc
import RuntimePaths

/// Finds the directory of the running program, and other programs in that directory.
package enum RunningProgram {
  /// The directory of the running program; nil if the kernel does not report it.
  package static var directory: String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return parentDirectory(of: path)
  }

  /// The path of a program of the project: in the directory of the running one if it is there,
  /// else its name alone, which execvp(3) searches in `PATH`.
  package static func executable(named program: String) -> String {
    guard let directory, FileStatus.probe("\(directory)/\(program)") != nil else { return program }
    return "\(directory)/\(program)"
  }
}
