import {
  checkedOptions, checkGuards, checkMembers, checkNav, checkOperations, checkSignal, checkText,
  isByPerson, throwIfAborted,
} from "./arguments.js";
import { RoleAndLeaseCalls } from "./clientduties.js";
import { takeStreamLock } from "./connection/locks.js";
import { Streams } from "./connection/streams.js";
import { ClusterRunner } from "./engine.js";
import { NavigationError } from "./errors.js";
import { FROM_MIRROR, Guard } from "./guards.js";
import { Cluster } from "./replica/cluster.js";
import { Mirror } from "./replica/mirror.js";
import { RequestPromises } from "./requests.js";
import { StatusLoops } from "./statuses.js";
import { StateLoops } from "./subscriptions.js";
import { sleep } from "./timers.js";

const CONNECT_TIMEOUT_MS = 5000;
/** The time within which an operation by a person must be posted, unless the caller sets another limit. */
const PERSON_POST_LIMIT_MS = 2000;
const WATCH_VIEWS = Object.freeze(["full", "bar", "top"]);

/** A connection to navd. A caller may call every method at any time, also while the connection is lost. */
export class NavigationClient {
  #runner;
  #streams;
  #requests;
  #stateLoops;
  #rolesAndLeases;
  #statusLoops = new StatusLoops();
  #releaseLock = null;
  #clientEnd = new AbortController();
  /** Aborted when the client stops, or the browser moves the page to its back/forward cache. */
  #pageVisit = new AbortController();
  #lastWelcome = null;

