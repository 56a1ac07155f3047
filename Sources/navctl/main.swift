import CLinux
import CommandLineOptions

exit(Program.run(ProcessArguments.afterName))
