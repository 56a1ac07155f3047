import CLinux

// ConsistencyWorker ENDPOINT NAME SEED WATCHED NAVS
//
// Changes NAVS at random and follows WATCHED (names separated by commas) until its input says
// `stop`; then waits for its last answers and says `quiet`. At `report NAV=REV,…` it waits until
// its mirrors are as new as that and writes its report, one JSON object, as the last line.

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "forks" {
  try Forks.run(arguments[2])
  exit(0)
}
guard arguments.count == 6, let seed = UInt64(arguments[3]) else { exit(2) }
let names = { (text: String) in text.split(separator: ",").map(String.init) }
do {
  var worker = try Worker(
    endpoint: arguments[1], name: arguments[2], seed: seed, watched: names(arguments[4]),
    navs: names(arguments[5]))
  try worker.run()
} catch {
  Lines.write("failed \(error)")
  exit(1)
}
