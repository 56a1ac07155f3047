import Navigation

// The transition in flight as it stands on the wire and in the journal.

extension JSONWriter {
  mutating func transition(_ transition: RunningTransition) {}
}
