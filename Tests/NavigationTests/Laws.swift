@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What holds of every message that was not refused.
func checkLaws(
  from before: NavigationController, to after: NavigationController, _ commit: Commit?
) throws {
  #expect(after.violatedInvariants() == [])
  guard let commit else {
    #expect(after == before, "a message without effect changed the state")
    return
  }
  #expect(after.revision == before.revision.next)
  #expect(commit.revision == after.revision)
  #expect(!commit.isEmpty)
  checkVersions(from: before, to: after, commit)
  var replayed = before
  try replayed.replay(recorded(commit, in: after))
  expectSame(replayed, after, "replay")
  expectSame(rebuilt(after), after, "snapshot")
}

/// Versions change exactly with contents, and the commit names what changed.
private func checkVersions(
  from before: NavigationController, to after: NavigationController, _ commit: Commit
) {
  for screen in after.stack + after.presentedScreens + after.detachedScreens {
    if let old = before.screen(screen.id), old.hasSameContent(as: screen) {
      #expect(screen.version == old.version, "\(screen.id.text) kept its content")
    } else {
      #expect(screen.version == after.revision, "\(screen.id.text) got a new content")
    }
  }
  let changed = after.stack.indices.filter { index in
    let screen = after.stack[index]
    let isInserted =
      commit.splice.map { $0.at <= index && index < $0.at + $0.insertedCount } ?? false
    return !isInserted && screen.version == after.revision
  }
  #expect(commit.changedScreenIndexes == changed)
  #expect(commit.parts == changedParts(from: before, to: after))
  for part in PartName.allCases {
    let isNew = commit.parts.contains(part)
    #expect(after.version(of: part) == (isNew ? after.revision : before.version(of: part)))
  }
  var stack = before.stack.map(\.id)
  if let splice = commit.splice {
    let range = splice.at..<splice.at + splice.removed.count
    #expect(Array(stack[range]) == Array(splice.removed))
    let inserted = after.stack[splice.at..<splice.at + splice.insertedCount].map(\.id)
    stack.replaceSubrange(range, with: inserted)
    #expect(splice.removed.first != inserted.first || splice.removed.isEmpty)
    #expect(splice.removed.last != inserted.last || splice.removed.isEmpty)
  }
  #expect(stack == after.stack.map(\.id))
}

func changedParts(
  from before: NavigationController, to after: NavigationController
) -> PartSet {
  var parts = PartSet()
  if before.isAttached != after.isAttached || before.settings.content != after.settings.content {
    parts.insert(.settings)
  }
  if before.bar.content != after.bar.content { parts.insert(.bar) }
  if before.toolbar.content != after.toolbar.content { parts.insert(.toolbar) }
  if before.presented.content != after.presented.content { parts.insert(.presented) }
  if before.transition.content != after.transition.content { parts.insert(.transition) }
  if before.environment.content != after.environment.content { parts.insert(.environment) }
  return parts
}

/// The commit as a journal would keep it.
func recorded(_ commit: Commit, in after: NavigationController) -> RecordedChange {
  var change = RecordedChange(revision: commit.revision)
  if let splice = commit.splice {
    let inserted = after.stack[splice.at..<splice.at + splice.insertedCount]
    change.splices = [
      RecordedSplice(at: splice.at, removed: Array(splice.removed), inserted: Array(inserted))
    ]
  }
  change.changedScreens = commit.changedScreenIndexes.map { after.stack[$0] }
  let parts = parts(of: after)
  if commit.parts.contains(.bar) { change.parts.bar = parts.bar }
  if commit.parts.contains(.toolbar) { change.parts.toolbar = parts.toolbar }
  if commit.parts.contains(.presented) { change.parts.presented = parts.presented }
  if commit.parts.contains(.transition) { change.parts.transition = parts.transition }
  if commit.parts.contains(.environment) { change.parts.environment = parts.environment }
  if commit.parts.contains(.settings) { change.parts.settings = parts.settings }
  change.changedDetached = commit.changedDetached
  change.released = commit.released
  return change
}

/// The controller as a snapshot would rebuild it.
func rebuilt(_ controller: NavigationController) -> NavigationController {
  var versions: [PartName: Revision] = [:]
  for part in PartName.allCases { versions[part] = controller.version(of: part) }
  return NavigationController(
    revision: controller.revision, isStandalone: controller.isStandalone, stack: controller.stack,
    versions: versions, parts: parts(of: controller), detached: controller.detached.all)
}

private func parts(of controller: NavigationController) -> RecordedParts {
  RecordedParts(
    bar: controller.bar.content, toolbar: controller.toolbar.content,
    presented: controller.presented.content, transition: controller.transition.content,
    environment: controller.environment.content,
    settings: RecordedSettings(
      isAttached: controller.isAttached, content: controller.settings.content))
}

private func expectSame(
  _ left: NavigationController, _ right: NavigationController, _ what: String
) {
  #expect(left.violatedInvariants() == [], "\(what) is unsound")
  guard left != right else { return }
  #expect(left.stack == right.stack, "\(what)")
  #expect(left.detached.all.map(\.key) == right.detached.all.map(\.key), "\(what)")
  #expect(left.detached == right.detached, "\(what)")
  Issue.record("\(what) differs from the live state")
}
