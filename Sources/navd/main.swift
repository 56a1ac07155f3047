import DaemonMain
import NavigationDaemon

Program.run(keeper: .directory)
