import NavigationDaemon

Program.run(keeper: .database)
