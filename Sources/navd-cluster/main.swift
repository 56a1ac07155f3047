import DaemonMain

Program.run(keeper: .database)
