import CLinux
import CommandLineOptions

navd_look_up_protocols_in_file()
exit(Program.run(ProcessArguments.afterName))
