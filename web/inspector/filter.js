// Which revisions a filter shows. A filter is words: `by:shell`, `cause:api`, `op:push`, `-cause:timeout`, or a text.

/** The fields that a word of a filter can name before a colon, as in `op:push`. */
export const FILTER_FIELDS = Object.freeze(["by", "cause", "op", "screen"]);
/** Prefixes of principals such as `uid:1000`, which the filter takes as text, not as fields. */
const PRINCIPAL_KINDS = Object.freeze(["uid", "key"]);

/**
 * A word of a filter; without a field, it matches in any field.
 *
 * @typedef {{field: string|null, text: string, isExcluded: boolean}} Word
 */

/** Reads a filter. @param {string} text @returns {Word[]} */
export function parseFilter(text) {
  return text.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const [, minus, field, rest] = /^(-?)(?:([a-z][a-z-]*):)?(.*)$/s.exec(word) ?? [];
    const isPrincipal = PRINCIPAL_KINDS.includes(field);
    return { field: isPrincipal ? null : field ?? null, text: isPrincipal ? `${field}:${rest}` : rest, isExcluded: minus === "-" };
  }).filter(({ field, text: rest }) => rest || !isKnownField(field));
}

const isKnownField = (field) => field === null || FILTER_FIELDS.includes(field);

/** What is wrong with a filter; empty for a valid one. @param {string} filter */
export function filterError(filter) {
  const word = parseFilter(filter).find(({ field }) => !isKnownField(field));
  if (!word) return "";
  return `“${word.field}:” is no word of a filter. Known are ${FILTER_FIELDS.map((field) => `${field}:`).join(", ")} and texts without a colon.`;
}

/** Whether a revision matches all words of a filter; `texts` are its texts by field, in lower case. @param {Word[]} words @param {Record<string, string>} texts */
export function matchesAllWords(words, texts) {
  return words.every(({ field, text, isExcluded }) => (
    (field === null ? FILTER_FIELDS : [field]).some((each) => texts[each]?.includes(text)) !== isExcluded));
}

/** The texts of an author that a filter compares. @param {import("./columns.js").Author|null} author */
export function authorText(author) {
  if (!author) return "";
  return `${author.principal ?? ""} ${author.name ?? ""} ${author.pid ?? ""}`.toLowerCase();
}

/** The positions that a filter shows, oldest first. */
export class FilterMatches {
  count = 0;
  /** 1 for each position that matches. */
  flags = new Uint8Array(0);
  /** The positions in order; only the first `count` are valid. */
  positions = new Uint32Array(0);

  /** @param {import("./history.js").History} history @param {string} filter */
  constructor(history, filter) {
    const words = parseFilter(filter);
    const { columns } = history;
    this.flags = new Uint8Array(columns.length);
    this.positions = new Uint32Array(columns.length);
    // What a word that is not known would leave would look like an answer.
    if (!words.every(({ field }) => isKnownField(field))) return;
    this.#findMatches(columns, words.map((word) => wordMatchTable(history, word)));
  }

  #findMatches({ length, cause, author, operations, subject, flags }, tests) {
    for (let at = 0; at < length; at++) {
      let isShown = true;
      for (const test of tests) {
        // A revision that is not loaded yet matches nothing, also nothing that is excluded.
        const has = test.cause?.[cause[at]] || test.by?.[author[at]] || test.op?.[operations[at]]
          || test.screen?.[subject[at]] || false;
        if (!(flags[at] & 1) || has === test.isExcluded) { isShown = false; break; }
      }
      if (!isShown) continue;
      this.flags[at] = 1;
      this.positions[this.count++] = at;
    }
  }

  /** The index in `positions` of the first match at or after a position. @param {number} position */
  indexOf(position) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.positions[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Compares each interned text with a word once, and returns which of them match. */
function wordMatchTable(history, { field, text, isExcluded }) {
  const lists = {
    by: () => history.authors.list.map((author) => authorText(author).includes(text)),
    cause: () => history.names.list.map((name) => name.toLowerCase().includes(text)),
  };
  const test = { isExcluded };
  let names = null;
  for (const each of FILTER_FIELDS) {
    if (field !== null && field !== each) continue;
    test[each] = each === "by" ? lists.by() : names ??= lists.cause();
  }
  return test;
}
