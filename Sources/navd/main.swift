import NavigationDaemon

Program.run(keeper: .directory)
