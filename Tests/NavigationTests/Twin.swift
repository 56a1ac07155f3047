import NavigationCore
import NavigationHub

/// The obvious slow model of a nav: arrays of values, copied whole and compared whole.
///
/// It knows titles and buttons of screens, which is enough to make contents differ.
struct Twin {
  struct Face: Hashable {
    var title: String
    var action: String?
  }

  struct Record: Hashable {
    var id: ScreenID
    var version: UInt64
    var title: String?
    var canPop = true
    var left: [ButtonID] = []
    var right: [ButtonID] = []
    var tool: [ButtonID] = []
    var back: ButtonID?
    var buttons: [ButtonID] { left + right + tool + (back.map { [$0] } ?? []) }
  }

  struct Link: Hashable {
    var record: Record
    var from: ScreenID?
  }

  enum Entry: Hashable {
    case screen(Record)
    case button(ButtonID)
  }

  var revision: UInt64 = 1
  var settingsVersion: UInt64 = 1
  var stack: [Record] = []
  /// The presented screens, each with its presenter.
  var chain: [Link] = []
  var presentedVersion: UInt64 = 1
  var detached: [Entry] = []
  var faces: [ButtonID: Face] = [:]
  var isAttached = false
  var queue: UInt64 = 8
  var limits: NavigationLimits

  // What one message notes.
  var edited: Set<ScreenID> = []
  var editedButtons: Set<ButtonID> = []
  var touched: Set<DetachedRecords.Key> = []
  var hasReleased = false
  var replacesWhole = false
  var exchanged: Set<ScreenID> = []
  var changesChain = false
  var results: [ScreenID: OpaqueJSON] = [:]
  var animated: Bool?
  var assignedScreens = 0
  var assignedButtons = 0

  init(limits: NavigationLimits) { self.limits = limits }

  struct Answer: Equatable {
    var outputs: [OperationOutput] = []
    var isChanged = false
    var events: [NavigationEvent] = []
    var relation: TopRelation?
  }

  /// Runs a message on a copy and keeps the copy if it changed anything.
  mutating func run(_ operations: [Operation], animated: Bool?) throws(Refusal) -> Answer {
    var next = self
    next.begin(animated)
    var answer = Answer()
    for (index, operation) in operations.enumerated() {
      do throws(NavigationError) {
        answer.outputs.append(try next.run(operation))
      } catch {
        throw Refusal(operationIndex: index, error: error)
      }
    }
    guard next.contents != contents else { return answer }
    next.settle(since: self)
    answer.isChanged = true
    answer.events = next.events(since: self)
    answer.relation = next.replacesWhole ? next.relation(since: self) : nil
    self = next
    return answer
  }

  private mutating func begin(_ animated: Bool?) {
    revision += 1
    edited = []
    editedButtons = []
    touched = []
    hasReleased = false
    replacesWhole = false
    exchanged = []
    changesChain = false
    results = [:]
    self.animated = animated
    assignedScreens = 0
    assignedButtons = 0
  }
}

extension Twin {
  struct Content: Hashable {
    var record: Record
    var faces: [Face?]
  }

  struct Contents: Equatable {
    var stack: [Content]
    var chain: [Content]
    var presenters: [ScreenID?]
    var detached: Set<Content>
    var free: [ButtonID: Face]
    var isAttached: Bool
    var queue: UInt64
  }

  func content(_ record: Record) -> Content {
    var plain = record
    plain.version = 0
    return Content(record: plain, faces: record.buttons.map { faces[$0] })
  }

  /// Everything but versions and the order of what is detached.
  var contents: Contents {
    var free: [ButtonID: Face] = [:]
    for case .button(let id) in detached { free[id] = faces[id] }
    return Contents(
      stack: stack.map(content), chain: chain.map { content($0.record) },
      presenters: chain.map(\.from), detached: Set(detachedScreens.map(content)), free: free,
      isAttached: isAttached, queue: queue)
  }

  var detachedScreens: [Record] {
    detached.compactMap { if case .screen(let record) = $0 { record } else { nil } }
  }

  var all: [Record] { stack + chain.map(\.record) + detachedScreens }

  var shown: Set<ButtonID> { Set(all.flatMap(\.buttons)) }

  func record(_ id: ScreenID) -> Record? { all.first { $0.id == id } }

  func isPresented(_ id: ScreenID) -> Bool { chain.contains { $0.record.id == id } }

  func isOnStack(_ id: ScreenID) -> Bool { stack.contains { $0.id == id } }

