import Foundation
import Testing

/// What a process holds, as the kernel counts it.
struct Vitals: CustomStringConvertible {
  /// Memory, in kilobytes.
  var memory = 0
  var descriptors = 0

  init(of pid: Int32) {
    let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    for line in status.split(separator: "\n") where line.hasPrefix("VmRSS:") {
      memory = Int(line.split(separator: " ").dropLast().last ?? "") ?? 0
    }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
    descriptors = entries?.count ?? 0
  }

  /// The larger of both, one by one.
  func joined(_ other: Vitals) -> Vitals {
    var most = self
    most.memory = max(memory, other.memory)
    most.descriptors = max(descriptors, other.descriptors)
    return most
  }

  var description: String { "\(memory / 1024) MB, \(descriptors) descriptors" }
}

/// A client that goes on working over ipc while something is done to its daemon.
///
/// Each of its ops is conditional on the revision that it knows: one that is lost or done twice
/// would be refused from there on.
final class Bystander: @unchecked Sendable {
  /// Guards everything that changes while its thread runs.
  private let lock = NSCondition()
  private var isStopping = false
  private var hasEnded = false
  private var problem: String?
  private var latencies: [Double] = []
  private var peak: Vitals
  private let peer: Peer
  private let daemon: TestDaemon
  private let pid: Int32
  private var revision: UInt64 = 1
  private var title = 0

  init(_ daemon: TestDaemon) throws {
    self.daemon = daemon
    pid = daemon.child.pid
    peak = Vitals(of: pid)
    peer = try Peer(daemon.endpoint)
    try peer.hello(name: "bystander")
    try peer.create("calm")
    revision = try peer.state("calm")["rev"]?.integer ?? 0
  }

  private func work() throws {
    title += 1
    let start = DispatchTime.now().uptimeNanoseconds
    let answer = try peer.ask(
      "op",
      #""nav":"calm","if":{"rev":\#(revision)},"do":[{"item.set":{"screen":"home","title":"\#(title)"}}]"#
    )
    guard answer.verb == "ok", let next = answer.body["rev"]?.integer, next == revision + 1 else {
      throw Failure("a bystander's op: \(answer.body)")
    }
    revision = next
    let took = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
    let vitals = title % 8 == 0 ? Vitals(of: pid) : peak
    lock.withLock {
      latencies.append(took)
      peak = peak.joined(vitals)
    }
  }

  private func run() {
    do {
      // At least once, even if the thread begins after a short attack.
      repeat { try work() } while lock.withLock { !isStopping }
    } catch {
      lock.withLock { problem = "\(error)" }
    }
    lock.withLock {
      hasEnded = true
      lock.broadcast()
    }
  }

  /// The figures since they were taken last.
  private func take() -> (count: Int, text: String) {
    lock.withLock {
      let sorted = latencies.sorted()
      latencies = []
      guard !sorted.isEmpty else { return (0, "no op") }
      func at(_ part: Double) -> String {
        String(format: "%.1f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
      }
      return (sorted.count, "p50 \(at(0.5)) p99 \(at(0.99)) ms of \(sorted.count) ops")
    }
  }

  /// Goes on working while something is done, and prints what that did to it and to the daemon.
  ///
  /// - Returns: the most that the daemon held, in memory and descriptors.
  @discardableResult
  func watches<Result>(
    _ name: String, _ body: () throws -> Result
  ) throws -> (result: Result, peak: Vitals, before: Vitals) {
    for _ in 0..<50 { try work() }
    let before = Vitals(of: pid)
    lock.withLock { peak = before }
    let calm = take().text
    Thread.detachNewThread { self.run() }
    let result: Swift.Result<Result, any Error> = .init { try body() }
    lock.withLock {
      isStopping = true
      while !hasEnded {
        guard lock.wait(until: Date(timeIntervalSinceNow: Child.patience)) else { break }
      }
      peak = peak.joined(Vitals(of: pid))
    }
    guard daemon.child.isRunning else {
      throw Failure("the daemon died: \(daemon.child.transcript)")
    }
    if let problem = lock.withLock({ problem }) { throw Failure("\(name): \(problem)") }
    let (count, attacked) = take()
    lock.withLock {
      isStopping = false
      hasEnded = false
    }
    for _ in 0..<50 { try work() }
    print(
      """
      attack “\(name)”:
        before \(calm); \(before)
        during \(attacked); \(peak)
        after  \(take().text); \(Vitals(of: pid))
      """)
    #expect(count > 0, "nobody else was served")
    return (try result.get(), peak, before)
  }
}

/// Waits until something is so; false when time is up.
func eventually(within seconds: Double = Child.patience, _ isSo: () throws -> Bool) throws
  -> Bool
{
  let end = Date(timeIntervalSinceNow: seconds)
  while try !isSo() {
    guard Date() < end else { return false }
    // Nothing tells when another process has closed a descriptor or given memory back.
    _ = poll(nil, 0, 5)
  }
  return true
}
