/// An event of a connection, which libzmq's threads report to the loop.
///
/// Law: the events are in the order of the kernel's calls. The acceptance of a connection is queued
/// after its accept(2), and before libzmq can read from it. A connection's end is queued before
/// its close(2), and so before the next connection gets the same descriptor. Messages and ZAP
/// requests follow the acceptance, so a loop that takes these events first knows the connection.
enum ConnectionEvent: Hashable, Sendable {
  case accepted(Acceptance)
  /// libzmq is closing the descriptor; it has queued every complete message of the connection.
  case closed(descriptor: Int32, cookie: UInt64)
  /// The gate has disconnected a peer.
  case disconnected(InboundGate.Disconnection)
  /// navd closed a new connection at once, because nearly all descriptors are in use.
  case descriptorShortage
}
