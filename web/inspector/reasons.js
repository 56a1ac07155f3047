// Why a screen is here: the entries of the log that brought it, showed it and changed it.

/** The maximum of revisions in one read of the log. */
const LOG_PAGE_REVISIONS = 250;
/** How many revisions are read to find which of them showed the screen. */
const MAXIMUM_STATES_READ = 6;

/**
 * @typedef {object} Reasons
 * @property {any} [brought] the entry that put the screen where it is
 * @property {any} [shown] the entry that made it visible, if it is another one
 * @property {any} [changed] the entry that changed its record last, if it is another one
 * @property {number} floor the oldest revision of the log
 */

const hasID = (list, id) => Array.isArray(list) && list.some((each) => each.id === id);

/**
 * Searches the log from the revision of the state back to the oldest one.
 *
 * @param {any} source
 * @param {import("./source.js").State} state
 * @param {AbortSignal} signal
 * @returns {Promise<Reasons|null>} null if the signal was aborted
 */
export async function reasonsOf(source, state, signal) {
  const { nav, rev, visible } = state;
  const isOver = state.presented.some((entry) => entry.screen.id === visible.id);
  /** @type {Reasons} */
  const found = { floor: 1 };
  const uncoverings = [];
  let candidate = null;
  for (let end = rev; end >= found.floor; end -= LOG_PAGE_REVISIONS) {
    const { list, floor } = await source.log(nav, { from: Math.max(1, end - LOG_PAGE_REVISIONS + 1), limit: LOG_PAGE_REVISIONS });
    if (signal.aborted) return null;
    found.floor = floor;
    for (const entry of list.filter((each) => each.rev !== undefined && each.rev <= end && each.bad === undefined).reverse()) {
      const uncovers = entry.del?.length || entry.presented;
      if (uncovers && uncoverings.length < MAXIMUM_STATES_READ) uncoverings.push(entry);
      if (isOver && entry.presented) {
        if (!hasID(entry.presented, visible.id)) found.brought = candidate;
        else candidate = entry;
      }
      if (!isOver && hasID(entry.ins, visible.id)) found.brought = entry;
      if (found.brought) break;
    }
    if (found.brought) break;
  }
  found.brought ??= candidate ?? undefined;
  const since = found.brought?.rev ?? 0;
  found.shown = await entryThatShowed(source, state, uncoverings.filter((entry) => entry.rev > Math.max(since, found.floor)), signal);
  if (visible.ver > since && visible.ver !== found.shown?.rev && visible.ver >= found.floor) {
    const { list } = await source.log(nav, { from: visible.ver, limit: 1 });
    found.changed = list.find((entry) => entry.rev === visible.ver);
  }
  return signal.aborted ? null : found;
}

/** The entry of the log that made the visible screen visible: before it, another screen was. */
async function entryThatShowed(source, { nav, visible, epoch }, entries, signal) {
  for (const entry of entries) {
    if (signal.aborted) return undefined;
    const before = await source.stateAt(nav, entry.rev - 1, epoch).catch(() => null);
    if (before && before.visible?.id !== visible.id) return entry;
  }
  return undefined;
}
