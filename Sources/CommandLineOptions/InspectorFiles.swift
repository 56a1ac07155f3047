import RuntimePaths

/// The files of the inspector's page, which `make inspector` builds and the package installs.
package enum InspectorFiles {
  /// The error if none of the tried directories has the page.
  package struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    package let tried: [String]

    package var description: String {
      "the page of the inspector is in none of \(tried.joined(separator: ", ")): "
        + "install navd-inspector, run make inspector, or name the directory by --page"
    }
  }

  /// Finds the directory that has the file `page`.
  ///
  /// The option names the directory. Without it, the function tries those beside this program, then
  /// that of the package. For a recording, the page is `offline.html`.
  package static func directory(option: String?, having page: String = "index.html")
    throws(Missing) -> String
  {
    let places = option.map { [$0] } ?? candidates(programDirectory: RunningProgram.directory)
    let found = places.first { FileStatus.probe("\($0)/\(page)")?.kind == .regular }
    guard let found else { throw Missing(tried: places) }
    return found
  }

  static func candidates(programDirectory directory: String?) -> [String] {
    let packaged = "/usr/share/navd/inspector"
    guard let directory else { return [packaged] }
    let parent = parentDirectory(of: directory)
    // .build/release is a link to .build/TRIPLE/release, which the kernel reports.
    let own = ["\(parent)/share/navd/inspector", "\(parentDirectory(of: parent))/inspector"]
    return own.contains(packaged) ? own : own + [packaged]
  }
}
