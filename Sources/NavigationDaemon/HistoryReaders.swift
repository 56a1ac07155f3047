import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// The two readers of the journal: one on a thread of its own, for requests that can wait, and one
/// on the calling thread.
struct HistoryReaders {
  private let worker: HistoryWorker
  private let place: any JournalPlace
  private var reader: JournalReader?
  private var replayedNavs: [ReplayedNav] = []

  /// Makes both readers; each opens the journal with its first request.
  init(_ place: any JournalPlace) {
    worker = HistoryWorker(place)
    self.place = place
  }

  /// The file descriptor, which is readable while answers or replayed navs wait.
  var descriptor: Int32 { worker.output.descriptor }

  func ask(_ requests: [HistoryRequest]) {
    for request in requests { worker.add(.answer(request)) }
  }

  /// Takes the oldest answer; with more, `descriptor` stays readable.
  func takeAnswer() -> HistoryAnswer? {
    worker.output.take { output -> HistoryAnswer? in
      guard let index = output.firstIndex(where: { !$0.isReplay }),
        case .answer(let answer) = output.remove(at: index)
      else { return nil }
      return answer
    } ?? nil
  }

  /// Has the history thread replay navs, before it reads anything else.
  func startReplays(of requests: [ReloadRequest], by replayer: NavReplayer) {
    for request in requests { worker.add(.replay(request, replayer)) }
  }

  /// Takes the navs that the history thread has replayed, and returns their requests; for a nav
  /// that the disk failed to read, it calls `report` and returns the request too.
  mutating func takeFinishedReplays(
    _ report: (any Error) -> Void = { _ in }
  ) throws -> [ReloadRequest] {
    let pages = worker.output.take { output -> [HistoryWorker.Output] in
      defer { output.removeAll(where: \.isReplay) }
      return output.filter(\.isReplay)
    }
    return try (pages ?? []).compactMap { output in
      guard case .replay(let request, let page) = output else { return nil }
      if case .failure(let error) = page, page.isFailedRead {
        report(error)
      } else {
        replayedNavs.append(try page.get())
      }
      return request
    }
  }

  mutating func takeReplayedNavs() -> [ReplayedNav] {
    defer { replayedNavs = [] }
    return replayedNavs
  }

  /// Opens the readers early, while file descriptors are available; the first read tries again what
  /// fails, and reports it.
  mutating func open() {
    _ = try? place.reader(&reader)
    worker.add(.open)
  }

  /// Closes the readers, so that the journal can remove its write-ahead log when it closes.
  mutating func close() {
    reader = nil
    worker.close()
  }

  /// Reads the rows of a nav at once; the writer may be writing at the same time.
  mutating func snapshotAndRows(
    of request: ReloadRequest
  ) throws(JournalError) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    try place.reader(&reader).chain(of: request)
  }
}

extension JournalPlace {
  /// A reader that is opened when it is first used.
  fileprivate func reader(_ held: inout JournalReader?) throws(JournalError) -> JournalReader {
    if let held { return held }
    let reader = try openReader()
    held = reader
    return reader
  }
}

/// Reads dormant navs and old revisions on a thread of its own, so that the loop never waits for
/// the disk.
final class HistoryWorker: Sendable {
  /// A task of the thread, which does tasks with a lower `rank` first.
  enum Work: Sendable {
    /// Opens the journal, unless it is open; without a report of a failure.
    case open
    case close
    case replay(ReloadRequest, NavReplayer)
    case answer(HistoryRequest)

    fileprivate var rank: Int {
      switch self {
      case .open, .close: 0
      case .replay: 1
      case .answer: 2
      }
    }
  }

  /// What the thread has read.
  enum Output: Sendable {
    case replay(ReloadRequest, Result<ReplayedNav, any Error>)
    case answer(HistoryAnswer)

    var isReplay: Bool { if case .replay = self { true } else { false } }
  }

  let output = Mailbox<Output>()
  private let input = Mailbox<Work>()
  private let closed = Mailbox<Bool>()
  private let place: any JournalPlace
  private let isStarted = Atomic<Bool>(false)

  /// Makes a worker, whose thread starts with the first task.
  init(_ place: any JournalPlace) { self.place = place }

  func add(_ work: Work) {
    input.append(work)
    if !isStarted.exchange(true, ordering: .relaxed) { Thread.start { self.run() } }
  }

  /// Waits until the request in progress is answered, then closes the journal.
  func close() {
    guard isStarted.load(ordering: .relaxed) else { return }
    input.append(.close)
    while closed.take().isEmpty { closed.wait() }
  }

  /// The milliseconds after which the thread reports a failed read, which the loop then repeats.
  private static let failureReportDelay: UInt64 = 1000

  private func run() {
    var reader: JournalReader?
    var waiting: [Work] = []
    // The reads that failed, with the times to report them; other work goes on.
    var failures: [(at: UInt64, page: Output)] = []
    while true {
      waiting += input.take()
      let now = SystemClock.monotonicMilliseconds()
      while let failure = failures.first, failure.at <= now {
        output.append(failures.removeFirst().page)
      }
      guard let next = waiting.indices.min(by: { waiting[$0].rank < waiting[$1].rank }) else {
        input.wait(milliseconds: failures.first.map { Int32($0.at - now) } ?? -1)
        continue
      }
      switch waiting.remove(at: next) {
      case .replay(let request, let replayer):
        let page = Result<ReplayedNav, any Error> {
          let (snapshot, rows) = try place.reader(&reader).chain(of: request)
          return try replayer.replay(request, snapshot: snapshot, rows: rows)
        }
        if page.isFailedRead {
          let time = SystemClock.monotonicMilliseconds() + Self.failureReportDelay
          failures.append((time, .replay(request, page)))
        } else {
          output.append(.replay(request, page))
        }
      case .answer(let request): output.append(.answer(answer(request, &reader)))
      case .open: _ = try? place.reader(&reader)
      case .close:
        reader = nil
        closed.append(true)
      }
    }
  }

  private func answer(_ request: HistoryRequest, _ reader: inout JournalReader?) -> HistoryAnswer {
    do throws(JournalError) {
      let reader = try place.reader(&reader)
      switch request.part {
      case .rows(let first, let last):
        let rows = try reader.rows(
          of: request.nav, from: request.newestRow, first...max(first, last))
        return HistoryAnswer(token: request.token, rows: rows)
      case .state(let revision):
        let (snapshot, rows) = try reader.chain(
          of: ReloadRequest(nav: request.nav, newestRow: request.newestRow), through: revision)
        return HistoryAnswer(token: request.token, snapshot: snapshot, rows: rows)
      }
    } catch {
      return HistoryAnswer(token: request.token, failure: error.description)
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
