/// Who of this machine has how many connections, those that say nothing too.
///
/// The kernel tells who is behind a descriptor, and libzmq tells whom it asks to let in, but not by
/// which descriptor. What both tell is the process: of its connections at most as many have been let
/// in as were asked for, and at most as many as there are.
struct Attendance {
  /// A process of a user.
  struct Process: Hashable {
    var user: UInt32
    var number: Int32
  }

  private struct Count {
    var open = 0
    var admitted = 0
  }

  private var descriptors: [Int32: Process] = [:]
  private var processes: [Process: Count] = [:]
  private var users: [UInt32: Count] = [:]

  /// The connections of a user that were accepted.
  func open(of user: UInt32) -> Int { users[user]?.open ?? 0 }

  /// The connections of a user that were let in; too many for a moment if others of the same process
  /// were not.
  func admitted(of user: UInt32) -> Int { users[user]?.admitted ?? 0 }

  /// Notes that a process was accepted.
  mutating func noteAccepted(_ process: Process, behind descriptor: Int32) {
    noteEnded(descriptor)
    descriptors[descriptor] = process
    processes[process, default: Count()].open += 1
    users[process.user, default: Count()].open += 1
  }

  /// Notes that a process was let in, by one of its connections.
  ///
  /// That one may have ended before it was answered, so no more are let in than there are. One whose
  /// acceptance is told later is not counted.
  mutating func noteAdmitted(_ process: Process) {
    guard let count = processes[process], count.admitted < count.open else { return }
    processes[process]?.admitted += 1
    users[process.user]?.admitted += 1
  }

  /// Notes that what was behind a descriptor is gone.
  mutating func noteEnded(_ descriptor: Int32) {
    guard let process = descriptors.removeValue(forKey: descriptor),
      var count = processes[process], var total = users[process.user]
    else { return }
    count.open -= 1
    total.open -= 1
    let excess = max(0, count.admitted - count.open)
    count.admitted -= excess
    total.admitted -= excess
    processes[process] = count.open > 0 ? count : nil
    users[process.user] = total.open > 0 || total.admitted > 0 ? total : nil
  }
}
