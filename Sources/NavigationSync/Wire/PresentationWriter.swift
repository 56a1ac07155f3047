import Navigation

// The presentation chain as it stands on the wire and in the journal.

extension JSONWriter {
  mutating func presentation(_ presentation: Presentation) {}
}
