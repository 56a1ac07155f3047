import FuzzSupport
import Glibc
import RuntimePaths

if let folder = ProcessEnvironment.current()["NAVD_FUZZ_SEEDS"] {
  Seeds.write(to: folder, from: Array(CommandLine.arguments.dropFirst()))
  exit(0)
}
runFuzzer([
  "configuration": ConfigurationTarget.self, "http": HTTPTarget.self,
  "operation": OperationTarget.self, "routes": RoutesTarget.self, "rows": RowsTarget.self,
  "server": ServerTarget.self, "session": SessionTarget.self, "zmtp": ZMTPTarget.self,
])
