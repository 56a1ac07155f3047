import CLinux
import Journal
import NavigationCore
import Synchronization

/// Access to the journal's history: on a thread of its own for requests that can wait, else at
/// once.
struct HistoryAccess {
  private let worker: HistoryWorker
  private let place: any JournalPlace
  private var reader: JournalReader?

  /// Makes access to the journal of a place; the reader for urgent requests opens with the first
  /// one.
  init(_ place: any JournalPlace) {
    worker = HistoryWorker(place)
    self.place = place
  }

  /// Readable while there are answers.
  var descriptor: Int32 { worker.descriptor }

  /// Passes requests to the history thread.
  func ask(_ requests: [HistoryRequest]) { worker.ask(requests) }

  /// Takes the answers of the history thread.
  func takeAnswers() -> [HistoryAnswer] { worker.takeAnswers() }

  /// Opens the reader for urgent requests.
  mutating func open() throws(JournalError) { _ = try opened() }

  /// Closes the reader for urgent requests, so that the journal can remove its log when it closes.
  mutating func close() { reader = nil }

  /// Reads the rows of a nav at once; the writer may be writing at the same time.
  mutating func chain(
    of request: ReloadRequest
  ) throws(JournalError) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    try opened().chain(of: request)
  }

  private mutating func opened() throws(JournalError) -> JournalReader {
    if let reader { return reader }
    let reader = try place.openReader()
    self.reader = reader
    return reader
  }
}

/// Reads old revisions from the journal on a thread of its own, so that the loop never waits.
///
/// The loop passes requests by `ask`, and takes answers by `takeAnswers` when `descriptor` is
/// readable.
final class HistoryWorker: Sendable {
  private struct State {
    var requests: [HistoryRequest] = []
    var answers: [HistoryAnswer] = []
    var isStarted = false
  }

  /// Readable while there are answers.
  let descriptor: Int32
  private let wakeup: Int32
  private let place: any JournalPlace
  private let state = Mutex(State())

  /// Makes a worker for the journal of a place; its thread starts with the first request.
  init(_ place: any JournalPlace) {
    self.place = place
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    wakeup = eventfd(0, Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0 && wakeup >= 0, "eventfd: errno=\(navd_errno())")
  }

  /// Queues requests.
  func ask(_ requests: [HistoryRequest]) {
    let mustStart = state.withLock { state in
      state.requests += requests
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if mustStart { start() }
    eventfd_write(wakeup, 1)
  }

  /// Takes the finished answers.
  func takeAnswers() -> [HistoryAnswer] {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  private func start() {
    DetachedThread.start { self.run() }
  }

  private func run() {
    var reader: JournalReader?
    while true {
      var count: eventfd_t = 0
      guard unsafe eventfd_read(wakeup, &count) == 0 else { continue }
      let requests = state.withLock { state in
        defer { state.requests = [] }
        return state.requests
      }
      for request in requests {
        let answer = answer(request, &reader)
        state.withLock { $0.answers.append(answer) }
        eventfd_write(descriptor, 1)
      }
    }
  }

  private func answer(_ request: HistoryRequest, _ reader: inout JournalReader?) -> HistoryAnswer {
    do throws(JournalError) {
      if reader == nil { reader = try place.openReader() }
      guard let reader else { return HistoryAnswer(token: request.token, failure: "no reader") }
      return try Self.answer(request, reader)
    } catch {
      return HistoryAnswer(token: request.token, failure: error.description)
    }
  }

  /// Performs one request.
  static func answer(
    _ request: HistoryRequest, _ reader: JournalReader
  ) throws(JournalError) -> HistoryAnswer {
    switch request.what {
    case .rows(let first, let last):
      let rows = try reader.history(
        of: request.nav, from: request.head, downTo: first, limit: Int.max)
      return HistoryAnswer(
        token: request.token, rows: rows.reversed().filter { $0.revision <= last })
    case .state(let revision):
      let (snapshot, rows) = try reader.chain(
        of: ReloadRequest(nav: request.nav, head: request.head), notAfter: revision)
      return HistoryAnswer(
        token: request.token, snapshot: snapshot, rows: rows.filter { $0.revision <= revision })
    }
  }
}
