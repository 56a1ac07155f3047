import Foundation
import Testing

extension ProcessTests {
  /// The programs in surroundings that are unusual: preloaded libraries, few descriptors, an old kernel.
  @Suite struct SurroundingsTests {
    private static let compiler = "/usr/bin/cc"
    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: compiler)

    /// Compiles a library in a directory; returns the environment that has it preloaded.
    private func environment(
      _ source: String, in directory: TestDirectory
    ) throws -> [String: String] {
      let library = directory.path + "/preloaded.so"
      let child = try Child(
        Self.compiler,
        ["-shared", "-fPIC", "-o", library, try directory.write("preloaded.c", source)])
      #expect(try child.ended() == 0, "\(child.transcript)")
      return [
        "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "LD_PRELOAD": library,
        "XDG_STATE_HOME": directory.path,
      ]
    }

    // In release builds, whose Swift runtime is linked statically, they were lost.
    @Test(
      .enabled(if: hasCompiler, "there is no C compiler"),
      arguments: ["navd", "navd-cluster", "navctl", "navd-exporter", "navd-web"])
    func `arguments survive a library that sets a variable before the program runs`(
      program: String
    ) throws {
      let directory = try TestDirectory()
      let source = """
        #include <stdlib.h>
        __attribute__((constructor)) static void begin(void) { setenv("MOVED", "1", 1); }
        """
      let variables = try environment(source, in: directory)
      let version = try Child(Binaries.path(program), ["--version"], environment: variables)
      #expect(try version.ended() == 0)
      #expect(version.standardOutput.hasPrefix(program + " "), "\(version.transcript)")
      let option = try Child(Binaries.path(program), ["--no-such"], environment: variables)
      #expect(try option.ended() == 2)
      #expect(option.standardError.contains("'--no-such'"), "\(option.transcript)")
    }

    @Test(
      .enabled(if: hasCompiler, "there is no C compiler"),
      arguments: ["navd", "navd-cluster", "navctl", "navd-exporter", "navd-web"])
    func `a program that is started without standard descriptors has /dev/null there`(
      program: String
    ) throws {
      let directory = try TestDirectory()
      let source = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        __attribute__((destructor)) static void end(void) {
          char links[3][64] = {"closed", "closed", "closed"}, path[64];
          for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, "/proc/self/fd/%d", i);
            ssize_t count = readlink(path, links[i], 63);
            if (count > 0) links[i][count] = 0;
          }
          FILE *report = fopen(getenv("REPORT"), "w");
          if (report) fprintf(report, "%s %s %s", links[0], links[1], links[2]), fclose(report);
        }
        """
      var variables = try environment(source, in: directory)
      variables["REPORT"] = directory.path + "/report"
      let script = "exec <&- >&- 2>&-; exec \(Binaries.path(program)) --version"
      #expect(try Child("/bin/sh", ["-c", script], environment: variables).ended() == 0)
      let report = try String(contentsOfFile: directory.path + "/report", encoding: .utf8)
      #expect(report == "/dev/null /dev/null /dev/null")
    }

    @Test func `what navd logs without standard descriptors is in no file of its own`() throws {
      let directory = try TestDirectory()
      let script = """
        exec <&- >&- 2>&-; exec \(Binaries.path("navd")) --listen ipc://\(directory.path)/op \
          --state \(directory.path)/state
        """
      let daemon = try Child("/bin/sh", ["-c", script], environment: ["HOME": directory.path])
      #expect(try Peer("ipc://\(directory.path)/op").ask("ping", "\"a\":1").verb == "pong")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0)
      let lock = try String(contentsOfFile: directory.path + "/state/lock", encoding: .utf8)
      #expect(lock == "navd serving ipc://\(directory.path)/op (pid \(daemon.pid))\n")
    }

    @Test(.enabled(if: hasCompiler, "there is no C compiler"))
    func `a kernel that does not number its sockets is named as the cause`() throws {
      let directory = try TestDirectory()
      let source = """
        #include <errno.h>
        #include <sys/socket.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int getsockopt(int socket, int level, int name, void *value, socklen_t *size) {
          if (level == SOL_SOCKET && name == SO_COOKIE) return errno = ENOPROTOOPT, -1;
          return syscall(SYS_getsockopt, socket, level, name, value, size);
        }
        """
      let navd = try Child(
        Binaries.path("navd"), ["--listen", "ipc://\(directory.path)/s"],
        environment: try environment(source, in: directory))
      #expect(try navd.ended() == 8)
      #expect(
        navd.standardError.contains("the kernel does not number its sockets (SO_COOKIE"),
        "\(navd.transcript)")
    }

    @Test(arguments: [20, 40, 80, 96, 139])
    func `a limit of files that leaves no room for 32 connections is named`(limit: Int) throws {
      let error = #expect(throws: (any Error).self) { try TestDaemon(descriptors: limit) }
      let text = "the limit of open files (RLIMIT_NOFILE) is \(limit), and 32 connections need 140"
      #expect("\(error.map { "\($0)" } ?? "")".contains(text))
    }

    @Test func `a limit of the stack that is too small is named`() throws {
      let directory = try TestDirectory()
      let navd = try Child(
        "/bin/sh",
        ["-c", "ulimit -s 128; exec \(Binaries.path("navd")) --listen ipc://\(directory.path)/s"],
        environment: ["HOME": directory.path])
      #expect(try navd.ended() == 8)
      #expect(navd.standardError.contains("(RLIMIT_STACK) is 131072, and"), "\(navd.transcript)")
    }

    @Test func `signals without a meaning end nothing`() throws {
      let daemon = try TestDaemon()
      for signal in [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, 34, 64] {
        daemon.child.kill(signal)
      }
      try Peer(daemon.endpoint).create("kiosk")
      #expect(try daemon.stop() == 0)
    }

    /// The lines of a script of the packages about a directory, for another one.
    private func script(_ name: String, _ directory: String, instead other: String) throws -> String
    {
      let path =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../debian/" + name
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      return lines.filter { $0.contains(directory) }.joined(separator: "\n")
        .replacing(directory, with: other)
    }

    @Test func `the package is removed beside a navd that nobody stopped`() throws {
      let daemon = try TestDaemon()
      let directory = daemon.directory.path
      let removal = try script("navd.postrm", "/run/navd", instead: directory)
      #expect(removal.contains("rm -rf"))
      let stop = "while [ ! -e \(directory).end ]; do : >>\(directory)/new; done 2>/dev/null"
      let maker = try Child("/bin/sh", ["-c", stop])
      for _ in 0..<20 {
        let shell = try Child("/bin/sh", ["-ec", removal])
        #expect(try shell.ended() == 0, "\(shell.transcript)")
      }
      maker.kill(SIGKILL)
      try maker.ended()
    }

    @Test func `with the least limit of files, 32 clients connect`() throws {
      let daemon = try TestDaemon(descriptors: 140)
      let peers = try (0..<32).map { _ in try Peer(daemon.endpoint) }
      try peers[0].create("kiosk")
      for peer in peers { #expect(try peer.state("kiosk")["rev"]?.integer == 1) }
      #expect(try daemon.stop() == 0)
    }
  }
}
