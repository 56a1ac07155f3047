import {
  checkedOptions, checkGuards, checkMembers, checkNav, checkOperations, checkSignal, checkText,
  isByPerson, throwIfAborted,
} from "./arguments.js";
import { ClientDuties } from "./clientduties.js";
import { takeLock } from "./connection/locks.js";
import { Streams } from "./connection/streams.js";
import { Engine } from "./engine.js";
import { NavigationError } from "./errors.js";
import { FROM_MIRROR, Guard } from "./guards.js";
import { Cluster } from "./replica/cluster.js";
import { Mirror } from "./replica/mirror.js";
import { Requests } from "./requests.js";
import { Statuses } from "./statuses.js";
import { Subscriptions } from "./subscriptions.js";
import { sleep } from "./timers.js";

const CONNECT_MS = 5000;
/** In which time what a person does is posted or never, unless the program chose a limit. */
const PERSON_MS = 2000;
const VIEWS = Object.freeze(["full", "bar", "top"]);

/** A connection to navd. All methods may be called at any time. */
export class NavigationClient {
  #engine;
  #streams;
  #requests;
  #subscriptions;
  #duties;
  #statuses = new Statuses();
  #release = null;
  #leaving = new AbortController();
  /** Aborted when the client stops, or the browser moves the page to its back/forward cache. */
  #visit = new AbortController();
  #welcome = null;

