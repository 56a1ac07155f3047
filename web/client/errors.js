/**
 * An error of a request: the daemon refused it, or this module could not complete it.
 *
 * Codes of this module: `unauthorized`, `unreachable`, `closed`, `expired`, `aborted`, `replaced`.
 */
export class NavigationError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {object} [more] further members, such as those of an `err` message
   */
  constructor(code, message, more = {}) {
    super(message);
    this.name = "NavigationError";
    this.code = code;
    this.retry = more.retry ?? "no";
    this.effect = more.effect ?? "none";
    this.mayHaveHappened = more.mayHaveHappened ?? this.effect !== "none";
    for (const key of ERROR_MEMBERS) if (more[key] !== undefined) this[key] = more[key];
  }

  toString() {
    return `${this.name} ${this.code}${this.reason ? ` (${this.reason})` : ""}: ${this.message}`;
  }

  /** Makes the error of an `err` message. */
  static from(err) { return new NavigationError(err.code, err.msg ?? "refused", err); }
}

const ERROR_MEMBERS = Object.freeze([
  "reason", "expected", "future", "after", "index", "nav", "epoch", "rev", "dig", "top", "depth",
  "since", "by", "screen", "owner", "tid", "floor", "missing", "candidates", "endpoint",
]);
