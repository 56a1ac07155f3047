import DaemonMain
import NavigationDaemon

Program.run(Array(CommandLine.arguments.dropFirst()), keeper: .directory)
