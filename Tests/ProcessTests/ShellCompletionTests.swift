import Foundation
import Testing

extension ProcessTests {
  /// Completion in the shells themselves, with the navs of a running daemon.
  @Suite struct ShellCompletionTests {
    /// Prints the candidates for a command line; the words are those of the shell.
    private static let shells: [(program: String, script: String)] = [
      (
        "/bin/bash",
        """
        source <(navctl completion bash); COMP_WORDS=(navctl "$@"); COMP_CWORD=$#; compopt() { echo files; }
        _navctl; printf '%s\\n' "${COMPREPLY[@]}"
        """
      ),
      (
        "/usr/bin/zsh",
        """
        compdef() { :; }; compadd() { local last=${@[-1]}; print -l -- ${(P)last}; }; _files() { echo files; }
        source <(navctl completion zsh); words=(navctl "$@"); CURRENT=$#words; _navctl
        """
      ),
      (
        "/usr/bin/fish",
        """
        navctl completion fish | source; complete -C "navctl $argv" | string replace -r '\\t.*' ''; true
        """
      ),
    ]

    private func candidates(
      _ shell: (program: String, script: String), _ words: [String], _ daemon: TestDaemon
    ) throws -> [String] {
      // Each shell passes the words behind the script on in its own way.
      let options = shell.program.hasSuffix("fish") ? ["-N", "-c"] : ["-c"]
      let name = shell.program.hasSuffix("fish") ? [] : ["shell"]
      let child = try Child(
        shell.program, options + [shell.script] + name + words,
        environment: [
          "PATH": "\(Binaries.directory.path):/usr/bin:/bin", "NAVD_ENDPOINT": daemon.endpoint,
          "HOME": daemon.directory.path, "LANG": "C.UTF-8",
        ])
      #expect(try child.ended() == 0, "\(child.transcript)")
      return child.standardOutput.split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell completes commands, options and what navd has`(name: String) throws {
      let shell = try #require(Self.shells.first { $0.program.hasSuffix(name) })
      guard FileManager.default.isExecutableFile(atPath: shell.program) else {
        print("skipped: there is no \(shell.program); install \(name)")
        return
      }
      let daemon = try TestDaemon()
      for nav in ["kiosk", "kitchen", "till"] {
        #expect(
          try daemon.navctl(["create", nav, "--root", "home", "--title", "Home"]).status == 0)
      }
      #expect(
        try daemon.navctl(["push", "kiosk", "wifi", "--title", "Wi-Fi", "--new"]).status == 0)
      let lines: [([String], [String])] = [
        (["pus"], ["push"]), (["push", "ki"], ["kiosk", "kitchen"]),
        (["pop-to", "kiosk", ""], ["home", "wifi"]), (["show", "--col"], ["--color"]),
        (["set", "kiosk", "dis"], ["display"]), (["set", "kiosk", "screen", "wi"], ["wifi"]),
        (["show", "-o", ""], ["json", "text"]), (["nosuch", ""], []),
        (["completion", ""], ["bash", "fish", "zsh"]), (["set", "pro"], ["proxy"]),
      ]
      for (words, expected) in lines {
        #expect(try candidates(shell, words, daemon).sorted() == expected, "\(words)")
      }
      let value = try daemon.navctl(["completion", "zsh", "--", "set", "kiosk", "bar", "hidden=t"])
      #expect(value.output == "hidden=true\t\n")
      // Without navd, the tables are still there, and nothing is printed but them.
      #expect(try daemon.stop() == 0)
      #expect(try candidates(shell, ["push", "ki"], daemon) == [])
      #expect(try candidates(shell, ["pus"], daemon) == ["push"])
    }
  }
}
