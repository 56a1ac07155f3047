import Foundation
import Testing

extension ProcessTests {
  /// A disk without room.
  @Suite struct FullDiskTests {
    /// Whether file systems can be mounted here; says why not.
    static let canMount: Bool = {
      guard let directory = try? TestDirectory(),
        (try? SmallDisk(directory.path + "/disk")) != nil
      else {
        print("skipped: a small file system cannot be mounted; run as root")
        return false
      }
      return true
    }()

    @Test(.enabled(if: canMount, "no small file system can be mounted"))
    func `a full disk refuses changes until there is room, and never reads`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      let options = ["--listen", "ipc://\(directory.path)/op", "--state", disk.path + "/state"]
      let daemon = try Child(Binaries.path("navd"), options)
      try daemon.complains("serving ")
      let peer = try Peer("ipc://\(directory.path)/op")
      try peer.create("kiosk")
      disk.fill()
      let text = String(repeating: "x", count: 30_000)
      var number = 0
      var refusal: Peer.Message?
      while refusal == nil, number < 200 {
        number += 1
        let answer = try set(peer, "\(number) \(text)")
        if answer.verb == "err" { refusal = answer }
      }
      #expect(refusal?.body["code"]?.string == "storage", "\(String(describing: refusal))")
      #expect(refusal?.body["retry"]?.string == "later")
      let state = try peer.state("kiosk")["value"]
      #expect(state?["rev"]?.integer == UInt64(number))
      let title = state?["screens"]?.array.first?["title"]?.string
      #expect(title?.hasPrefix(number == 1 ? "Home" : "\(number - 1) ") == true)
      #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
      let navctl = try Child(
        Binaries.path("navctl"), ["set", "kiosk", "screen", "home", "title=\(text)"],
        environment: ["HOME": directory.path, "NAVD_ENDPOINT": "ipc://\(directory.path)/op"])
      #expect(try navctl.ended() == 8, "\(navctl.transcript)")
      try disk.makeRoom()
      #expect(try set(peer, "after").body["rev"]?.integer == UInt64(number + 1))
      daemon.kill(SIGKILL)
      try daemon.ended()

      let next = try Child(Binaries.path("navd"), options)
      try next.complains("serving ")
      let after = try Peer("ipc://\(directory.path)/op").state("kiosk")["value"]
      #expect(after?["rev"]?.integer == UInt64(number + 1))
      #expect(after?["epoch"] == state?["epoch"])
      next.kill(SIGTERM)
      #expect(try next.ended() == 0, "\(next.transcript)")
    }

    /// After an orderly stop, a stop on the full disk, and a kill.
    @Test(.enabled(if: canMount, "no small file system can be mounted"))
    func `a start on a full disk serves reads and watches, and a stop there is orderly`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      let options = ["--listen", "ipc://\(directory.path)/op", "--state", disk.path + "/state"]
      var daemon = try Child(Binaries.path("navd"), options)
      try daemon.complains("serving ")
      var peer = try Peer("ipc://\(directory.path)/op")
      try peer.create("kiosk")
      // A start ends what is open, as soon as there is room.
      try peer.perform("kiosk", #"[{"nav.configure":{"transitionDeadline":60000}}]"#)
      let push = #""nav":"kiosk","animated":true,"do":[{"push":{"screen":{"id":"a"}}}]"#
      #expect(try peer.ask("op", "\"client\":\"\(peer.client)\",\(push)").verb == "ok")
      func state() throws -> [JSON?] {
        let state = try peer.state("kiosk")
        return ["rev", "epoch", "value"].map { state[$0] }
      }
      let before = try state()
      #expect(before[2]?["transition"]?["tid"] != nil, "\(before)")
      func stop(_ signal: Int32, _ status: Int32) throws {
        daemon.kill(signal)
        #expect(try daemon.ended() == status, "\(daemon.transcript)")
      }
      // What is left has no log whose room a start could use.
      try stop(SIGTERM, 0)
      for (signal, status) in [(SIGTERM, 0), (SIGKILL, 128 + SIGKILL), (SIGTERM, 0)] {
        disk.fill()
        daemon = try Child(Binaries.path("navd"), options)
        try daemon.complains("serving 1 nav")
        try daemon.complains("no space left")
        peer = try Peer("ipc://\(directory.path)/op")
        try peer.hello()
        #expect(try state() == before)
        try peer.send("watch", #"{"id":900,"nav":"kiosk"}"#)
        let snapshot = try peer.awaits("snapshot") { $0.verb == "snap" }.body
        #expect([snapshot["rev"], snapshot["epoch"]] == before.dropLast())
        #expect(try set(peer, "no room").body["code"]?.string == "storage")
        let statistics = try peer.get(#""what":"stats""#)["value"]
        #expect(
          statistics?["storageProblem"]?.string?.isEmpty == false,
          "\(String(describing: statistics))")
        try stop(signal, status)
      }
      daemon = try Child(Binaries.path("navd"), options)
      try daemon.complains("serving 1 nav")
      peer = try Peer("ipc://\(directory.path)/op")
      try disk.makeRoom()
      #expect(
        try eventually {
          try peer.state("kiosk")["value"]?["transition"]?["tid"] == nil
        })
      #expect(try set(peer, "room").verb == "ok")
      let after = try state()
      #expect(after[1] == before[1] && after[0] != before[0])
      try stop(SIGTERM, 0)
      // An orderly stop has moved everything into the file, which a full disk does not need then.
      disk.fill()
      daemon = try Child(Binaries.path("navd"), options)
      try daemon.complains("serving 1 nav")
      peer = try Peer("ipc://\(directory.path)/op")
      #expect(try state() == after)
      try stop(SIGTERM, 0)
    }