  get #lastObstacle() {
    if (this.status === "waiting") return ": four other pages of this browser are connected";
    const { obstacle } = this.#streams;
    return obstacle && `: ${obstacle}`;
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
      const late = new NavigationError("unreachable", `no welcome within 5 s${client.#lastObstacle}`);
      client.#endWithError(late, "closed");
    }, CONNECT_MS);
    try {
      for await (const status of client.statuses()) if (status === "connected") return client;
      throw client.#engine.end;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes a client, which connects in the background. */
  constructor(options = {}) {
    const checked = checkedOptions(options);
    const cluster = new Cluster({ ...checked, client: randomHex(16) });
    this.#engine = new Engine(cluster, (action) => this.#perform(action));
    this.#streams = new Streams(this.#engine, checked);
    this.#requests = new Requests(this.#engine, this.#streams);
    this.#subscriptions = new Subscriptions(this.#engine);
    this.#duties = new ClientDuties(this.#engine);
    const { signal } = checked;
    if (signal?.aborted) {
      this.#endWithError(new NavigationError("aborted", "the signal is aborted"), "closed");
    } else {
      const over = { signal: this.#leaving.signal };
      signal?.addEventListener("abort", () => this.close(), over);
      // In the back/forward cache a page can neither read nor answer, so it ends its session.
      globalThis.addEventListener?.("pagehide", () => this.#pauseVisit(), over);
      globalThis.addEventListener?.("pageshow", (event) => {
        if (event.persisted && this.#visit.signal.aborted) this.#start();
      }, over);
      // Chromium 156 does not deliver what came while the page was frozen. The next stream resumes.
      globalThis.document?.addEventListener("resume", () => this.#streams.loseAll(), over);
      this.#start();
    }
  }

  get status() { return this.#statuses.status; }

  /** The features of the daemon that the protocol lists in §4; empty before the first session. */
  get features() { return new Set(this.#welcome?.features); }

  /** The helpers that make guards. */
  get guards() { return Guard; }

  /** Iterates over the present status and its changes; a slow loop gets the newest one. */
  statuses() { return this.#statuses.channel(); }

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
    if (!VIEWS.includes(view)) {
      throw new TypeError("view must be full, bar or top");
    }
    return this.#subscriptions.channel(
      nav, view, { waits: wait === true, keepsAll: everyRevision, signal });
  }

  /** Returns the newest state: of the watch if there is one, else by a read. */
  async state(nav, options = {}) {
    checkNav(nav);
    const { signal } = checkMembers(options, ["signal"], "state");
    throwIfAborted(signal);
    if (this.#engine.cluster.mirror(nav)) return this.#firstState(nav, signal);
    try {
      const { value } = await this.#requests.begin("get", nav, { what: "state" }, { signal });
      return Mirror.read(nav, value, performance.now());
    } catch (error) {
      // A state that is larger than one message comes in parts, and only to a watch.
      if (error.code !== "limit") throw error;
      return this.#firstState(nav, signal);
    }
  }

  async #firstState(nav, signal) {
    for await (const state of this.watch(nav, { signal })) {
      if (!this.#engine.cluster.isBehind(state)) return state;
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
    this.#engine.throwIfEnded();
    const { cluster } = this.#engine;
    const mirror = cluster.mirror(nav);
    if (members.if?.[FROM_MIRROR] && mirror?.state && !mirror.isSynced) {
      throw cluster.isLost(nav)
        ? new NavigationError("unreachable",
          `the connection is lost, and the client connects again; decide again on the next state of ${nav}`,
          { retry: "resync", nav })
        : new NavigationError("desync", `its watch is not in sync; decide again on the next state of ${nav}`,
          { reason: "mirror", retry: "resync", nav });
    }
    const begins = within ?? (operations.some(isByPerson) ? PERSON_MS : null);
    return this.#requests.begin("op", nav, { ...members, do: operations },
      { within, signal, onQueued, begins });
  }

  /** Pops the top screen, if it is still the one of the state. */
  async pop(state, options = {}) {
    const guard = Guard.top(state);
    const { result, ...more } = options;
    const pop = result === undefined ? {} : { result };
    return this.perform(state.nav, [{ pop }], { ...more, if: { ...more.if, ...guard } });
  }

  /** Reads a value (§12); returns the body of the `ok`. */
  async get(nav, options = {}) {
    if (nav !== null) checkNav(nav);
    const { within, signal, ...members } = checkMembers(
      options, ["what", "screen", "from", "limit", "at", "within", "signal"], "get");
    return this.#requests.begin("get", nav, members, { within, signal });
  }

  /**
   * Waits until a screen has gone, and returns the result that its removal gave; else null.
   *
   * Call it before the push: the daemon does not keep the results of screens that have gone.
   */
  async result(nav, screen, options = {}) {
    checkText(screen, "screen");
    const { signal } = checkMembers(options, ["signal"], "result");
    let wasThere = false;
    for await (const state of this.watch(nav, { everyRevision: true, signal })) {
      const end = wasThere ? endOf(screen, state.ev) : undefined;
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
   * Registers delegate roles, in this session and in each later one.
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
    const duty = this.#duties.delegate(nav, wanted, answer, { within, signal });
    await duty.ready;
    return Object.assign(() => this.#duties.end(duty), { lost: duty.lost });
  }

  /**
   * Takes the display of a nav; takes it again in each later session.
   *
   * A second call for the same nav replaces the first.
   */
  async lease(nav, options = {}) {
    checkNav(nav);
    const { force = false, within, signal } =
      checkMembers(options, ["force", "within", "signal"], "lease");
    const duty = this.#duties.lease(nav, force, { within, signal });
    await duty.ready;
    return Object.freeze({ nav, release: () => this.#duties.end(duty), lost: duty.lost });
  }

  /** Says `bye`, ends the stream, and fails everything that is under way. */
  async close() {
    if (this.#engine.end) return;
    this.#engine.do((cluster) => cluster.leave());
    const sent = this.#streams.flushAll();
    this.#failPending(new NavigationError("closed", "the client is closed"), "closed");
    await Promise.race([sent, sleep(1000)]);
    this.#stopEngine();
  }

  // Life: one lock for each visit, then streams.

  async #start() {
    const { signal } = this.#visit = new AbortController();
    const wait = () => this.#statuses.report("waiting");
    // A document without an origin of its own has no locks, and goes on without one.
    const release = await takeLock(signal, wait).catch(() => null);
    if (signal.aborted || this.#engine.end) return release?.();
    this.#release = release;
    this.#statuses.report(this.#welcome ? "disconnected" : "connecting");
    this.#engine.do((cluster) => cluster.start(performance.now()));
  }

  /** Ends the sessions and gives the lock back; `#start` resumes from the mirrors. */
  #pauseVisit() {
    if (this.#engine.end) return;
    this.#streams.dropAll();
    this.#engine.do((cluster) => cluster.stop(performance.now()));
    this.#endVisit();
  }

  #endVisit() {
    this.#visit.abort();
    this.#release?.();
    this.#release = null;
  }

  #perform(action) {
    switch (action.kind) {
      case "send": this.#streams.send(action); break;
      case "open": this.#streams.open(action.gateway); break;
      case "drop": this.#streams.drop(action.gateway); break;
      case "opened": this.#welcome = action.welcome; break;
      case "status": this.#statuses.report(action.status); break;
      case "closed":
        this.#endWithError(action.error, action.error.code === "unauthorized" ? "unauthorized" : "closed");
        break;
      case "answered": this.#requests.answer(action); break;
      case "queued": this.#requests.queued(action); break;
      case "state": this.#subscriptions.offer(action); break;
      case "watchEnded": this.#subscriptions.end(action); break;
      case "asked": this.#duties.ask(action); break;
      case "settled": this.#duties.settle(action); break;
      case "duty": this.#duties.change(action); break;
    }
  }

  // The end.

  #endWithError(error, status) {
    if (this.#engine.end) return;
    this.#failPending(error, status);
    this.#stopEngine();
  }

  /** Rejects all pending promises, and lets no request begin. */
  #failPending(error, status) {
    this.#statuses.end(status);
    this.#engine.end = error;
    this.#requests.finish(error);
    this.#duties.finish(error);
    this.#subscriptions.finish(error);
    this.#statuses.finish();
  }

  #stopEngine() {
    this.#engine.stop();
    this.#leaving.abort();
    this.#streams.dropAll();
    this.#endVisit();
  }
}

function endOf(screen, events) {
  const ends = events.map((event) => event.didPop ?? event.didDismiss);
  return ends.findLast((end) => end?.screen === screen);
}

function randomHex(octets) {
  const bytes = crypto.getRandomValues(new Uint8Array(octets));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
