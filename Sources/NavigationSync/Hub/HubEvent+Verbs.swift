extension HubEvent {
  /// Whether this is a message with an op, which may be decided while a batch is sealed.
  package var isOp: Bool {
    switch self {
    case .op: true
    case .message(_, _, let verb, _): verb == Self.opFrame
    default: false
    }
  }

  /// Whether this is a message that reads, perhaps what `Measurements.Gauge` has.
  package var isGet: Bool {
    if case .message(_, _, let verb, _) = self { verb == Self.getFrame } else { false }
  }

  static let getFrame = ClientVerb.get.frame
  static let opFrame = ClientVerb.op.frame
}
