// What happens to the sessions of the daemon, from one list of `$clients` to the next.

import { countedNoun, visibleText } from "./text.js";

/** A session lags if it is this many revisions behind. Under load, a healthy session is always some behind. */
const LATE_REVISIONS = 100;
/** The maximum of events from one list: a daemon that starts gets all its sessions at once. */
const MAXIMUM_EVENTS = 12;

/**
 * Something that happened to a session; `session` is its record, or null for several sessions.
 *
 * @typedef {{event: "opened"|"closed"|"lags"|"caught-up"|"stalled"|"resumed"|"several", session: any, what: string}} SessionEvent
 */

/** Derives events of sessions from the difference of two lists of `$clients`. */
export class SessionEvents {
  /** @type {Map<string, {record: any, isLate: boolean}>|null} */
  #lastSessions = null;

  /**
   * Returns the events since the last list; the first list has none.
   *
   * @param {readonly any[]} records
   * @returns {SessionEvent[]}
   */
  nextEvents(records) {
    const before = this.#lastSessions;
    const known = this.#lastSessions = new Map();
    /** @type {SessionEvent[]} */
    const events = [];
    const note = (event, session, what) => events.push({ event, session, what });
    for (const record of records) {
      const { id, via = "", role = "", behind = 0, stalled = false } = record;
      const old = before?.get(id);
      const isLate = behind >= LATE_REVISIONS || (behind > 0 && old?.isLate === true);
      known.set(id, { record, isLate });
      if (!before) continue;
      if (!old) note("opened", record, `session opens · ${visibleText(role, 40)} · ${visibleText(via, 40)}`);
      const wasStalled = old?.record.stalled === true;
      if (stalled && !wasStalled) note("stalled", record, "session stalls: it takes no more messages");
      if (!stalled && wasStalled) note("resumed", record, "session takes messages again");
      if (isLate && !old?.isLate) note("lags", record, `session is ${countedNoun(behind, "revision")} behind`);
      if (!isLate && old?.isLate) note("caught-up", record, "session has caught up");
    }
    for (const [id, { record }] of before ?? []) if (!known.has(id)) note("closed", record, "session closes");
    if (events.length <= MAXIMUM_EVENTS) return events;
    const more = events.splice(MAXIMUM_EVENTS - 1).length;
    return [...events, { event: "several", session: null, what: `${countedNoun(more, "more event")} of sessions` }];
  }
}
