// What is known of many revisions, in typed arrays: an object for each would cost ten times as much.

/** The flags of a revision: bits of its number in the column `flags`. */
export const REVISION_FLAG = Object.freeze({
  /** The page has read the log entry; without this flag, it knows only the number of the revision. */
  loaded: 1,
  /** A new epoch begins with this revision. */
  border: 2,
  /** A client reported a divergence here. */
  bad: 4,
  /** A guard was overridden. */
  override: 8,
  /** A veto was skipped. */
  vetoSkipped: 16,
  /** The digest does not prove the revision. */
  unproven: 32,
  /** The nav was closed. */
  closed: 64,
  /** The columns `checksum`, `chainHigh` and `chainLow` have a value. */
  digest: 128,
});

/** Texts by number. Number 0 is "no text". */
export class InternedTexts {
  /** @type {string[]} */
  list = [""];
  #numberByKey = new Map([["", 0]]);

  /** Returns the number of a text. @param {unknown} text */
  intern(text) {
    if (typeof text !== "string") return 0;
    let number = this.#numberByKey.get(text);
    if (number === undefined) {
      number = this.list.push(text) - 1;
      this.#numberByKey.set(text, number);
    }
    return number;
  }
}

/**
 * An author. The client chose `name`; the kernel or the key proves `principal` and `pid`.
 *
 * @typedef {{name?: string, principal?: string, pid?: number}} Author
 */

/** Authors by number. Number 0 is "no author". */
export class InternedAuthors {
  /** @type {(Author|null)[]} */
  list = [null];
  #numberByKey = new Map();

  /** Returns the number of an author. @param {any} by */
  intern(by) {
    if (by === null || typeof by !== "object") return 0;
    const author = Object.create(null);
    if (typeof by.name === "string") author.name = by.name;
    if (typeof by.principal === "string") author.principal = by.principal;
    if (Number.isSafeInteger(by.pid)) author.pid = by.pid;
    const key = JSON.stringify(author);
    let number = this.#numberByKey.get(key);
    if (number === undefined) {
      number = this.list.push(Object.freeze(author)) - 1;
      this.#numberByKey.set(key, number);
    }
    return number;
  }
}

const COLUMN_TYPES = Object.freeze({
  rev: Float64Array, performedAt: Float64Array, cause: Uint32Array, author: Uint32Array, operations: Uint32Array,
  subject: Uint32Array, epoch: Uint32Array, checksum: Uint32Array, chainHigh: Uint32Array,
  chainLow: Uint32Array, flags: Uint16Array,
});

/** Columns of equal length, which grow at their end. A position is an index into all of them. */
export class RevisionColumns {
  length = 0;
  rev = new Float64Array(0);
  /** When navd performed the revision, in milliseconds since 1970; 0 is unknown. */
  performedAt = new Float64Array(0);
  cause = new Uint32Array(0);
  author = new Uint32Array(0);
  operations = new Uint32Array(0);
  /** The screen that the revision is about: put on the stack, taken off it, or presented. */
  subject = new Uint32Array(0);
  epoch = new Uint32Array(0);
  /** The digest that the log names: 24 hexadecimal digits, 8 in each of three columns. */
  checksum = new Uint32Array(0);
  chainHigh = new Uint32Array(0);
  chainLow = new Uint32Array(0);
  flags = new Uint16Array(0);

  /** Makes the columns longer; the new positions are 0 in each. @param {number} length */
  extend(length) {
    if (length <= this.length) return;
    if (length > this.rev.length) {
      const capacity = Math.max(1024, length + (length >> 1));
      for (const [name, type] of Object.entries(COLUMN_TYPES)) {
        const column = new type(capacity);
        column.set(this[name].subarray(0, this.length));
        this[name] = column;
      }
    }
    this.length = length;
  }
}
