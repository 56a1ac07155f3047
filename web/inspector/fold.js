// Many revisions in few pixels: each pixel column of the timeline stands for a range of positions.

/** The kinds of causes of a revision, each with a colour in the timeline. */
export const CAUSE_KINDS = Object.freeze(["program", "person", "daemon", "unknown"]);

const KIND_BY_CAUSE = new Map([
  ["backButton", 1], ["gesture", 1], ["cancel", 1], ["complete", 1],
  ["timeout", 2], ["lease", 2], ["recovery", 2], ["backup", 2], ["crash", 2],
  ["api", 0], ["segue", 0], ["open", 0], ["restore", 0], ["revert", 0], ["appearance", 0],
]);

/** The kind of a cause, as an index of `KINDS`. @param {string} cause */
export function causeKind(cause) { return KIND_BY_CAUSE.get(cause) ?? 3; }

/** A pause between two revisions that counts as idle: the timeline shows a seam in its place, and rates leave it out. */
export const IDLE_GAP_MS = 60_000;

/**
 * Folds positions into pixel columns.
 *
 * In each column, `first` is the time of its first revision, `busy` the milliseconds between its
 * revisions without idle pauses, and `idle` the longest idle pause.
 *
 * @param {import("./history.js").History} history
 * @param {{from: number, to: number, width: number, matches?: import("./filter.js").FilterMatches}} range
 *   positions `from` up to and without `to`
 */
export function fold(history, { from, to, width, matches }) {
  const { performedAt: t, cause, author, flags } = history.columns;
  const kindOfName = Uint8Array.from(history.names.list, causeKind);
  const columns = {
    count: new Uint32Array(width), loaded: new Uint32Array(width), shown: new Uint32Array(width),
    kinds: CAUSE_KINDS.map(() => new Uint32Array(width)), author: new Uint32Array(width), flags: new Uint16Array(width),
    first: new Float64Array(width), busy: new Float64Array(width), idle: new Float64Array(width),
  };
  const scale = width / (to - from);
  let before = from > 0 && flags[from - 1] & 1 ? t[from - 1] : 0;
  for (let at = from; at < to; at++) {
    const x = Math.min(width - 1, Math.floor((at - from) * scale));
    columns.count[x]++;
    columns.flags[x] |= flags[at];
    if (!(flags[at] & 1)) { before = 0; continue; }
    columns.loaded[x]++;
    if (!matches || matches.flags[at]) {
      columns.shown[x]++;
      columns.kinds[kindOfName[cause[at]]][x]++;
      columns.author[x] = author[at];
    }
    const now = t[at];
    if (!columns.first[x]) columns.first[x] = now;
    // A clock that stepped back is a seam too.
    const pause = before ? now - before : 0;
    if (pause < 0 || pause > IDLE_GAP_MS) columns.idle[x] = Math.abs(pause) > Math.abs(columns.idle[x]) ? pause : columns.idle[x];
    else columns.busy[x] += pause;
    before = now;
  }
  return columns;
}
