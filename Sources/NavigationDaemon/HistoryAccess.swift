import Journal
import NavigationHub

/// The journal's history: on a thread of its own for all that can wait, else at once.
struct HistoryAccess {
  private let worker: HistoryWorker
  private let directory: String
  private var reader: JournalReader?

  /// Makes access to the journal in a directory; a reader opens when it is needed first.
  init(directory: String) {
    worker = HistoryWorker(directory: directory)
    self.directory = directory
  }

  /// Readable while there are answers.
  var descriptor: Int32 { worker.descriptor }

  /// Hands requests to the thread.
  func ask(_ requests: [HistoryRequest]) { worker.ask(requests) }

  /// Takes the answers of the thread.
  func takeAnswers() -> [HistoryAnswer] { worker.takeAnswers() }

  /// Opens the reader for what cannot wait.
  mutating func open() throws(JournalError) { _ = try opened() }

  /// Reads the rows of a nav, also while the writer writes.
  mutating func chain(
    of request: ReloadRequest
  ) throws(JournalError) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    try opened().chain(of: request)
  }

  private mutating func opened() throws(JournalError) -> JournalReader {
    if let reader { return reader }
    let reader = try JournalReader.open(directory: directory)
    self.reader = reader
    return reader
  }
}
