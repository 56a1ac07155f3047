import Navigation
import NavigationProtocol

/// The revision since which a nav has the top screen that it has.
///
/// Law: it is the last revision at which the id of the top screen changed, or the creation of the
/// nav. It is known as long as the epoch lasts, across restarts too.
struct TopChange: Hashable, Sendable {
  var revision: Revision
  /// Wall-clock time of the commit in milliseconds since 1970.
  var time: UInt64
  /// Who made it; nil if the daemon did by itself.
  var author: Author?
  /// What became of the screen that was on top before; nil if none was.
  var former: FormerTop?
  /// What led to the revision.
  var cause: Cause
}

/// A screen that is not on top any more.
struct FormerTop: Hashable, Sendable {
  var id: ScreenID
  /// Whether it left the stack, and is not merely below others.
  var isPopped: Bool
}

extension TopChange {
  /// The first revision of a nav.
  static func creation(at time: UInt64, by author: Author?) -> TopChange {
    TopChange(revision: Revision(1), time: time, author: author, cause: .api)
  }

  /// Looks at a revision that changed a stack from `index` on, and whose author is not known yet;
  /// nil if the top was `former` before it and still is.
  init?(
    _ revision: Revision, from former: ScreenID?, to stack: [Screen], changedFrom index: Int,
    time: UInt64, cause: Cause
  ) {
    guard former != stack.last?.id else { return nil }
    self.init(
      revision: revision, time: time,
      former: former.map { id in
        // Further down are only screens that were below it before.
        FormerTop(id: id, isPopped: !stack[max(index - 1, 0)...].contains { $0.id == id })
      }, cause: cause)
  }

  /// The same of a commit that has been made.
  init?(
    _ commit: borrowing Commit, to stack: [Screen], by author: Author?, time: UInt64, cause: Cause
  ) {
    // An edit keeps the order; and screens above the run that was replaced are as they were.
    guard let splice = commit.splice, splice.at + splice.insertedCount == stack.count else {
      return nil
    }
    var former: FormerTop?
    if let id = splice.removed.last {
      former = FormerTop(id: id, isPopped: !stack[splice.at...].contains { $0.id == id })
    } else if splice.at > 0 {
      former = FormerTop(id: stack[splice.at - 1].id, isPopped: false)
    }
    guard former?.id != stack.last?.id else { return nil }
    self.init(
      revision: commit.revision, time: time, author: author, former: former, cause: cause)
  }
}

extension JSONWriter {
  /// Writes since when the top is what it is.
  mutating func topChange(_ change: TopChange) {
    beginObject()
    member("rev", change.revision.number)
    member("t", change.time)
    member("cause", plain: change.cause.wireName)
    if let author = change.author {
      name("by")
      self.author(author, op: nil)
    }
    if let former = change.former {
      name(former.isPopped ? "popped" : "covered")
      string(former.id.text)
    }
    endObject()
  }

  /// Writes who changed a nav, by which message.
  mutating func author(_ author: Author, op: UInt64?) {
    beginObject()
    member("name", author.name)
    if let op { member("op", op) }
    member("principal", author.principal)
    if let process = author.process { member("pid", UInt64(process)) }
    endObject()
  }
}
