import NavigationCore

// The statistics of the daemon as a whole, which `get stats` without a nav returns.

extension Hub {
  /// How far watches are behind the durable revisions of their navs.
  package struct Lag: Hashable, Sendable {
    package var watchCount = 0
    /// How many revisions the slowest watch is behind.
    package var largest: UInt64 = 0
    /// The sum, over all watches, of the revisions that they are behind.
    package var sum: UInt64 = 0
    /// Sessions without credit: the client confirms nothing, or libzmq's queue for it is full.
    package var stalledSessions = 0
  }

  /// O(watches + sessions).
  package var lag: Lag {
    var lag = watches.lag(of: navs)
    lag.stalledSessions = sessions.indices.count { !sessions[$0].hasCredit }
    return lag
  }

  private static let busiestSessionCount = 16

  /// The answer to `get verify` without a nav: navd's count of connections beside the kernel's.
  var connectionCountComparison: [UInt8] {
    let differences = measurements[.connectionDifferences]
    return JSONWriter.object { json in
      json.member("ok", differences == 0)
      json.member("counted", measurements[.comparedConnections])
      json.member("open", measurements[.kernelConnections])
      json.member("differences", differences)
    }
  }

  /// The progress of the backup that a client requested, or of a scheduled one; nil if none runs.
  private var backupProgress: BackupProgress? {
    if let backup = reads.backup { return backup.progress }
    let (done, total) = (measurements[.backupDone], measurements[.backupTotal])
    return total > 0 ? BackupProgress(done: min(done, total), total: total) : nil
  }

  func statistics(for sender: Sender) -> [UInt8] {
    let lag = lag
    // By default only an administrator may see the sessions in `$clients`; the same holds here.
    let isAdmin = access.administers(sender.peer)
    let busiest = isAdmin ? sessions.busiest(Self.busiestSessionCount) : nil
    return JSONWriter.object { json in
      json.optional("server", configuration.server)
      json.member("boot", hex: boot.bits)
      json.member("seq", batches.totalSequence)
      json.member("navs", UInt64(navs.count))
      json.member("loadedNavs", UInt64(navs.loadedCount))
      json.member("sessions", UInt64(sessions.count))
      json.member("watches", UInt64(watches.count))
      json.member("rememberedClients", UInt64(remembered.clientCount))
      json.member("resumeBytes", UInt64(max(navs.ringBytes, 0)))
      if let backup = backupProgress {
        json.object("backup") { json in
          json.member("done", backup.done)
          json.member("total", backup.total)
        }
      }
      json.member("serving", !isStopping)
      json.optional("storageProblem", measurements.storageProblem)
      json.optional("socketProblem", measurements.socketProblem)
      json.member("uptime", timer.now.boot - min(timer.now.boot, measurements[.startedAt]))
      json.gauges(measurements, lag)
      if let view = shards.view { json.cluster(view, here: shards.here.count) }
      json.counters(measurements)
      if let busiest {
        json.busiest(busiest.map { (sessions[$0], watchCount: watches.of(session: $0).count) })
      }
      if isAdmin { json.strings("roles", access.knownRoles) }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func cluster(_ view: ClusterView, here: Int) {
    let alive = view.members.filter(\.isAlive)
    object("cluster") { json in
      json.member("member", view.ownName)
      json.member("shards", UInt64(here))
      json.member("members", UInt64(alive.count))
      json.member("unowned", UInt64(Shard.count - alive.reduce(0) { $0 + $1.shards.count }))
      json.member("lease", UInt64(max(alive.first { $0.name == view.ownName }?.leaseLeft ?? 0, 0)))
    }
  }

  fileprivate mutating func gauges(_ measurements: Measurements, _ lag: Hub.Lag) {
    member("connections", measurements[.connections])
    array("principals", measurements.principals) { json, entry in
      json.object { json in
        json.member("principal", entry.principal)
        json.member("connections", entry.count)
      }
    }
    member("connectionDifferences", measurements[.connectionDifferences])
    object("lag") { json in
      json.member("watches", UInt64(lag.watchCount))
      json.member("max", lag.largest)
      json.member("sum", lag.sum)
      json.member("stalled", UInt64(lag.stalledSessions))
    }
    object("journal") { json in
      json.member("bytes", measurements[.journalBytes])
      json.member("walBytes", measurements[.walBytes])
      json.member("walPages", measurements[.walPages])
      json.member("limit", measurements[.retentionBytes])
    }
    object("backups") { json in
      json.member("every", measurements[.backupInterval])
      if measurements[.backupAge] > 0 { json.member("age", measurements[.backupAge] - 1) }
      json.member("overdue", measurements[.backupOverdue] > 0)
      json.member("retentionFailed", measurements[.backupRetentionFailed] > 0)
      json.member("made", measurements[.backupsMade])
      json.member("failed", measurements[.backupsFailed])
    }
    if measurements[.rowsToPrune] > 0 {
      object("prune") { json in
        json.member("done", measurements[.prunedRows])
        json.member("total", measurements[.rowsToPrune])
      }
    }
    object("disk") { json in
      json.member("free", measurements[.diskFree])
      json.member("size", measurements[.diskSize])
    }
    object("process") { json in
      json.member("descriptorLimit", measurements[.descriptorLimit])
      json.member("connectionLimit", measurements[.connectionLimit])
      json.member("principalLimit", measurements[.connectionsPerPrincipalLimit])
      let version = measurements[.libzmqVersion]
      json.member("libzmq", "\(version / 10000).\(version / 100 % 100).\(version % 100)")
    }
  }

  fileprivate mutating func counters(_ measurements: Measurements) {
    object("operations") { json in
      for (word, outcome) in Outcome.ofOperations {
        json.unlessZero(word, measurements[outcome])
      }
    }
    object("refusals") { json in
      for code in ErrorCode.allCases {
        json.unlessZero(code.rawValue, measurements[.refusedMessage(code)])
      }
    }
    object("messages") { json in
      json.member("received", measurements[.received])
      json.member("sent", measurements[.sent])
      json.member("diffs", measurements[.diffs])
      json.member("snapshots", measurements[.snapshots])
    }
    member("opened", measurements[.sessionsOpened])
    object("ended") { json in
      for endReason in SessionEndReason.allCases {
        json.unlessZero(endReason.rawValue, measurements[endReason])
      }
    }
    object("commit") { $0.histogram(measurements[.commitNanoseconds]) }
    object("fanOut") { $0.histogram(measurements[.fanOutNanoseconds]) }
    object("batch") { $0.histogram(measurements[.recordsPerCommit]) }
  }

  fileprivate mutating func busiest(_ sessions: [(session: Session, watchCount: Int)]) {
    array("busiest", sessions) { json, entry in
      json.object { json in
        json.member("id", entry.session.client.text)
        json.member("name", entry.session.name)
        json.member("ops", entry.session.answeredOps)
        json.member("watches", UInt64(entry.watchCount))
      }
    }
  }

  private mutating func histogram(_ histogram: Histogram) {
    member("sum", histogram.sum)
    array("bounds", histogram.bounds) { $0.integer($1) }
    array("counts", histogram.counts) { $0.integer($1) }
  }

  private mutating func unlessZero(_ name: String, _ value: UInt64) {
    guard value > 0 else { return }
    dynamicName(name)
    integer(value)
  }
}
