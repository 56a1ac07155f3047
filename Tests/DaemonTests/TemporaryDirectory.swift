import Foundation

/// Lends a new directory, and removes it afterwards.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("navd-test-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}

/// The root of the package, found from this file's place in it.
let packageRoot = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// Whether a descriptor is readable now.
func isReadable(_ descriptor: Int32) -> Bool {
  var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&asked, 1, 0) == 1
}

/// Waits until a descriptor is readable; the time limit of the suite ends it otherwise.
func awaitReadable(_ descriptor: Int32) {
  var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  while unsafe poll(&asked, 1, -1) != 1 {}
}
