import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// Access to the journal's rows: on a thread of its own for requests that can wait, else at once.
struct HistoryAccess {
  private let worker: HistoryWorker
  private let place: any JournalPlace
  private var reader: JournalReader?
  private var replayed: [ReplayedNav] = []

  /// Makes access to the journal of a place; the reader for urgent requests opens with the first
  /// one.
  init(_ place: any JournalPlace) {
    worker = HistoryWorker(place)
    self.place = place
  }

  /// Readable while there are answers.
  var descriptor: Int32 { worker.descriptor }

  func ask(_ requests: [HistoryRequest]) { worker.ask(requests) }

  func takeAnswer() -> HistoryAnswer? { worker.takeAnswer() }

  /// Requests navs from the history thread, which reads them before anything else.
  func page(in requests: [ReloadRequest], by replayer: NavReplayer) {
    worker.page(in: requests, by: replayer)
  }

  /// Takes the navs that the history thread has replayed; returns the requests for them, and for those that
  /// the disk failed to read, with `report` of the error.
  mutating func takePages(
    _ report: (any Error) -> Void = { _ in }
  ) throws -> [ReloadRequest] {
    try worker.takePages().map { (request, page) in
      if case .failure(let error) = page, page.isFailedRead {
        report(error)
      } else {
        replayed.append(try page.get())
      }
      return request
    }
  }

  /// Takes the navs of `takePages`.
  mutating func takeReplayed() -> [ReplayedNav] {
    defer { replayed = [] }
    return replayed
  }

  /// Opens the readers, while descriptors are available.
  mutating func open() throws(JournalError) {
    _ = try opened()
    worker.open()
  }

  /// Closes the readers, so that the journal can remove its log when it closes.
  mutating func close() {
    reader = nil
    worker.close()
  }

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

/// Reads the journal on a thread of its own, so that the loop never waits: dormant navs and old
/// revisions.
///
/// The loop passes requests by `page` and `ask`, and takes answers by `takePages` and `takeAnswer`
/// when `descriptor` is readable.
final class HistoryWorker: Sendable {
  private struct State {
    var wantedPages: [ReloadRequest] = []
    var replayer: NavReplayer?
    var pages: [(ReloadRequest, Result<ReplayedNav, any Error>)] = []
    var requests: [HistoryRequest] = []
    var answers: [HistoryAnswer] = []
    var mustOpen = false
    var mustClose = false
    var isStarted = false
  }

  private enum Work {
    case page(ReloadRequest, NavReplayer)
    case answer(HistoryRequest)
    case open
    case close
  }

  /// Readable while there are answers.
  let descriptor: Int32
  private let wakeup: Int32
  private let closed: Int32
  private let place: any JournalPlace
  private let state = Mutex(State())

  /// Makes a worker for the journal of a place; its thread starts with the first request.
  init(_ place: any JournalPlace) {
    self.place = place
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
    wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    closed = eventfd(0, Int32(EFD_CLOEXEC))
    precondition(
      descriptor >= 0 && wakeup >= 0 && closed >= 0, "eventfd: errno=\(navd_errno())")
  }

  func ask(_ requests: [HistoryRequest]) { wake { $0.requests += requests } }

  /// Queues requests for navs, which go before all others.
  func page(in requests: [ReloadRequest], by replayer: NavReplayer) {
    wake { state in
      state.wantedPages += requests
      state.replayer = replayer
    }
  }

  /// Opens the journal, unless it is open.
  ///
  /// A failure is repeated, and reported, by the first request.
  func open() { wake { $0.mustOpen = true } }

  /// Closes the journal when the request in progress is answered; waits for that.
  func close() {
    guard state.withLock({ $0.isStarted }) else { return }
    wake { $0.mustClose = true }
    var count: eventfd_t = 0
    while unsafe eventfd_read(closed, &count) != 0 {}
  }

