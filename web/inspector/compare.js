// The difference of two states: exact, and from nothing but the two.

/** @typedef {import("../client/index.js").NavigationState} State */

/**
 * A member that differs. `path` has more than one key for a member of an object; `old` or `new` is
 * undefined where the member is absent.
 *
 * @typedef {{path: string[], old: any, new: any}} MemberChange
 */

/**
 * How a list of screens changed. `at` is an index, counted from the bottom. `renewed` has the records whose version alone differs.
 *
 * @typedef {object} ListChanges
 * @property {{id: string, at: number, record: any}[]} added
 * @property {{id: string, at: number, record: any}[]} removed
 * @property {{id: string, from: number, to: number}[]} moved the fewest screens that explain the new order
 * @property {{id: string, at: number, members: MemberChange[]}[]} changed
 * @property {{id: string, at: number, from: number, to: number}[]} renewed
 */

/**
 * @typedef {object} Difference
 * @property {null} refused
 * @property {ListChanges} screens
 * @property {{part: string, members: MemberChange[]}[]} parts the parts that differ
 * @property {{part: string, from: number, to: number}[]} renewed the parts whose version alone differs
 * @property {ListChanges} presented the presented screens, innermost first
 * @property {MemberChange[]} shown what differs in `resolved`
 * @property {boolean} isEmpty whether screens and parts are equal, but for versions
 */

/** @typedef {{refused: {reason: string, message: string, floor?: number}}} Refusal */

const PART_NAMES = Object.freeze(["bar", "toolbar", "presented", "transition", "environment", "settings"]);

/**
 * Compares two states of one nav and epoch.
 *
 * @param {State} old
 * @param {State} next
 * @returns {Difference|Refusal}
 */
export function compare(old, next) {
  if (old.nav !== next.nav) return makeRefusal("nav", `The states are of two navs: ${old.nav} and ${next.nav}.`);
  if (old.epoch !== next.epoch) {
    return makeRefusal("epoch", `The revisions are of two epochs, ${old.epoch} and ${next.epoch}. Equal numbers there name different states.`);
  }
  const screens = compareRecordLists(old, next, old.screens, next.screens);
  const [parts, renewed] = [[], []];
  for (const part of PART_NAMES) {
    const [one, other] = [old.parts[part], next.parts[part]];
    const members = compareIgnoringVersion(one, other);
    if (members.length) parts.push({ part, members });
    else if (one?.ver !== other?.ver) renewed.push({ part, from: one?.ver, to: other?.ver });
  }
  const chains = [old, next].map((state) => (state.parts.presented?.chain ?? []).map(flattenChainEntry));
  const presented = compareRecordLists(old, next, chains[0], chains[1]);
  const isEmpty = !parts.length && ["added", "removed", "moved", "changed"].every((list) => !screens[list].length);
  return { refused: null, screens, parts, renewed, presented, shown: compareMembers(old.bar, next.bar), isEmpty };
}

/** Makes the result for two states that cannot be compared. @param {string} reason @param {string} message @param {object} [more] @returns {Refusal} */
export function makeRefusal(reason, message, more = {}) { return { refused: { reason, message, ...more } }; }

/** Makes the refusal for an error that a read of a state threw. @param {any} error @param {number} rev @returns {Refusal} */
export function refusalForError(error, rev) {
  const { code, floor } = error;
  if (code === "compacted" && error.future) return makeRefusal("future", `Revision ${rev} does not exist yet.`);
  if (code === "compacted") {
    return makeRefusal("compacted", `Revision ${rev} is no longer in the journal. The oldest one is ${floor}.`, { floor });
  }
  return makeRefusal(code ?? "error", error.message);
}

/** Copies a presentation of the chain, with the id and version of its screen as its own. */
function flattenChainEntry(entry) {
  const { screen, ...members } = entry;
  return { id: screen.id, ver: screen.ver, screen, ...members };
}

/**
 * Compares two lists of records by their ids.
 *
 * It compares from the older to the newer revision, so that a swap of the two names the same screens as moved.
 */
function compareRecordLists(old, next, from, to) {
  const isForward = old.rev <= next.rev;
  const pairs = pairIndexesByID(from, to);
  const order = isForward ? pairs : pairs.map(({ from: one, to: other }) => ({ from: other, to: one })).sort((a, b) => a.from - b.from);
  const stays = longestIncreasingSubsequence(order.map((pair) => pair.to));
  const moved = order.filter((_, index) => !stays.has(index))
    .map((pair) => isForward ? pair : { from: pair.to, to: pair.from }).sort((a, b) => a.to - b.to);
  const [paired, kept] = [new Set(pairs.map((pair) => pair.from)), new Set(pairs.map((pair) => pair.to))];
  const alone = (list, known) => list.map((record, at) => ({ id: record.id, at, record })).filter(({ at }) => !known.has(at));
  const [changed, renewed] = [[], []];
  for (const pair of [...pairs].sort((a, b) => a.to - b.to)) {
    const [one, other] = [from[pair.from], to[pair.to]];
    const [place, members] = [{ id: other.id, at: pair.to }, compareIgnoringVersion(one, other)];
    if (members.length) changed.push({ ...place, members });
    else if (one.ver !== other.ver) renewed.push({ ...place, from: one.ver, to: other.ver });
  }
  return {
    added: alone(to, kept), removed: alone(from, paired), changed, renewed,
    moved: moved.map((pair) => ({ id: to[pair.to].id, ...pair })),
  };
}

/** The two indexes of each record that is in both lists, in the order of the first list. Ids may repeat in a hostile recording. */
function pairIndexesByID(from, to) {
  const places = new Map();
  to.forEach((record, index) => {
    if (!places.has(record.id)) places.set(record.id, []);
    places.get(record.id).push(index);
  });
  const pairs = [];
  from.forEach((record, index) => {
    const place = places.get(record.id)?.shift();
    if (place !== undefined) pairs.push({ from: index, to: place });
  });
  return pairs;
}

/** The indexes of a longest rising subsequence of different numbers. @param {number[]} numbers @returns {Set<number>} */
function longestIncreasingSubsequence(numbers) {
  const ends = [];
  const previous = new Int32Array(numbers.length);
  numbers.forEach((number, index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    previous[index] = low ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const result = new Set();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]) result.add(index);
  return result;
}

const isPlainObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * The members that differ, in the order of the newer record and then of the older one. It compares
 * objects member by member, and lists as a whole.
 *
 * @param {any} old @param {any} next @param {string[]} [path] @returns {MemberChange[]}
 */
export function compareMembers(old, next, path = []) {
  if (!isPlainObject(old) || !isPlainObject(next)) return isEqualJSON(old, next) ? [] : [{ path, old, new: next }];
  const changes = [];
  for (const key of new Set([...Object.keys(next), ...Object.keys(old)])) {
    const [one, other] = [ownMember(old, key), ownMember(next, key)];
    // A list cannot exceed the depth that navd accepts; a recording could.
    if (path.length < 32) changes.push(...compareMembers(one, other, [...path, key]));
    else if (JSON.stringify(one) !== JSON.stringify(other)) changes.push({ path: [...path, key], old: one, new: other });
  }
  return changes;
}

/** The members that differ, except the version. */
function compareIgnoringVersion(old, next) { return compareMembers(old, next).filter(({ path }) => path.length !== 1 || path[0] !== "ver"); }

const ownMember = (record, key) => Object.hasOwn(record, key) ? record[key] : undefined;

/** Whether two JSON values are equal; the order of members does not matter. @param {any} one @param {any} other */
export function isEqualJSON(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && isEqualJSON(one[key], other[key]));
}
