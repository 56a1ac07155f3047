import NavigationCore
import RuntimePaths

/// A directory of backups that the daemon makes by itself, named `navd-YYYYMMDDTHHMMSSZ.db` in UTC.
///
/// Backups that a client asks for have other names, so that they are never removed.
package enum BackupFolder {
  private static let (prefix, suffix) = ("navd-", ".db")

  /// The name for a time in seconds since 1970.
  package static func name(ofSeconds seconds: Int) -> String {
    prefix + Timestamp.fileName(ofSeconds: seconds) + suffix
  }

  /// The seconds since 1970 in a name; nil for a name of any other form.
  package static func seconds(of name: String) -> Int? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    let text = name.dropFirst(prefix.count).dropLast(suffix.count)
    guard let seconds = Timestamp.seconds(ofFileName: String(text)) else { return nil }
    return Self.name(ofSeconds: seconds) == name ? seconds : nil
  }

  /// Finds the backups to remove, so that `keep` of them stay.
  ///
  /// A wrong clock made names that are later than `newest`. Such names do not count towards `keep`.
  /// Their files stay, because the present clock can be the wrong one.
  ///
  /// `keep` is at least 1. `newest` was just made, and stays whatever its time is. Names of another
  /// form are never returned. The oldest comes first.
  package static func namesToRemove(
    from names: [String], keeping keep: Int, newest: String
  ) -> [String] {
    let others = names.filter { $0 < newest && seconds(of: $0) != nil }.sorted()
    return Array(others.dropLast(max(keep, 1) - 1))
  }

  /// The names of the regular files that the daemon made by itself, in ascending order; empty if there
  /// is no directory.
  package static func names(in folder: String) throws(JournalError) -> [String] {
    do throws(SystemError) {
      return try namesInDirectory(folder).filter { name in
        seconds(of: name) != nil
          && FileStatus.probe("\(folder)/\(name)")?.kind == .regular
      }
    } catch {
      throw .unreadable(path: folder, reason: SystemError.text(of: error.code))
    }
  }

  /// Finds the time of the newest backup in seconds since 1970; nil if there is none.
  ///
  /// Names later than `now` do not count. Throws `.unreadable` if the directory cannot be read.
  package static func newestSeconds(in folder: String, upTo now: Int) throws(JournalError) -> Int? {
    try names(in: folder).compactMap { seconds(of: $0) }.filter { $0 <= now }.max()
  }

  /// Removes the oldest backups beyond `keep`, at least 1; the one with the name `newest` stays.
  ///
  /// It goes on after a file that cannot be removed. It returns the names of the files that are
  /// removed, and the first error.
  package static func prune(
    _ folder: String, keeping keep: Int, newest: String,
    remove: (String) throws(JournalError) -> Void = unlinkFile
  ) -> (removed: [String], firstError: JournalError?) {
    var (removed, firstError): ([String], JournalError?) = ([], nil)
    do throws(JournalError) {
      for name in namesToRemove(from: try names(in: folder), keeping: keep, newest: newest) {
        do throws(JournalError) {
          try remove(folder + "/" + name)
          removed.append(name)
        } catch {
          firstError = firstError ?? error
        }
      }
      if !removed.isEmpty { try syncFile(folder) }
    } catch {
      firstError = firstError ?? error
    }
    return (removed, firstError)
  }
}