  mutating func touch(_ entry: Entry) {
    remove(entry.key)
    detached.append(entry)
    touched.insert(entry.key)
  }

  mutating func remove(_ key: DetachedRecords.Key) { detached.removeAll { $0.key == key } }

  private mutating func settle(since before: Twin) {
    // Contents that are what they were keep the version they had.
    func version(_ record: Record) -> UInt64 {
      guard let old = before.record(record.id), before.content(old) == content(record) else {
        return revision
      }
      return old.version
    }
    stack = stack.map { old in
      var record = old
      record.version = version(old)
      return record
    }
    chain = chain.map { old in
      var link = old
      link.record.version = version(old.record)
      return link
    }
    if chain != before.chain { presentedVersion = revision }
    detached = detached.map { entry in
      guard case .screen(var record) = entry else { return entry }
      record.version = version(record)
      return .screen(record)
    }
    if isAttached != before.isAttached || queue != before.queue { settingsVersion = revision }
    order(since: before)
    while detached.count > limits.detachedRecords { forget(detached[0]) }
  }

  /// What the message left alone is oldest; then come screens it only removed, buttons it only took
  /// out of lists, and the rest as they were touched.
  private mutating func order(since before: Twin) {
    let gone = before.stack.map(\.id).filter { !isOnStack($0) }
    let dismissed = before.chain.map(\.record.id).filter { !isPresented($0) }
    let removed = (gone + dismissed).filter { !edited.contains($0) }
    let recent = detached.filter { touched.contains($0.key) }
    detached.removeAll { touched.contains($0.key) }
    for id in removed { detached += recent.filter { $0.key == .screen(id) } }
    let wasShown = before.shown
    let dropped = recent.filter {
      guard case .button(let id) = $0 else { return false }
      return wasShown.contains(id) && !editedButtons.contains(id) && !hasReleased
    }
    detached += dropped.sorted { $0.text < $1.text }
    detached += recent.filter { !detached.contains($0) }
  }

  mutating func forget(_ entry: Entry) {
    remove(entry.key)
    switch entry {
    case .button(let id): faces[id] = nil
    case .screen(let record):
      for id in record.buttons where !shown.contains(id) { faces[id] = nil }
    }
  }

  private func relation(since before: Twin) -> TopRelation {
    guard let top = stack.last?.id else { return .empty }
    if before.stack.last?.id == top { return .same }
    return before.isOnStack(top) ? .back : .new
  }

  private func events(since before: Twin) -> [NavigationEvent] {
    guard isAttached, let top = stack.last?.id else { return [] }
    guard before.isAttached else {
      return [.willShow(top, animated: false), .didShow(top, animated: false)]
    }
    let wereShown = before.chain.map(\.record.id)
    let areShown = chain.map(\.record.id)
    let dismissals = wereShown.reversed().filter { !areShown.contains($0) }
      .map { NavigationEvent.didDismiss($0, result: results[$0]) }
    let presentations = areShown.filter { !wereShown.contains($0) }
      .map { NavigationEvent.didPresent($0) }
    var moves: [NavigationEvent] = []
    if !replacesWhole {
      let old = before.stack.map(\.id)
      let new = stack.map(\.id)
      moves += old.reversed().filter { !new.contains($0) && !exchanged.contains($0) }.map {
        .didPop($0, result: results[$0])
      }
      moves += new.filter { !old.contains($0) && !exchanged.contains($0) }.map { .didPush($0) }
    }
    // The end of an animated presentation reports only presentations, after all other events.
    let isPresentation = changesChain && animated == true && before.stack.last?.id == top
    let events =
      isPresentation
      ? moves + dismissals + presentations : dismissals + moves + presentations
    guard before.stack.last?.id != top else { return events }
    let flag = animated ?? false
    let left = before.stack.last?.id
    let leaving = left.map { [NavigationEvent.willHide($0, animated: flag)] } ?? []
    let gone = left.map { [NavigationEvent.didHide($0, animated: flag)] } ?? []
    return leaving + [.willShow(top, animated: flag)] + events + gone
      + [.didShow(top, animated: flag)]
  }
}

extension Twin.Entry {
  var key: DetachedRecords.Key {
    switch self {
    case .screen(let record): .screen(record.id)
    case .button(let id): .button(id)
    }
  }

  var text: String {
    switch self {
    case .screen(let record): record.id.text
    case .button(let id): id.text
    }
  }
}
