import Testing

/// The built binaries as black boxes, one test after the other: each may use the whole machine.
@Suite(.serialized, .timeLimit(.minutes(2))) enum ProcessTests {}