    @Test(.enabled(if: canMount, "no small file system can be mounted"))
    func `a start on a read-only file system serves reads, and a stop there is orderly`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      let options = ["--listen", "ipc://\(directory.path)/op", "--state", disk.path + "/state"]
      var before: [JSON?] = []
      for (signal, mode) in [(SIGTERM, "ro"), (SIGTERM, "rw"), (SIGKILL, "ro"), (SIGTERM, "rw")] {
        let daemon = try Child(Binaries.path("navd"), options)
        try daemon.complains("serving ")
        let peer = try Peer("ipc://\(directory.path)/op")
        if before.isEmpty { try peer.create("kiosk") } else { try peer.hello() }
        func state() throws -> [JSON?] {
          let state = try peer.state("kiosk")
          return ["rev", "epoch", "value"].map { state[$0] }
        }
        if !before.isEmpty { #expect(try state() == before) }
        let answer = try set(peer, mode)
        if disk.isReadOnly {
          #expect(answer.body["code"]?.string == "storage", "\(answer)")
          try daemon.complains("its file system is read-only")
        } else {
          #expect(answer.verb == "ok", "\(answer)")
        }
        before = try state()
        daemon.kill(signal)
        #expect(try daemon.ended() == (signal == SIGTERM ? 0 : 128 + signal))
        try disk.remount(mode)
      }
    }

    @Test(.enabled(if: canMount, "no small file system can be mounted"))
    func `a full disk without a journal ends the start with 7`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      disk.fill()
      let child = try Child(
        Binaries.path("navd"),
        ["--listen", "ipc://\(directory.path)/op", "--state", disk.path + "/state"])
      #expect(try child.ended() == 7, "\(child.transcript)")
    }

    private func set(_ peer: Peer, _ title: String) throws -> Peer.Message {
      try peer.ask(
        "op",
        #""nav":"kiosk","client":"\#(peer.client)","do":[{"screen.set":{"screen":"home","title":"\#(title)"}}]"#
      )
    }
  }
}

/// A file system of a megabyte or two.
final class SmallDisk {
  let path: String

  init(_ path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let mount = try Child(
      "/usr/bin/mount", ["-t", "tmpfs", "-o", "size=3m,mode=0700", "none", path])
    guard try mount.ended() == 0 else { throw Failure(mount.transcript) }
  }

  deinit { _ = try? Child("/usr/bin/umount", ["-l", path]).ended() }

  /// Takes all the room that is left.
  func fill() {
    let file = unsafe open("\(path)/ballast", O_WRONLY | O_CREAT, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while unsafe write(file, block, block.count) == block.count {}
    close(file)
  }

  func remount(_ mode: String) throws {
    let mount = try Child("/usr/bin/mount", ["-o", "remount,\(mode)", path])
    guard try mount.ended() == 0 else { throw Failure(mount.transcript) }
  }

  var isReadOnly: Bool { unsafe access(path, W_OK) != 0 && errno == EROFS }

  func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/ballast") }
}
