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
  }
}
