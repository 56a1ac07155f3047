import NavigationClient
import NavigationCore

// One step for one nav: ask the receiver what it has, read rows from the device, send them.

extension Publisher {
  /// The rows asked for at a time; a message of 48 KiB holds fewer of usual ones.
  private static let rowsAtATime: UInt64 = 160
  /// How often a nav is followed from daemon to daemon in one step.
  private static let hops = 4

  /// Carries one message of rows; `isDue` is false as soon as the receiver has everything.
  func carry(_ nav: inout CarriedNav) throws(StepError) {
    if nav.position == .unknown { return try ask(&nav) }
    if nav.isClosed { return try close(&nav) }
    var request = GetRequest(id: 0, nav: nav.name, what: .rows, limit: Self.rowsAtATime)
    if case .at(let position) = nav.position {
      request.from = position.revision
      request.epoch = position.epoch
    }
    while true {
      switch try read(request) {
      case .success(let rows):
        guard !rows.isEmpty else {
          nav.isDue = false
          return try acknowledge(&nav)
        }
        guard try deliver(rows, &nav) else { return }
        guard let next = rows.nextOffset else { return }
        request.offset = next
      case .failure(let refusal):
        switch refusal.knownCode {
        case .compacted: return try carryState(&nav, refusal)
        case .noNav:
          nav.isClosed = true
          return
        default: throw refused(refusal)
        }
      }
    }
  }

  /// Carries the oldest state that the device has, in place of rows that it has not.
  ///
  /// If that is of an epoch that the receiver has beyond it, the newest state is carried.
  private func carryState(_ nav: inout CarriedNav, _ refusal: ErrReply) throws(StepError) {
    let floor = try member("floor", of: refusal)
    do throws(StepError) {
      try carryState(&nav, at: floor)
    } catch {
      guard case .older = error, let newest = refusal.revision else { throw error }
      try carryState(&nav, at: newest.number)
    }
  }

  /// Carries the state at a revision.
  private func carryState(_ nav: inout CarriedNav, at revision: UInt64) throws(StepError) {
    var request = GetRequest(
      id: 0, nav: nav.name, what: .rows, at: Revision(revision))
    while true {
      let rows: CarriedRows
      switch try read(request) {
      case .success(let found): rows = found
      case .failure(let refusal):
        // The floor has risen meanwhile; the next step asks again.
        if refusal.knownCode == .compacted { return }
        throw refused(refusal)
      }
      guard try deliver(rows, &nav), let next = rows.nextOffset else { return }
      request.offset = next
    }
  }

  /// Asks the receiver what it has.
  private func ask(_ nav: inout CarriedNav) throws(StepError) {
    let request = PublishRequest(id: 0, nav: nav.remoteName, content: .position)
    switch try send(request, nil, &nav) {
    case .success(let reply): note(reply.epoch, reply.revision, &nav)
    case .failure(let refusal):
      guard refusal.knownCode == .noNav else { throw refused(refusal) }
      nav.position = .nothing
    }
  }

  private func close(_ nav: inout CarriedNav) throws(StepError) {
    let request = PublishRequest(id: 0, nav: nav.remoteName, content: .closed)
    switch try send(request, nil, &nav) {
    case .success: nav.isDue = false
    case .failure(let refusal): throw refused(refusal)
    }
  }

  /// Sends rows; returns false if the receiver has another position, from which the next step goes on.
  private func deliver(_ rows: CarriedRows, _ nav: inout CarriedNav) throws(StepError) -> Bool {
    var request = PublishRequest(id: 0, nav: nav.remoteName, content: .rows([]))
    if case .at(let position) = nav.position { request.from = position }
    switch try send(request, rows.json, &nav) {
    case .success(let reply):
      // While pieces of a row are collected, the receiver may not have the nav yet.
      if rows.nextOffset == nil { note(reply.epoch, reply.revision, &nav) }
      return true
    case .failure(let refusal) where refusal.knownCode == .desync:
      if refusal.reason == "older" { throw .older }
      note(refusal.epoch, refusal.revision, &nav)
      return false
    case .failure(let refusal): throw refused(refusal)
    }
  }

  private func note(_ epoch: Epoch?, _ revision: Revision?, _ nav: inout CarriedNav) {
    if let epoch, let revision {
      nav.position = .at(NavPosition(epoch: epoch, revision: revision))
    } else {
      nav.position = .nothing
    }
  }

  /// Informs the device of what the receiver has, so that its journal may prune.
  private func acknowledge(_ nav: inout CarriedNav) throws(StepError) {
    guard case .at(let position) = nav.position, nav.acknowledged != position else { return }
    let request = PublishRequest(id: 0, nav: nav.name, content: .acknowledged(position))
    do throws(ConnectionError) {
      let reply = try source.use { (connection) throws(ConnectionError) in
        try connection.publish(request)
      }
      if case .success = reply.result { nav.acknowledged = position }
    } catch {
      throw .connection(error, isReceiver: false)
    }
  }

  // Requests.

  private func read(_ request: GetRequest) throws(StepError) -> Result<CarriedRows, ErrReply> {
    let reply: NavigationConnection.Reply
    do throws(ConnectionError) {
      reply = try source.use { (connection) throws(ConnectionError) in
        try connection.get(request)
      }
    } catch {
      throw .connection(error, isReceiver: false)
    }
    switch reply.result {
    case .failure(let refusal): return .failure(refusal)
    case .success(let answer):
      do throws(JSONError) {
        return .success(try CarriedRows(answer.value?.bytes ?? Array("[]".utf8)))
      } catch {
        throw .refused("the rows of the device cannot be read")
      }
    }
  }

  /// Sends a message to the daemon that serves the nav.
  private func send(
    _ request: PublishRequest, _ rows: [UInt8]?, _ nav: inout CarriedNav
  ) throws(StepError) -> Result<OkReply, ErrReply> {
    for _ in 0..<Self.hops {
      let reply: NavigationConnection.Reply
      do throws(ConnectionError) {
        reply = try receiver(of: nav).use { (connection) throws(ConnectionError) in
          try connection.publish(request, rows: rows)
        }
      } catch {
        throw .connection(error, isReceiver: true)
      }
      guard case .failure(let refusal) = reply.result, refusal.knownCode == .moved,
        let endpoint = refusal.daemon?.endpoint
      else { return reply.result }
      nav.endpoint = endpoint
    }
    throw .later(100)
  }

  private func refused(_ refusal: ErrReply) -> StepError {
    if refusal.retry == Retry.later.rawValue { return .later(refusal.after ?? 500) }
    return .refused("\(refusal.code): \(refusal.message)")
  }

  private func member(_ name: String, of refusal: ErrReply) throws(StepError) -> UInt64 {
    var tape = JSONTape()
    do throws(JSONError) {
      try tape.read(refusal.body.bytes, maximumDepth: 40)
    } catch {
      throw .refused("an answer of the device cannot be read")
    }
    guard let value = tape.member(name, of: tape.root).flatMap({ tape.integer($0) }) else {
      throw .refused("\(refusal.code): \(refusal.message)")
    }
    return value
  }
}
