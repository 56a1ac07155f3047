/// The message `traced`: messages that the daemon received from clients or sent to them.
package struct TracedMessages: Hashable, Sendable {
  /// The messages in their order; each is an object with the members of protocol §12.
  package var list: [OpaqueJSON]
  /// How many messages since the last `traced` are missing, because they exceeded the limits.
  package var dropped: UInt64
  /// Whether the trace is over, because the client may not see the messages any more.
  package var isOver: Bool
}
