import Testing

/// The built binaries as black boxes, one test after the other: some count what the machine has.
@Suite(.serialized, .timeLimit(.minutes(10))) enum ProcessTests {}

/// The longest of them, one after the other and beside the rest: they wait for the disk and for other
/// processes most of the time.
@Suite(.serialized, .timeLimit(.minutes(10))) enum LongProcessTests {}