  private func wake(_ change: (inout sending State) -> Void) {
    let mustStart = state.withLock { state in
      change(&state)
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if mustStart { start() }
    eventfd_write(wakeup, 1)
  }

  /// Takes the oldest answer; with more, `descriptor` stays readable.
  func takeAnswer() -> HistoryAnswer? {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
  }

  /// Takes the navs that were read since the last call, or could not be; after `takeAnswer`.
  func takePages() -> [(ReloadRequest, Result<ReplayedNav, any Error>)] {
    state.withLock { state in
      defer { state.pages = [] }
      return state.pages
    }
  }

  private func start() {
    DetachedThread.start { self.run() }
  }

  /// The pause in milliseconds before a failed read is reported, and so tried again.
  private static let failurePause: UInt64 = 1000

  private func run() {
    var reader: JournalReader?
    // The navs that were read, with the times to report them. A failed read waits, other work goes on.
    var pages: [(at: UInt64, page: (ReloadRequest, Result<ReplayedNav, any Error>))] = []
    while true {
      let now = SystemClock.monotonicMilliseconds()
      while let due = pages.firstIndex(where: { $0.at <= now }) {
        let page = pages.remove(at: due).page
        deliver { $0.pages.append(page) }
      }
      guard let work = takeWork() else {
        var entry = pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)
        var count: eventfd_t = 0
        _ = unsafe poll(&entry, 1, pages.first.map { Int32($0.at - now) } ?? -1)
        _ = unsafe eventfd_read(wakeup, &count)
        continue
      }
      switch work {
      case .page(let request, let replayer):
        let page = Result { try readPage(request, replayer, &reader) }
        let pause = page.isFailedRead ? Self.failurePause : 0
        pages.append((SystemClock.monotonicMilliseconds() + pause, (request, page)))
      case .answer(let request):
        let answer = answer(request, &reader)
        deliver { $0.answers.append(answer) }
      case .open: _ = try? opened(&reader)
      case .close:
        reader = nil
        eventfd_write(closed, 1)
      }
    }
  }

  private func deliver(_ change: (inout sending State) -> Void) {
    state.withLock { change(&$0) }
    eventfd_write(descriptor, 1)
  }

  private func takeWork() -> Work? {
    state.withLock { state in
      if state.mustClose {
        state.mustClose = false
        return .close
      }
      if state.mustOpen {
        state.mustOpen = false
        return .open
      }
      if let replayer = state.replayer, !state.wantedPages.isEmpty {
        return .page(state.wantedPages.removeFirst(), replayer)
      }
      return state.requests.isEmpty ? nil : .answer(state.requests.removeFirst())
    }
  }

  private func opened(_ reader: inout JournalReader?) throws(JournalError) -> JournalReader {
    if let reader { return reader }
    let opened = try place.openReader()
    reader = opened
    return opened
  }

  private func readPage(
    _ request: ReloadRequest, _ replayer: NavReplayer, _ reader: inout JournalReader?
  ) throws -> ReplayedNav {
    let (snapshot, rows) = try opened(&reader).chain(of: request)
    return try replayer.replay(request, snapshot: snapshot, rows: rows)
  }

  private func answer(_ request: HistoryRequest, _ reader: inout JournalReader?) -> HistoryAnswer {
    do throws(JournalError) {
      return try Self.answer(request, opened(&reader))
    } catch {
      return HistoryAnswer(token: request.token, failure: error.description)
    }
  }

  static func answer(
    _ request: HistoryRequest, _ reader: JournalReader
  ) throws(JournalError) -> HistoryAnswer {
    switch request.what {
    case .rows(let first, let last):
      let rows = try reader.rows(of: request.nav, from: request.head, first...max(first, last))
      return HistoryAnswer(token: request.token, rows: rows)
    case .state(let revision):
      let (snapshot, rows) = try reader.chain(
        of: ReloadRequest(nav: request.nav, head: request.head), through: revision)
      return HistoryAnswer(token: request.token, snapshot: snapshot, rows: rows)
    }
  }
}

extension Result where Success == ReplayedNav, Failure == any Error {
  /// Whether the disk failed to read, so that the same read may succeed later.
  fileprivate var isFailedRead: Bool {
    if case .failure(let error as JournalError) = self, case .readFailed = error { return true }
    return false
  }
}
