extension Journal {
  /// Figures for people and monitors.
  package struct Statistics: Hashable, Sendable {
    /// Size of the file in bytes.
    package var fileBytes: Int
    /// Size of the write-ahead log's file in bytes; it keeps its size when it is emptied.
    package var walBytes: Int
    /// Rows stored.
    package var rows: UInt64
    /// Snapshots stored.
    package var snapshots: UInt64
    /// Navs with rows or snapshots.
    package var navs: Int
    /// Bytes of all rows, as `Retention.bytes` counts them.
    package var rowBytes: Int
    /// Batches committed since `open`.
    package var commits: UInt64
  }

  /// The sizes of the journal's file and of its write-ahead log's, in bytes; 0 where there is no
  /// telling.
  ///
  /// Any thread may ask: the files are looked up by their names.
  package var fileSizes: (journal: Int, log: Int) {
    let path = directory + "/" + Self.fileName
    let sizes = [path, path + "-wal"].map { path in
      do throws(JournalError) { return try fileSize(path) ?? 0 } catch { return 0 }
    }
    return (sizes[0], sizes[1])
  }

  /// The figures now; it asks the file system for two of them.
  package func statistics() throws(JournalError) -> Statistics {
    let path = directory + "/" + Self.fileName
    return Statistics(
      fileBytes: try fileSize(path) ?? 0, walBytes: try fileSize(path + "-wal") ?? 0,
      rows: census.stored.rows, snapshots: census.stored.snapshots, navs: ledger.entries.count,
      rowBytes: ledger.bytes, commits: commits)
  }
}
