import ChildProcess
import Foundation
import Testing

/// Starting other programs, which all tests here rest on.
@Suite struct ChildProcessTests {
  private static let shell = "/bin/sh"

  /// Makes sure that so many descriptors are open at once.
  private func withDescriptors(_ count: Int, _ body: () throws -> Void) throws {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<count {
      let descriptor = unsafe open("/dev/null", O_RDONLY)
      guard descriptor >= 0 else {
        throw Failure("only \(opened.count) descriptors: errno \(errno)")
      }
      opened.append(descriptor)
    }
    try body()
  }

  // With Foundation's Process the tests crashed here, when one of them held some 1356 connections.
  @Test func `a program starts while a directory of descriptors is longer than one read of it`()
    throws
  {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let count = min(3000, Int(limit.rlim_max) - 500)
    try withDescriptors(min(count, Int(limit.rlim_cur) - 500)) {
      let found = try ChildOutput(of: Self.shell, ["-c", "ls /proc/self/fd | wc -l"])
      #expect(found.status == 0)
      // The three streams, and the directory itself.
      #expect(found.text.trimmingCharacters(in: .whitespacesAndNewlines) == "4")
    }
  }

  @Test func `a program has the variables it is given, and no others`() throws {
    let found = try ChildOutput(of: "/usr/bin/env", environment: ["A": "b c", "D": ""])
    #expect(found.text.split(separator: "\n").sorted() == ["A=b c", "D="])
    let own = try ChildOutput(of: "/usr/bin/env")
    #expect(own.text.contains("PATH="))
  }

  @Test func `the status is that of the exit, or 128 and the signal`() throws {
    #expect(try ChildProcess(Self.shell, ["-c", "exit 7"]).awaitEnd() == 7)
    let child = try ChildProcess(Self.shell, ["-c", "kill -9 $$"])
    #expect(child.awaitEnd() == 128 + 9)
    #expect(child.awaitEnd() == 128 + 9, "the second to ask is told the same")
    #expect(!child.isRunning)
  }

  @Test func `a program can be ended though this thread blocks every signal`() throws {
    var every = sigset_t()
    var former = sigset_t()
    unsafe sigfillset(&every)
    unsafe pthread_sigmask(SIG_SETMASK, &every, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    let child = try ChildProcess("/bin/cat", ["/dev/zero"], output: .null)
    #expect(child.isRunning)
    child.signal(SIGTERM)
    #expect(child.awaitEnd() == 128 + SIGTERM)
    child.signal(SIGTERM)
  }

  @Test func `errors come between what is printed, if asked for`() throws {
    let line = "echo one; echo two >&2; echo three"
    #expect(
      try ChildOutput(of: Self.shell, ["-c", line], withErrors: true).text == "one\ntwo\nthree\n")
  }

  @Test func `a program that is not there is told by its path`() {
    #expect {
      try ChildProcess("/nowhere/program")
    } throws: {
      "\($0)" == "cannot start /nowhere/program: No such file or directory"
    }
  }
}
