import NavigationCore
import NavigationHub

/// The messages of a page that only reads: those that change neither a nav nor the daemon.
///
/// navd judges rights; this rule holds for an administrator's page too.
enum ReadingRule {
  /// Why a message may not pass; nil for one that reads.
  ///
  /// A message that cannot be read is refused, because a newer daemon could understand it.
  static func refusal(
    of message: PageMessage, _ reader: inout ClientMessageReader
  ) -> String? {
    let read: ClientMessage
    do throws(MessageFailure) {
      read = try reader.read(frame: message.frame.span, body: message.body.span)
    } catch {
      return "the inspector cannot read this message: \(error.text)"
    }
    switch read {
    case .hello, .watch, .unwatch, .credit, .ping, .bye: return nil
    case .get(let request):
      switch request.what {
      case .state, .bar, .top, .screen, .detached, .restoration, .log, .diffs, .refusals,
        .stats, .cluster, .config, .trace:
        return nil
      // navd freezes a nav that it finds broken.
      case .verify where request.nav == nil: return nil
      case .backup, .reload, .verify:
        return "the inspector only reads: it asks for no \(request.what)"
      }
    case .op, .delegate, .answer, .lease, .cluster:
      return "the inspector only reads: it sends no \(read.verb.rawValue)"
    }
  }
}
