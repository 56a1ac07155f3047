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

    @Test func `with the least limit of files, 32 clients connect`() throws {
      let daemon = try TestDaemon(descriptors: 140)
      let peers = try (0..<32).map { _ in try Peer(daemon.endpoint) }
      try peers[0].create("kiosk")
      for peer in peers { #expect(try peer.state("kiosk")["rev"]?.integer == 1) }
      #expect(try daemon.stop() == 0)
    }
  }
}
