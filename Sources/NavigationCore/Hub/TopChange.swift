/// The revision that brought the present top screen of a nav.
///
/// Law: it is the last revision at which the id of the top screen changed, or the creation of the
/// nav. It is known as long as the epoch lasts, across restarts too.
struct TopChange: Hashable, Sendable {
  var revision: Revision
  /// Wall-clock time of the commit in milliseconds since 1970.
  var time: UInt64
  /// The author of the revision; nil if navd made it by itself.
  var author: Author?
  /// The screen that was on top before; nil if there was none.
  var former: FormerTop?
  /// The cause of the revision.
  var cause: Cause
}

/// The screen that was on top before a change of the top.
struct FormerTop: Hashable, Sendable {
  var id: ScreenID
  /// Whether the screen left the stack; if not, it is below others now.
  var isPopped: Bool
}

extension TopChange {
  /// The change of the top by the creation of a nav.
  static func creation(at time: UInt64, by author: Author?) -> TopChange {
    TopChange(revision: Revision(1), time: time, author: author, cause: .api)
  }

  /// Makes the change of a replayed revision that changed the stack from `index` on.
  ///
  /// Nil if the top was `former` before and still is. The author is left nil.
  init?(
    _ revision: Revision, from former: ScreenID?, to stack: [Screen], changedFrom index: Int,
    time: UInt64, cause: Cause
  ) {
    assert(index >= 0)
    guard former != stack.last?.id else { return nil }
    self.init(
      revision: revision, time: time,
      former: former.map { id in
        // Screens below `index - 1` were already below the former top, so they are not searched.
        FormerTop(id: id, isPopped: !stack[max(index - 1, 0)...].contains { $0.id == id })
      }, cause: cause)
  }

  /// Makes the change of a commit; nil if the commit did not change the top.
  init?(
    _ commit: borrowing Commit, to stack: [Screen], by author: Author?, time: UInt64, cause: Cause
  ) {
    // Only a splice changes the order, and one that does not reach the new top leaves the top as it
    // was.
    guard let splice = commit.splice, splice.at + splice.insertedCount == stack.count else {
      return nil
    }
    assert(splice.at <= stack.count)
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
  /// Writes the last change of the top, for `since`.
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

  /// Writes the author of a change, and the id of the message that asked for it.
  mutating func author(_ author: Author, op: UInt64?) {
    beginObject()
    member("name", author.name)
    if let op { member("op", op) }
    member("principal", author.principal)
    if let process = author.process { member("pid", UInt64(process)) }
    endObject()
  }
}
