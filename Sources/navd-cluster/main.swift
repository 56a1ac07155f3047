import DaemonMain

Program.run(Array(CommandLine.arguments.dropFirst()), keeper: .database)