  get #failureSuffix() {
    if (this.status === "waiting") return ": four other pages of this browser are connected";
    const { lastFailure } = this.#streams;
    return lastFailure && `: ${lastFailure}`;
  }

  /**
   * Makes a client and returns when the daemon has welcomed it.
   *
   * @throws {NavigationError} `unreachable` after 5 s, with the last obstacle in its message;
   *   `unauthorized` for a wrong token
   */
  static async connect(options) {
    const client = new NavigationClient(options);
    const timer = setTimeout(() => {
      const late = new NavigationError("unreachable", `no welcome within 5 s${client.#failureSuffix}`);
      client.#endWithError(late, "closed");
    }, CONNECT_TIMEOUT_MS);
    try {
      for await (const status of client.statuses()) if (status === "connected") return client;
      throw client.#runner.endError;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes a client, which connects in the background. */
  constructor(options = {}) {
    const checked = checkedOptions(options);
    const cluster = new Cluster({ ...checked, client: randomHexText(16) });
    this.#runner = new ClusterRunner(cluster, (action) => this.#performAction(action));
    this.#streams = new Streams(this.#runner, checked);
    this.#requests = new RequestPromises(this.#runner, this.#streams);
    this.#stateLoops = new StateLoops(this.#runner);
    this.#rolesAndLeases = new RoleAndLeaseCalls(this.#runner);
    const { signal } = checked;
    if (signal?.aborted) {
      this.#endWithError(new NavigationError("aborted", "the signal is aborted"), "closed");
    } else {
      const over = { signal: this.#clientEnd.signal };
      signal?.addEventListener("abort", () => this.close(), over);
      // In the back/forward cache a page can neither read nor answer, so it ends its session.
      globalThis.addEventListener?.("pagehide", () => this.#suspendPageVisit(), over);
      globalThis.addEventListener?.("pageshow", (event) => {
        if (event.persisted && this.#pageVisit.signal.aborted) this.#beginPageVisit();
      }, over);
      // Chromium 156 does not deliver what came while the page was frozen. The next stream resumes.
      globalThis.document?.addEventListener("resume", () => this.#streams.loseAll(), over);
      this.#beginPageVisit();
    }
  }

  get status() { return this.#statusLoops.status; }

  /** The features of the daemon that the protocol lists in §4; empty before the first session. */
  get features() { return new Set(this.#lastWelcome?.features); }

  /** The helpers that make guards. */
  get guards() { return Guard; }

  /** Iterates over the present status and its changes; a slow loop gets the newest one. */
  statuses() { return this.#statusLoops.channel(); }

  /**
   * Iterates over the states of a nav, until the nav is closed.
   *
   * With `wait`, the loop waits for a nav that does not exist yet, and after its end for the next
   * one of that name.
   *
   * @param {string} nav
   * @param {{wait?: boolean, everyRevision?: boolean, view?: "full" | "bar" | "top",
   *   signal?: AbortSignal}} options
   */
  watch(nav, options = {}) {
    checkNav(nav);
    const { wait = false, everyRevision = false, view = "full", signal } =
      checkMembers(options, ["wait", "everyRevision", "view", "signal"], "watch");
    checkSignal(signal);
    if (!WATCH_VIEWS.includes(view)) {
      throw new TypeError("view must be full, bar or top");
    }
    return this.#stateLoops.channel(
      nav, view, { waits: wait === true, keepsAll: everyRevision, signal });
  }

  /** Returns the newest state: that of a running watch, or else one that it reads from the daemon. */
  async state(nav, options = {}) {
    checkNav(nav);
    const { signal } = checkMembers(options, ["signal"], "state");
    throwIfAborted(signal);
    if (this.#runner.cluster.mirror(nav)) return this.#firstState(nav, signal);
    try {
      const { value } = await this.#requests.send("get", nav, { what: "state" }, { signal });
      return Mirror.read(nav, value, performance.now());
    } catch (error) {
      // A state that is larger than one message comes in parts, and only to a watch.
      if (error.code !== "limit") throw error;
      return this.#firstState(nav, signal);
    }
  }

  async #firstState(nav, signal) {
    for await (const state of this.watch(nav, { signal })) {
      if (!this.#runner.cluster.isBehind(state)) return state;
    }
    throwIfAborted(signal);
    throw new NavigationError("no-nav", "the nav was closed", { nav });
  }

  /**
   * Performs a list of operations in one revision, or none of them.
   *
   * After `within` milliseconds it fails as `expired`. Without it, what a person does (`ui.*`,
   * `gesture.*`, `button.activate`) is posted within 2 s or fails so.
   *
   * @returns {Promise<object>} the body of the `ok`
   */
  async perform(nav, operations, options = {}) {
    checkNav(nav);
    checkOperations(operations);
    const { within, signal, onQueued, ...members } = checkMembers(
      options, ["if", "animated", "onBusy", "due", "clock", "within", "signal", "onQueued"], "perform");
    checkGuards(members.if);
    this.#runner.throwIfEnded();
    const { cluster } = this.#runner;
    const mirror = cluster.mirror(nav);
    if (members.if?.[FROM_MIRROR] && mirror?.state && !mirror.isSynced) {
      throw cluster.isLost(nav)
        ? new NavigationError("unreachable",
          `the connection is lost, and the client connects again; decide again on the next state of ${nav}`,
          { retry: "resync", nav })
        : new NavigationError("desync", `its watch is not in sync; decide again on the next state of ${nav}`,
          { reason: "mirror", retry: "resync", nav });
    }
    const postWithin = within ?? (operations.some(isByPerson) ? PERSON_POST_LIMIT_MS : null);
    return this.#requests.send("op", nav, { ...members, do: operations },
      { within, signal, onQueued, postWithin });
  }

  /** Pops the top screen, if it is still the one of the state. */
  async pop(state, options = {}) {
    const guard = Guard.top(state);
    const { result, ...more } = options;
    const pop = result === undefined ? {} : { result };
    return this.perform(state.nav, [{ pop }], { ...more, if: { ...more.if, ...guard } });
  }

  /** Reads a value with `get` (docs/protocol.md, §12); returns the body of the answer `ok`. */
  async get(nav, options = {}) {
    if (nav !== null) checkNav(nav);
    const { within, signal, ...members } = checkMembers(
      options, ["what", "screen", "from", "limit", "at", "within", "signal"], "get");
    return this.#requests.send("get", nav, members, { within, signal });
  }

  /**
   * Waits until a screen leaves the nav; returns the result that the pop or dismissal gave, else null.
   *
   * Call it before the push: the daemon does not keep the results of screens that have gone.
   */
  async result(nav, screen, options = {}) {
    checkText(screen, "screen");
    const { signal } = checkMembers(options, ["signal"], "result");
    let wasThere = false;
    for await (const state of this.watch(nav, { everyRevision: true, signal })) {
      const end = wasThere ? endEventOf(screen, state.ev) : undefined;
      if (end) return end.result ?? null;
      const isThere = [...state.screens, ...state.presented.map((entry) => entry.screen)]
        .some((record) => record.id === screen);
      if (wasThere && !isThere && state.isResynchronised) {
        throw new NavigationError("desync", `a snapshot hides how ${screen} went`, { nav });
      }
      // The end of an open transition reports how the screen went.
      if (wasThere && !isThere && state.parts.transition?.tid === undefined) return null;
      wasThere ||= isThere;
    }
    throwIfAborted(signal);
    return null;
  }

  /**
   * Registers the client as a delegate of a nav, in this session and in each later one.
   *
   * A second call for the same nav replaces the first.
   *
   * @param {(question: object) => any} answer returns the value of the answer, or a promise of it
   * @returns {Promise<(() => void) & {lost: Promise<NavigationError>}>} a function that ends the
   *   roles; its `lost` resolves with the reason when they are over for good
   */
  async delegate(nav, options, answer) {
    checkNav(nav);
    const { within, signal, ...wanted } =
      checkMembers(options, ["roles", "orientations", "within", "signal"], "delegate");
    if (!Array.isArray(wanted.roles) || !wanted.roles.length) {
      throw new TypeError("roles must be a list of veto, animator, interaction or orientation");
    }
    if (typeof answer !== "function") throw new TypeError("answer must be a function");
    const duty = this.#rolesAndLeases.delegate(nav, wanted, answer, { within, signal });
    await duty.ready;
    return Object.assign(() => this.#rolesAndLeases.end(duty), { lost: duty.lost });
  }

  /**
   * Takes the lease on the display of a nav, in this session and in each later one.
   *
   * A second call for the same nav replaces the first.
   */
  async lease(nav, options = {}) {
    checkNav(nav);
    const { force = false, within, signal } =
      checkMembers(options, ["force", "within", "signal"], "lease");
    const duty = this.#rolesAndLeases.lease(nav, force, { within, signal });
    await duty.ready;
    return Object.freeze({ nav, release: () => this.#rolesAndLeases.end(duty), lost: duty.lost });
  }

  /** Sends `bye`, ends the stream, and rejects the promises of all pending calls. */
  async close() {
    if (this.#runner.endError) return;
    this.#runner.update((cluster) => cluster.leave());
    const sent = this.#streams.flushAll();
    this.#failPending(new NavigationError("closed", "the client is closed"), "closed");
    await Promise.race([sent, sleep(1000)]);
    this.#stopEngine();
  }

  // Life: one lock for each visit, then streams.

  async #beginPageVisit() {
    const { signal } = this.#pageVisit = new AbortController();
    const wait = () => this.#statusLoops.report("waiting");
    // A document without an origin of its own has no locks, and goes on without one.
    const release = await takeStreamLock(signal, wait).catch(() => null);
    if (signal.aborted || this.#runner.endError) return release?.();
    this.#releaseLock = release;
    this.#statusLoops.report(this.#lastWelcome ? "disconnected" : "connecting");
    this.#runner.update((cluster) => cluster.start(performance.now()));
  }

  /** Ends the sessions and releases the lock before the page is frozen; `#beginPageVisit` resumes the watches. */
  #suspendPageVisit() {
    if (this.#runner.endError) return;
    this.#streams.closeAll();
    this.#runner.update((cluster) => cluster.stop(performance.now()));
    this.#endPageVisit();
  }

  #endPageVisit() {
    this.#pageVisit.abort();
    this.#releaseLock?.();
    this.#releaseLock = null;
  }

  #performAction(action) {
    switch (action.kind) {
      case "send": this.#streams.send(action); break;
      case "open": this.#streams.open(action.gateway); break;
      case "drop": this.#streams.closeStream(action.gateway); break;
      case "opened": this.#lastWelcome = action.welcome; break;
      case "status": this.#statusLoops.report(action.status); break;
      case "closed":
        this.#endWithError(action.error, action.error.code === "unauthorized" ? "unauthorized" : "closed");
        break;
      case "answered": this.#requests.settle(action); break;
      case "queued": this.#requests.queued(action); break;
      case "state": this.#stateLoops.offer(action); break;
      case "watchEnded": this.#stateLoops.noteWatchEnd(action); break;
      case "asked": this.#rolesAndLeases.passQuestion(action); break;
      case "settled": this.#rolesAndLeases.abortQuestion(action); break;
      case "duty": this.#rolesAndLeases.noteGrantOrEnd(action); break;
    }
  }

  // The end.

  #endWithError(error, status) {
    if (this.#runner.endError) return;
    this.#failPending(error, status);
    this.#stopEngine();
  }

  /** Rejects all pending promises with `error`, and makes later calls throw it. */
  #failPending(error, status) {
    this.#statusLoops.reportLast(status);
    this.#runner.endError = error;
    this.#requests.failAll(error);
    this.#rolesAndLeases.endAll(error);
    this.#stateLoops.endAll(error);
    this.#statusLoops.endAll();
  }

  #stopEngine() {
    this.#runner.stop();
    this.#clientEnd.abort();
    this.#streams.closeAll();
    this.#endPageVisit();
  }
}

function endEventOf(screen, events) {
  const ends = events.map((event) => event.didPop ?? event.didDismiss);
  return ends.findLast((end) => end?.screen === screen);
}

function randomHexText(octets) {
  const bytes = crypto.getRandomValues(new Uint8Array(octets));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
