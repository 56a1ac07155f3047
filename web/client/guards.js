/** Marks a guard that was made from a state. JSON does not show it; `{...guard}` keeps it. */
export const FROM_MIRROR = Symbol("from mirror");

/** Guards: the conditions that the daemon checks when it performs operations. */
export class Guard {
  /** The same screen is on top. */
  static top(state) { return makeGuard(state, { top: state?.top?.id ?? null }); }

  /** The same screens are on the stack, in the same order. */
  static stack(state) {
    return makeGuard(state, { stack: state?.screens?.map((screen) => screen.id) });
  }

  /** The nav is at the same revision. */
  static revision(state) { return makeGuard(state, { rev: state?.rev }); }

  /** The nav is in the same epoch: nobody has closed it and created it anew. */
  static life(state) { return makeGuard(state, {}); }

  /** The same screen is visible, presented ones included. */
  static visible(state) { return makeGuard(state, { visible: state?.visible?.id ?? null }); }

  /** No condition, for operations that require a guard; the daemon logs its use. */
  static override = Object.freeze({ any: true });
}

function makeGuard(state, members) {
  const isState = typeof state?.epoch === "string" && Array.isArray(state.screens);
  if (!isState) throw new TypeError("a guard is made from a state of watch() or state()");
  return Object.freeze({ [FROM_MIRROR]: true, epoch: state.epoch, ...members });
}
