// Written from the tables of the protocol in the core; see GeneratedTests.

/** The operations (§9.6 of the protocol). */
export type OperationName =
  "nav.create" | "nav.configure" | "nav.close" | "attach" | "detach" | "push" | "show" | "segue" |
  "pop" | "popTo" | "popToRoot" | "setStack" | "replace" | "insert" | "remove" | "open" |
  "restore" | "revert" | "present" | "dismiss" | "screen.create" | "screen.set" | "screen.release"
  | "item.set" | "button.create" | "button.set" | "button.release" | "button.activate" | "bar.set"
  | "toolbar.set" | "bar.setHidden" | "toolbar.setHidden" | "appearance.set" | "proxy.set" |
  "pushItem" | "popItem" | "setItems" | "ui.backTap" | "ui.backMenu" | "ui.back" | "ui.dismiss" |
  "ui.tap" | "ui.swipe" | "gesture.begin" | "gesture.update" | "gesture.finish" | "gesture.cancel"
  | "transition.complete" | "env.set";

/** The codes of §13 of the protocol. */
export type ErrorCode =
  "bad-frame" | "bad-json" | "bad-verb" | "version" | "no-session" | "fenced" | "unsupported" |
  "forbidden" | "lease-lost" | "busy" | "limit" | "expired" | "op-reused" | "op-too-old" |
  "no-nav" | "nav-exists" | "moved" | "frozen" | "shutting-down" | "storage" | "internal" |
  "desync" | "guard-required" | "transition-in-progress" | "queue-full" | "vetoed" |
  "delegate-timeout" | "bar-managed" | "bar-delegate-managed" | "readonly" | "nil-screen" |
  "unknown-screen" | "unknown-item" | "unknown-button" | "forbidden-kind" | "owned-elsewhere" |
  "duplicate-screen" | "duplicate-in-set" | "duplicate-item" | "item-both-sides" | "not-in-stack"
  | "no-root" | "covered" | "no-back-button" | "pop-blocked" | "dismiss-blocked" |
  "already-presenting" | "already-active" | "class-unknown" | "class-invalid" | "gesture-refused"
  | "gesture-owner" | "invalid-argument" | "no-route" | "restore-failed" | "compacted";

/** What may be sent again (§13). */
export type Retry =
  "no" | "same" | "resync" | "later";

/** What `get` reads (§12). */
export type Aspect =
  "state" | "bar" | "top" | "screen" | "detached" | "restoration" | "log" | "verify" | "stats" |
  "cluster" | "backup" | "config" | "reload" | "trace" | "diffs" | "refusals";

/** The roles of a delegate (§11). */
export type Role =
  "veto" | "animator" | "interaction" | "orientation";

/** The parts of a state (§10.2). */
export type PartName =
  "bar" | "toolbar" | "presented" | "transition" | "environment" | "settings";
