// The client of navd for pages in a browser: NSP/1 over HTTP (docs/protocol.md, §16).
//
// Read from the top: `NavigationClient` is the shell with fetch, locks and timers. It decides
// nothing. `Cluster`, `Session`, `Mirror` and `Outbox` decide everything; they take events with the
// time and have neither clock nor I/O.

const PARTS = Object.freeze(
  ["bar", "toolbar", "presented", "transition", "environment", "settings"]);
const LOCKS = Object.freeze([1, 2, 3, 4].map((number) => `nsp-stream-${number}`));
const TOKEN_KEY = "navigation-token";
const CONNECT_MS = 5000;
const ANSWER_MS = 15000;
/** How long a gateway may take to open a stream if there are others to ask. */
const OTHERS_MS = 2000;
/** How long a session that no nav needs is kept. */
const IDLE_MS = 10_000;
/** The longest pause before a daemon is asked that another one names, in milliseconds. */
const LONGEST_MOVE_MS = 500;
/** How many navs a client knows the gateways of. */
const MOST_ROUTES = 4096;
const LINE_OCTETS = 65536;
const POST_OCTETS = 131072;
const MOST_TRIES = 5;
/** How many octets shorter than other messages an op must be, for `again`. */
const AGAIN_OCTETS = 32;
/** The number of shards of a cluster. */
const SHARDS = 1024;
/** The longest pause of a timer; a longer one would end at once. */
const TIMER_MS = 2 ** 31 - 1;
/** In which time what a person does is posted or never, unless the program chose a limit. */
const PERSON_MS = 2000;
const VIEWS = Object.freeze(["full", "bar", "top"]);
const CREDIT_VERBS = new Set(["snap", "diff", "diffs", "latest", "event", "traced"]);
/** Marks a guard that was made from a state. JSON does not show it; `{...guard}` keeps it. */
const FROM_MIRROR = Symbol("from mirror");

/**
 * Returns the token of this page, or null without any.
 *
 * A fragment `#c=CODE` is traded for a token, `#t=TOKEN` is one. The fragment is removed from the
 * URL, so that neither stays in the history. The token is kept for reloads of this tab. A `code`
 * stands in place of the fragment. Codes and tokens are those of the gateway at `url`.
 *
 * @param {{url?: string, code?: string}} [options]
 * @returns {Promise<string | null>}
 */
export async function launchToken(options = {}) {
  const { url = location.origin, code } = checkMembers(options, ["url", "code"], "launchToken");
  const address = addressOf(url);
  const key = address === location.origin ? TOKEN_KEY : `${TOKEN_KEY} ${address}`;
  const launch = code === undefined ? /^#([ct])=(.+)$/.exec(location.hash) : ["", "c", code];
  if (!launch) return storage()?.getItem(key) ?? null;
  const token = launch[1] === "t" ? launch[2] : await trade(address, launch[2]);
  if (token) keep(key, token);
  if (code === undefined) {
    history.replaceState(history.state, "", location.href.replace(/#.*/s, ""));
  }
  const known = token ?? storage()?.getItem(key) ?? null;
  if (known) return known;
  throw new NavigationError("unauthorized", "the launch code was used or has expired");
}

/** Trades a launch code for a token; null if the gateway refuses the code. */
async function trade(url, code) {
  try {
    const response = await fetch(`${url}/nsp1/token`, {
      method: "POST", body: JSON.stringify({ code }), cache: "no-store", credentials: "same-origin",
    });
    if (response.status === 401) return null;
    if (response.ok) return (await response.json()).token;
    throw new Error(`HTTP ${response.status}`);
  } catch (error) {
    throw new NavigationError("unreachable", `the gateway does not answer: ${error.message}`);
  }
}

/** A storage may be full; the token then lives as long as the page. */
function keep(key, token) {
  try {
    storage()?.setItem(key, token);
  } catch {
    // The caller has the token.
  }
}

/** A browser can forbid storage; the token then lives as long as the page. */
function storage() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

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

/** Guards: the conditions that the daemon checks when it performs operations. */
export class Guard {
  /** The same screen is on top. */
  static top(state) { return fromMirror(state, { top: state?.top?.id ?? null }); }

  /** The same screens are on the stack, in the same order. */
  static stack(state) {
    return fromMirror(state, { stack: state?.screens?.map((screen) => screen.id) });
  }

  /** Nothing at all has changed. */
  static revision(state) { return fromMirror(state, { rev: state?.rev }); }

  /** The nav was not made anew. */
  static life(state) { return fromMirror(state, {}); }

  /** The same screen is visible, presented ones included. */
  static visible(state) { return fromMirror(state, { visible: state?.visible?.id ?? null }); }

  /** No condition, also for operations that require one; the daemon logs that. */
  static override = Object.freeze({ any: true });
}

function fromMirror(state, members) {
  const isState = typeof state?.epoch === "string" && Array.isArray(state.screens);
  if (!isState) throw new TypeError("a guard is made from a state of watch() or state()");
  return Object.freeze({ [FROM_MIRROR]: true, epoch: state.epoch, ...members });
}

// --- The shell ---------------------------------------------------------------------------------

/** A connection to navd. All methods may be called at any time. */
export class NavigationClient {
  #options;
  #cluster;
  #status = "connecting";
  /** The streams by the addresses of their gateways. */
  #streams = new Map();
  #end = null;
  #timer = 0;
  #wakeAt = Infinity;
  #release = null;
  #leaving = new AbortController();
  /** Ends with the visit: when the client stops, or the browser puts the page aside. */
  #visit = new AbortController();
  #requests = new Map();
  #subscriptions = new Set();
  #listeners = new Set();
  #delegates = new Map();
  #leases = new Map();
  #welcome = null;
  /** Why the last attempt to open a stream failed. */
  #obstacle = "";

  get #why() {
    if (this.#status === "waiting") return ": four other pages of this browser are connected";
    return this.#obstacle && `: ${this.#obstacle}`;
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
      const late = new NavigationError("unreachable", `no welcome within 5 s${client.#why}`);
      client.#finish(late, "closed");
    }, CONNECT_MS);
    try {
      for await (const status of client.statuses()) if (status === "connected") return client;
      throw client.#end;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes a client, which connects in the background. */
  constructor(options = {}) {
    this.#options = checkedOptions(options);
    const client = randomHex(16);
    this.#cluster = new Cluster({ ...this.#options, client });
    const { signal } = this.#options;
    if (signal?.aborted) {
      this.#finish(new NavigationError("aborted", "the signal is aborted"), "closed");
    } else {
      const over = { signal: this.#leaving.signal };
      signal?.addEventListener("abort", () => this.close(), over);
      // In the back/forward cache a page can neither read nor answer, so it ends its session.
      globalThis.addEventListener?.("pagehide", () => this.#putAside(), over);
      globalThis.addEventListener?.("pageshow", (event) => {
        if (event.persisted && this.#visit.signal.aborted) this.#start();
      }, over);
      // Chromium 156 does not deliver what came while the page was frozen. The next stream resumes.
      globalThis.document?.addEventListener("resume", () => {
        for (const stream of [...this.#streams.values()]) this.#lose(stream);
      }, over);
      this.#start();
    }
  }

  get status() { return this.#status; }

  /** In what the daemon differs from one that runs alone (§4 of the protocol); empty before the first session. */
  get features() { return new Set(this.#welcome?.features); }

  /** The helpers that make guards. */
  get guards() { return Guard; }

  /** Iterates over the present status and its changes; a slow loop gets the newest one. */
  statuses() {
    return new Channel({
      open: (channel) => this.#listenTo(channel),
      close: (channel) => this.#listeners.delete(channel),
    });
  }

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
    const subscription = new Channel({
      keepsAll: everyRevision, signal,
      open: (channel) => this.#subscribe(channel), close: (channel) => this.#unsubscribe(channel),
    });
    return Object.assign(subscription, { nav, view, waits: wait === true });
  }

  /** Returns the newest state: of the watch if there is one, else by a read. */
  async state(nav, options = {}) {
    checkNav(nav);
    const { signal } = checkMembers(options, ["signal"], "state");
    throwIfAborted(signal);
    if (this.#cluster.mirror(nav)) return this.#first(nav, signal);
    try {
      const { value } = await this.#request("get", nav, { what: "state" }, { signal });
      return Mirror.read(nav, value, performance.now());
    } catch (error) {
      // A state that is larger than one message comes in parts, and only to a watch.
      if (error.code !== "limit") throw error;
      return this.#first(nav, signal);
    }
  }

  async #first(nav, signal) {
    for await (const state of this.watch(nav, { signal })) {
      if (!this.#cluster.isBehind(state)) return state;
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
    if (this.#end) throw this.#end;
    const mirror = this.#cluster.mirror(nav);
    if (members.if?.[FROM_MIRROR] && mirror?.state && !mirror.isSynced) {
      throw this.#cluster.isLost(nav)
        ? new NavigationError("unreachable",
          `the connection is lost, and the client connects again; decide again on the next state of ${nav}`,
          { retry: "resync", nav })
        : new NavigationError("desync", `its watch is not in sync; decide again on the next state of ${nav}`,
          { reason: "mirror", retry: "resync", nav });
    }
    const begins = within ?? (operations.some(isByPerson) ? PERSON_MS : null);
    return this.#request("op", nav, { ...members, do: operations },
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
    return this.#request("get", nav, members, { within, signal });
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
    const duty = this.#newDuty(this.#delegates, nav, {
      wish: () => this.#cluster.delegate(nav, wanted),
      resign: () => this.#cluster.delegate(nav, null), answer, asks: new Map(),
    }, { within, signal });
    await duty.ready;
    return Object.assign(() => this.#endDuty(duty), { lost: duty.lost });
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
    const duty = this.#newDuty(this.#leases, nav, {
      wish: () => this.#cluster.lease(nav, force), resign: () => this.#cluster.lease(nav, null),
    }, { within, signal });
    await duty.ready;
    return Object.freeze({ nav, release: () => this.#endDuty(duty), lost: duty.lost });
  }

  /** Says `bye`, ends the stream, and fails everything that is under way. */
  async close() {
    if (this.#end) return;
    this.#do(() => this.#cluster.leave());
    const sent = Promise.all([...this.#streams.values()].map((stream) => this.#flush(stream)));
    this.#settle(new NavigationError("closed", "the client is closed"), "closed");
    await Promise.race([sent, sleep(1000)]);
    this.#stop();
  }

  // Life: one lock for each visit, then streams, one for each gateway at a time.

  async #start() {
    const { signal } = this.#visit = new AbortController();
    const wait = () => this.#report("waiting");
    // A document without an origin of its own has no locks, and goes on without one.
    const release = await takeLock(signal, wait).catch(() => null);
    if (signal.aborted || this.#end) return release?.();
    this.#release = release;
    this.#report(this.#welcome ? "disconnected" : "connecting");
    this.#do(() => this.#cluster.start(performance.now()));
  }

  /** Ends the sessions and gives the lock back; `#start` resumes from the mirrors. */
  #putAside() {
    if (this.#end) return;
    for (const address of [...this.#streams.keys()]) this.#dropStream(address);
    this.#do(() => this.#cluster.stop(performance.now()));
    this.#endVisit();
  }

  #endVisit() {
    this.#visit.abort();
    this.#release?.();
    this.#release = null;
  }

  /** Opens a stream and reads it to its end. */
  async #open(address) {
    const controller = new AbortController();
    const stream = { address, controller, timer: 0, token: null, outbox: null, posting: null };
    this.#streams.set(address, stream);
    let after = 0;
    try {
      stream.token = await this.#tokenOf(address);
      if (!this.#isLive(stream)) return;
      const most = this.#cluster.hasOthers ? OTHERS_MS : ANSWER_MS;
      stream.timer = setTimeout(() => controller.abort(), most);
      const response = await this.#fetch(stream, "/nsp1/stream", { signal: controller.signal });
      if (response.status === 401) return this.#refuseToken(stream);
      after = retryAfter(response);
      if (response.ok) await this.#read(stream, response.body.getReader());
      else this.#obstacle = `HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`;
    } catch (error) {
      // A lost stream looks the same in whatever way it was lost. One that was given up has its reason.
      if (this.#isLive(stream)) this.#obstacle = error.message;
    }
    this.#lose(stream, after);
  }

  #isLive(stream) { return this.#streams.get(stream.address) === stream; }

  /** The token for a gateway: that of the options, or what their function returns. */
  #tokenOf(address) {
    const { token } = this.#options;
    return typeof token === "function" ? token(address) : token;
  }

  #fetch({ address, token }, path, { headers = {}, ...options }) {
    // `Authorization` is for a proxy in front, whose password the browser adds.
    headers["NSP-Token"] = token ?? "";
    return fetch(address + path, { headers, cache: "no-store", credentials: "same-origin", ...options });
  }

  async #read(stream, reader) {
    const lines = new LineReader();
    const pace = new Pace(this.#options.watchRate);
    for (;;) {
      const { value, done } = await reader.read();
      if (done || !this.#isLive(stream)) return;
      let watched = 0;
      for (const line of lines.push(value)) {
        const message = decode(line);
        if (WATCHED.has(message.verb)) watched += message.octets;
        if (!this.#receive(stream, message)) return;
      }
      this.#act();
      pace.take(watched, performance.now());
      this.#grant(stream, pace);
    }
  }

  /** Gives the daemon new credit, once the pace permits: without it, the daemon joins the diffs of a watch. */
  #grant(stream, pace) {
    if (stream.granting || !this.#isLive(stream)) return;
    const wait = pace.wait(performance.now());
    if (wait <= 0) return void this.#do(() => this.#cluster.applied(stream.address));
    stream.granting = setTimer(() => {
      stream.granting = 0;
      this.#grant(stream, pace);
    }, wait);
  }

  /** Handles a line; returns whether the stream goes on. */
  #receive(stream, { verb, body, octets }) {
    if (!this.#isLive(stream) || verb === "gone") return false;
    const { address } = stream;
    if (verb === "stream") {
      clearTimeout(stream.timer);
      Object.assign(stream, { id: body.id, outbox: new Outbox(body.next) });
      this.#cluster.connected(address, performance.now());
    } else {
      this.#cluster.receive(address, verb, body, octets, performance.now());
    }
    return true;
  }

  #lose(stream, after = 0) {
    if (!this.#isLive(stream)) return;
    this.#dropStream(stream.address);
    this.#do(() => this.#cluster.lost(stream.address, performance.now(), after));
  }

  #dropStream(address) {
    const stream = this.#streams.get(address);
    this.#streams.delete(address);
    clearTimeout(stream?.timer);
    clearTimeout(stream?.granting);
    stream?.controller.abort();
    for (const id of stream?.outbox?.unposted() ?? []) this.#cluster.noteUnposted(id);
  }

  #refuseToken(stream) {
    if (!this.#isLive(stream)) return;
    const error = new NavigationError("unauthorized", "the gateway does not know the token");
    this.#do(() => this.#cluster.refused(stream.address, error, performance.now()));
  }

  // Up: one post in flight.

  /** Starts to post what waits; returns a promise of the end of it. */
  #flush(stream) {
    if (!stream?.outbox) return Promise.resolve();
    // Posts begin after the present turn, so that its lines go together.
    stream.posting ??= Promise.resolve().then(() => this.#post(stream));
    return stream.posting;
  }

  async #post(stream) {
    for (let post; this.#isLive(stream) && (post = stream.outbox.next());) {
      const answer = await this.#postOnce(stream, post);
      if (!this.#isLive(stream)) return;
      const verdict = stream.outbox.answered(answer, this.#options.random);
      if (verdict.kind === "unauthorized") return this.#refuseToken(stream);
      if (verdict.kind === "over") {
        if (answer.status) this.#obstacle = `HTTP ${answer.status}: ${answer.error}`;
        return this.#lose(stream);
      }
      if (verdict.kind === "refused") {
        this.#do(() => this.#cluster.refuse(verdict.id, answer.status));
      }
      if (verdict.wait) await sleep(verdict.wait);
    }
    // At once, so that a line that is added next begins another round.
    stream.posting = null;
  }

  /** Posts once; status 0 means that there is no answer. */
  async #postOnce(stream, { n, body }) {
    const signal = AbortSignal.any([stream.controller.signal, AbortSignal.timeout(ANSWER_MS)]);
    // A browser asks another origin for leave once for each address, so that stays the same there.
    const isOwn = stream.address === location.origin;
    const query = isOwn ? `?stream=${encodeURIComponent(stream.id)}&n=${n}` : "";
    const headers = isOwn ? {} : { "NSP-Stream": stream.id, "NSP-Number": String(n) };
    const path = `/nsp1/messages${query}`;
    try {
      const response = await this.#fetch(stream, path, { method: "POST", body, headers, signal });
      const { next = null, error = "" } = await response.json().catch(() => ({}));
      return { status: response.status, next, error, after: retryAfter(response) };
    } catch {
      return { status: 0, next: null, after: 0 };
    }
  }

  // The actions.

  /** Lets the cluster decide, and performs its actions. */
  #do(decide) {
    if (this.#end) return;
    decide();
    this.#act();
  }

  #act() {
    for (const action of this.#cluster.take()) this.#perform(action);
    this.#schedule();
  }

  #perform(action) {
    switch (action.kind) {
      case "send":
        this.#streams.get(action.gateway)?.outbox?.add(action.line, action.id);
        this.#flush(this.#streams.get(action.gateway));
        break;
      case "open": this.#open(action.gateway); break;
      case "drop": this.#dropStream(action.gateway); break;
      case "opened": this.#welcome = action.welcome; break;
      case "status": this.#report(action.status); break;
      case "closed":
        this.#finish(action.error, action.error.code === "unauthorized" ? "unauthorized" : "closed");
        break;
      case "answered": this.#answer(action); break;
      case "queued": this.#requests.get(action.id)?.onQueued(action.pos); break;
      case "state": this.#offer(action); break;
      case "watchEnded": this.#endWatch(action); break;
      case "asked": this.#ask(action); break;
      case "settled": this.#settleAsk(action); break;
      case "duty": this.#changeDuty(action); break;
    }
  }

  /** Keeps a timer that comes too early, since most messages only put the next deadline off. */
  #schedule() {
    const at = this.#cluster.wakeAt;
    if (this.#end || at >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimer(() => this.#wake(), at - performance.now());
  }

  #wake() {
    this.#wakeAt = Infinity;
    this.#do(() => this.#cluster.tick(performance.now()));
  }

  // Requests.

  #request(verb, nav, members, { within, signal, onQueued, begins = null } = {}) {
    checkLimit(within);
    throwIfAborted(signal);
    if (this.#end) throw this.#end;
    const { promise, resolve, reject } = deferred();
    const over = new AbortController();
    const id = this.#cluster.request(verb, nav, members, begins, performance.now());
    // Later and apart, so that an error of the caller's function is not one of the stream.
    const report = (position) => Promise.resolve(position).then(onQueued);
    this.#requests.set(id, { resolve, reject, over, onQueued: report });
    const fail = (code, message) => this.#abandon(id, new NavigationError(code, message, { nav }));
    if (within != null) {
      const timer = setTimer(() => fail("expired", "no answer in time"), within);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    if (begins != null) {
      const isHere = ({ outbox }) => outbox?.unposted().includes(id);
      const timer = setTimer(() => {
        // The cluster fails what it has not sent. This line it has sent, and it is not posted.
        if ([...this.#streams.values()].some(isHere)) fail("expired", "it was not posted in time");
      }, begins);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    signal?.addEventListener("abort", () => fail("aborted", "the caller aborted the request"),
      { signal: over.signal });
    this.#act();
    return promise;
  }

  #answer({ id, ok, err }) {
    const request = this.#takeRequest(id);
    if (ok) request?.resolve(ok);
    else request?.reject(NavigationError.from(err));
  }

  /** Fails a request; it is not sent any more, and it has not happened if it was never posted. */
  #abandon(id, error) {
    const withdrawn = [...this.#streams.values()].filter(({ outbox }) => outbox?.withdraw(id));
    error.mayHaveHappened = this.#cluster.forget(id) > withdrawn.length;
    if (error.mayHaveHappened) error.effect = "unknown";
    this.#takeRequest(id)?.reject(error);
    this.#act();
  }

  #takeRequest(id) {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.over.abort();
    return request;
  }

  // Watches.

  #subscribe(subscription) {
    if (this.#end) return subscription.finish(this.#end);
    const { nav, view, waits } = subscription;
    const state = this.#cluster.current(nav, view);
    this.#subscriptions.add(subscription);
    if (state) subscription.offer(state);
    else this.#do(() => this.#cluster.watch(nav, view, waits));
  }

  #unsubscribe(subscription) {
    if (!this.#subscriptions.delete(subscription)) return;
    const { nav, view } = subscription;
    if (!this.#watching(nav, view).length) this.#do(() => this.#cluster.unwatch(nav, view));
  }

  #watching(nav, view) {
    return [...this.#subscriptions].filter((each) => each.nav === nav && each.view === view);
  }

  #offer({ nav, view, state, isResumed, isEvent }) {
    for (const subscription of this.#watching(nav, view)) {
      // A resumed watch shows nothing new; an event says nothing without the state before it.
      if (isResumed && !subscription.isFresh || isEvent && subscription.isFresh) continue;
      subscription.offer(state);
    }
  }

  #endWatch({ nav, view, why, err }) {
    const error = why === "closed" ? null
      : err ? NavigationError.from(err) : new NavigationError(why, "the watch is over", { nav });
    const isGone = why === "closed" || err?.code === "no-nav";
    const loops = this.#watching(nav, view);
    const over = loops.filter(({ waits }) => !(isGone && waits));
    for (const subscription of over) {
      this.#subscriptions.delete(subscription);
      subscription.finish(error);
    }
    if (over.length < loops.length) this.#do(() => this.#cluster.watch(nav, view, true));
  }

  // Delegates and leases.

  #newDuty(duties, nav, members, { within, signal }) {
    checkLimit(within);
    throwIfAborted(signal);
    if (this.#end) throw this.#end;
    this.#do(members.wish);
    this.#dropDuty(duties.get(nav), "replaced", "another call replaced this one");
    const [granted, end, over] = [deferred(), deferred(), new AbortController()];
    const { promise: ready } = granted;
    const { promise: lost, resolve: lose } = end;
    const duty = { ...members, duties, nav, granted, ready, lost, lose, over };
    duties.set(nav, duty);
    signal?.addEventListener("abort", () => this.#endDuty(duty, "aborted", "the caller aborted it"),
      { signal: over.signal });
    if (within != null) {
      const timer = setTimer(() => this.#endDuty(duty, "expired", "no answer in time"), within);
      const stop = () => clearTimeout(timer);
      granted.promise.then(stop, stop);
    }
    return duty;
  }

  #endDuty(duty, code = "closed", message = "released") {
    if (duty.duties.get(duty.nav) !== duty) return;
    this.#dropDuty(duty, code, message);
    this.#do(duty.resign);
  }

  #dropDuty(duty, code, message) {
    if (duty) this.#loseDuty(duty, new NavigationError(code, message, { nav: duty.nav }));
  }

  #loseDuty(duty, error) {
    duty.duties.delete(duty.nav);
    duty.over.abort();
    duty.granted.reject(error);
    duty.lose(error);
    for (const ask of duty.asks?.values() ?? []) ask.abort();
  }

  #changeDuty({ nav, duty, err }) {
    const duties = duty === "delegate" ? this.#delegates : this.#leases;
    const changed = duties.get(nav);
    if (err && changed) this.#loseDuty(changed, NavigationError.from(err));
    else changed?.granted.resolve();
  }

  async #ask({ nav, body }) {
    const delegate = this.#delegates.get(nav);
    if (!delegate) return;
    const over = new AbortController();
    delegate.asks.set(body.ask, over);
    try {
      const value = await delegate.answer(questionOf(body, over.signal));
      if (value === undefined || over.signal.aborted) return;
      this.#do(() => this.#cluster.answer(nav, body.ask, value));
    } catch (error) {
      if (over.signal.aborted) return;
      // No verdict: the nav's `veto.policy` decides at once.
      this.#do(() => this.#cluster.answer(nav, body.ask, null));
      // Node.js lacks the function of pages.
      (globalThis.reportError ?? console.error)(error);
    }
  }

  #settleAsk({ nav, ask }) {
    const asks = this.#delegates.get(nav)?.asks;
    asks?.get(ask)?.abort();
    asks?.delete(ask);
  }

  // The end.

  #listenTo(channel) {
    channel.offer(this.#status);
    if (this.#end) channel.finish(null);
    else this.#listeners.add(channel);
  }

  #report(status) {
    if (this.#end || status === this.#status) return;
    this.#status = status;
    for (const listener of this.#listeners) listener.offer(status);
  }

  #finish(error, status) {
    if (this.#end) return;
    this.#settle(error, status);
    this.#stop();
  }

  /** Fails everything that is under way; nothing new begins. */
  #settle(error, status) {
    this.#report(status);
    this.#end = error;
    for (const id of [...this.#requests.keys()]) {
      this.#abandon(id, new NavigationError(error.code, error.message, { reason: error.reason }));
    }
    for (const duties of [this.#delegates, this.#leases]) {
      for (const duty of [...duties.values()]) this.#loseDuty(duty, error);
    }
    const channels = [...this.#subscriptions];
    this.#subscriptions.clear();
    for (const channel of channels) channel.finish(error);
    for (const listener of [...this.#listeners]) listener.finish(null);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#leaving.abort();
    for (const address of [...this.#streams.keys()]) this.#dropStream(address);
    this.#endVisit();
  }
}

/** Turns an `ask` into the question that a delegate gets. */
function questionOf({ ask, nav, epoch, rev, within, q }, signal) {
  const [kind] = Object.keys(q);
  const deadline = performance.now() + within;
  const details = q[kind];
  return Object.freeze({ ask, nav, epoch, rev, within, deadline, kind, details, q, signal });
}

function endOf(screen, events) {
  const ends = events.map((event) => event.didPop ?? event.didDismiss);
  return ends.findLast((end) => end?.screen === screen);
}

/** Resolves with a function that releases the lock; calls `onWait` if all four are taken. */
async function takeLock(signal, onWait) {
  if (!globalThis.navigator?.locks) return () => {};
  for (const name of LOCKS) {
    const release = await holdLock(name, { ifAvailable: true });
    if (release) return release;
  }
  // An abort during the first round would not be heard any more.
  signal.throwIfAborted();
  onWait();
  const race = new AbortController();
  signal.addEventListener("abort", () => race.abort(), { signal: race.signal });
  return Promise.any(LOCKS.map((name) => firstLock(name, race)));
}

/** Waits for one of the locks; gives it back if another one was faster. */
async function firstLock(name, race) {
  const release = await holdLock(name, { signal: race.signal });
  if (!race.signal.aborted) {
    race.abort();
    return release;
  }
  release();
  throw race.signal.reason;
}

function holdLock(name, options) {
  return new Promise((resolve, reject) => {
    const hold = (lock) => lock ? new Promise((release) => resolve(release)) : resolve(null);
    navigator.locks.request(name, options, hold).catch(reject);
  });
}

function retryAfter(response) { return 1000 * (Number(response.headers.get("Retry-After")) || 0); }

function setTimer(callback, milliseconds) {
  return setTimeout(callback, Math.min(Math.max(0, milliseconds), TIMER_MS));
}

function sleep(milliseconds) { return new Promise((resolve) => setTimer(resolve, milliseconds)); }

function deferred() {
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
  // A caller that is not waiting yet must not count as an unhandled rejection.
  result.promise.catch(() => {});
  return result;
}

function randomHex(octets) {
  const bytes = crypto.getRandomValues(new Uint8Array(octets));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// --- Arguments ---------------------------------------------------------------------------------

function checkedOptions(options) {
  const names = ["url", "gateways", "token", "name", "window", "hb", "watchRate", "signal"];
  const { url, gateways = [url ?? location.origin], token = null, name = "", window = 65536,
    hb = 5000, watchRate = Infinity, signal } = checkMembers(options, names, "NavigationClient");
  if (url !== undefined && options.gateways !== undefined) {
    throw new TypeError("give url or gateways, not both");
  }
  if (!Array.isArray(gateways) || !gateways.length) {
    throw new TypeError("gateways must be a list of addresses");
  }
  if (token !== null && typeof token !== "function") {
    checkText(token, "token");
    // Throws for what no header may have.
    new Headers({ "NSP-Token": token });
  }
  if (typeof name !== "string" || utf8(name).length > 128) {
    throw new TypeError("name must be a text of at most 128 octets");
  }
  checkJSON(name, 0);
  checkTime(window, "window");
  checkTime(hb, "hb");
  if (typeof watchRate !== "number" || !(watchRate >= 1)) {
    throw new TypeError("watchRate must be a number of octets a second, at least 1");
  }
  checkSignal(signal);
  const seeds = [...new Set(gateways.map(addressOf))];
  return { gateways: seeds, token, name, window, hb, watchRate, signal, random: Math.random };
}

/** The messages of watches that the daemon joins while they wait. */
const WATCHED = new Set(["diff", "diffs", "latest"]);

const PACE_BURST = 65536;

/** Limits the octets of watches that a client takes in a second, after a burst of 64 KiB. */
class Pace {
  #rate;
  #room = PACE_BURST;
  #at = 0;

  /** @param {number} rate octets a second */
  constructor(rate) { this.#rate = rate; }

  /** Counts octets. */
  take(octets, now) {
    this.#room = Math.min(PACE_BURST, this.#room + (now - this.#at) * this.#rate / 1000) - octets;
    this.#at = now;
  }

  /** The milliseconds until there is room again. */
  wait(now) {
    this.take(0, now);
    return this.#rate === Infinity ? 0 : -this.#room * 1000 / this.#rate;
  }
}

/** The address of a gateway in one form, so that two forms of it are not two gateways. */
function addressOf(url) { return new URL(url, location.href).href.replace(/\/+$/, ""); }

/** A misspelt member must not count as none: a guard would be missing. */
function checkMembers(options, names, where) {
  if (options === null || typeof options !== "object") {
    throw new TypeError(`${where}: options must be an object`);
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`${where}: there is no option ${unknown}`);
  return options;
}

function checkNav(nav) {
  const isName = typeof nav === "string" && /^\$?[a-z0-9][a-z0-9._/-]{0,127}$/.test(nav);
  if (!isName) throw new TypeError(`not the name of a nav: ${String(nav)}`);
}

function checkText(text, what) {
  if (typeof text !== "string" || !text) throw new TypeError(`${what} must be a text`);
}

/** Another object would be found out too late, when the request is on its way. */
function checkSignal(signal) {
  if (signal != null && typeof signal.aborted !== "boolean") {
    throw new TypeError("signal must be an AbortSignal");
  }
}

function throwIfAborted(signal) {
  checkSignal(signal);
  if (signal?.aborted) throw new NavigationError("aborted", "the signal is aborted");
}

function checkTime(value, what) {
  if (value != null && !(Number.isFinite(value) && value >= 0)) {
    throw new TypeError(`${what} must be a number, 0 or greater`);
  }
}

/** A time in seconds must not count as one in milliseconds. */
function checkLimit(within) {
  checkTime(within, "within");
  if (within > 0 && within < 100) {
    throw new TypeError(`within is in milliseconds: ${within} is less than 100`);
  }
}

/** Whether a person does this, so that it must not happen late. */
function isByPerson(operation) {
  return Object.keys(operation).some((name) => /^(ui\.|gesture\.|button\.activate$)/.test(name));
}

/** A guard without a value would be none in JSON. */
function checkGuards(guards) {
  if (guards == null) return;
  if (typeof guards !== "object") throw new TypeError("if must be an object of guards");
  const [name] = Object.entries(guards).find(([, value]) => value === undefined) ?? [];
  if (name !== undefined) throw new TypeError(`the guard ${name} is undefined`);
}

function checkOperations(operations) {
  const isList = Array.isArray(operations) && operations.length >= 1 && operations.length <= 16;
  if (!isList) throw new TypeError("operations must be a list of 1 to 16 operations");
  const isOne = (each) => each && typeof each === "object" && Object.keys(each).length === 1;
  if (!operations.every(isOne)) {
    throw new TypeError('an operation is an object with one member, such as {pop: {}}');
  }
}

// --- Decisions: the cluster --------------------------------------------------------------------

/**
 * The sessions of one client, one for each gateway, and which of them has which nav (§17).
 *
 * A nav is asked for at the base, the gateway that the client is connected to first. `moved` leads
 * to another gateway; everything about the nav goes there, and nothing else. Callers use it as a
 * `Session`, with the address of the gateway. Besides the kinds of a session, an action can be
 * `open` (a stream at `gateway`), `drop` (end that stream) or `status`.
 */
export class Cluster {
  #actions = [];
  #options;
  #random;
  #ids = { next: 1 };
  /** The gateways of the options, which are asked first. */
  #seeds;
  /** The address of the gateway for the navs whose gateway is not known. */
  #base;
  /** The sessions by the addresses of their gateways, with what is known of each. */
  #members = new Map();
  /** The addresses that do not take the client, with the errors. */
  #refusals = new Map();
  /**
   * The gateway of each nav that was elsewhere than at the base. `moves` counts how often a daemon
   * named another one since its last answer.
   */
  #routes = new Map();
  /** The nav of each request without an answer. */
  #navs = new Map();
  #isStarted = false;
  #isClosed = false;
  #hasWelcomed = false;
  #status = "connecting";
  #now = 0;

  /** @param {object} options those of `Session`, and `gateways`, the addresses to begin with */
  constructor({ gateways, random = Math.random, ...options }) {
    this.#options = { ...options, random, ids: this.#ids };
    this.#random = random;
    this.#seeds = [...gateways];
    this.#base = gateways[0];
  }

  /** Returns the actions since the last call. */
  take() {
    this.#settle();
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** The time of the next `tick`; infinite while nothing has a deadline. */
  get wakeAt() {
    let at = Infinity;
    if (!this.#isStarted || this.#isClosed) return at;
    for (const { session, openAt, idleAt } of this.#members.values()) {
      at = Math.min(at, session.wakeAt, openAt, idleAt);
    }
    return at;
  }

  /** Whether there are gateways besides the base. */
  get hasOthers() { return this.#candidates.length > 1; }

  // Events.

  /** Begins, or goes on after `stop`: opens streams at the base and where navs are. */
  start(now) {
    this.#now = now;
    this.#isStarted = true;
    this.#need(this.#member(this.#base));
    for (const member of this.#members.values()) {
      if (this.#isNeeded(member)) this.#open(member);
    }
  }

  /** Ends all sessions, to go on later. */
  stop(now) {
    this.#now = now;
    this.#isStarted = false;
    for (const member of this.#members.values()) {
      member.session.lost(now);
      member.session.take().forEach((action) => this.#pass(action));
      Object.assign(member, { phase: "idle", openAt: Infinity, notBefore: 0 });
    }
    this.#report();
  }

  /** Handles a new stream. */
  connected(address, now) {
    this.#now = now;
    this.#members.get(address)?.session.connected(now);
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(address, now, least = 0) {
    this.#now = now;
    this.#members.get(address)?.session.lost(now, least);
  }

  /** Handles a gateway that does not know the token. */
  refused(address, error, now) {
    this.#now = now;
    const member = this.#members.get(address);
    if (!member) return;
    this.#refusals.set(address, error);
    this.#expel(member, error);
  }

  /** Handles a message of the daemon behind a gateway. */
  receive(address, verb, body, octets, now) {
    this.#now = now;
    this.#members.get(address)?.session.receive(verb, body, octets, now);
    this.#settle();
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  applied(address) { this.#members.get(address)?.session.applied(); }

  /** Handles deadlines. */
  tick(now) {
    this.#now = now;
    if (!this.#isStarted) return;
    for (const member of [...this.#members.values()]) {
      if (member.openAt <= now) this.#open(member);
      if (member.idleAt <= now) this.#retire(member);
      else member.session.tick(now);
    }
  }

  /** Ends all sessions for good. */
  leave() {
    for (const { session } of this.#members.values()) session.leave();
    this.#settle();
    this.#isClosed = true;
  }

  // What users ask for.

  mirror(nav) { return this.#find(nav)?.mirror(nav) ?? null; }

  /** Whether there is no session with the daemon of a nav. */
  isLost(nav) { return !this.#find(nav)?.isOpen; }

  isBehind(state) { return this.#find(state.nav)?.isBehind(state) ?? false; }

  current(nav, view) { return this.#find(nav)?.current(nav, view) ?? null; }

  watch(nav, view = "full", waits = false) { this.#at(nav).watch(nav, view, waits); }

  unwatch(nav, view = "full") { this.#find(nav)?.unwatch(nav, view); }

  request(verb, nav, members, within = null, now = 0) {
    const id = this.#at(nav).request(verb, nav, members, within, now);
    this.#navs.set(id, nav);
    return id;
  }

  /** Drops a request; returns in how many sessions it was sent, so that it may have happened. */
  forget(id) {
    const sends = this.#sessionOf(id)?.forget(id) ?? 0;
    this.#navs.delete(id);
    return sends;
  }

  noteUnposted(id) { this.#sessionOf(id)?.noteUnposted(id); }

  refuse(id, status) { this.#sessionOf(id)?.refuse(id, status); }

  delegate(nav, wanted) { this.#at(nav).delegate(nav, wanted); }

  lease(nav, force) { this.#at(nav).lease(nav, force); }

  answer(nav, ask, value) { this.#find(nav)?.answer(ask, value); }

  // Which session has which nav.

  /** The session that has a nav; undefined if there is none yet. */
  #find(nav) { return this.#members.get(this.#routes.get(nav)?.address ?? this.#base)?.session; }

  #sessionOf(id) { return this.#navs.has(id) ? this.#find(this.#navs.get(id)) : undefined; }

  /** The session for a nav, which is needed from now on. */
  #at(nav) {
    const member = this.#member(this.#routes.get(nav)?.address ?? this.#base);
    this.#need(member);
    return member.session;
  }

  #route(nav) {
    const known = this.#routes.get(nav);
    if (known) return known;
    const route = { address: this.#base, moves: 0 };
    for (const [each, { address }] of this.#routes) {
      if (this.#routes.size < MOST_ROUTES) break;
      if (!this.#members.get(address)?.session.navs.has(each)) this.#routes.delete(each);
    }
    this.#routes.set(nav, route);
    return route;
  }

  /** Moves everything about a nav from one session to another. */
  #move(nav, from, to, at = this.#now) {
    to.session.adopt(nav, from.session.surrender(nav), this.#now, at);
    this.#need(to);
  }

  /** Handles `moved`, also as the end of a watch, and that a nav has no owner. */
  #follow(member, { nav, hasOwner, web, endpoint, after }) {
    const route = this.#route(nav);
    if (!hasOwner) {
      if (member.session.isHolding(nav)) return;
      route.moves = 0;
      // Not longer each time: the daemon says when to ask. A random part spreads the clients.
      const wait = after + this.#random() * (after / 4 + 10);
      return member.session.hold(nav, this.#now + wait);
    }
    const address = gatewayOf(web);
    const refusal = address === null
      ? new NavigationError("moved", "the daemon that has the nav has no gateway",
        { endpoint, retry: "same" })
      : this.#refusals.get(address);
    if (refusal) {
      this.#routes.delete(nav);
      return member.session.abandon(nav, refusal);
    }
    // At once to the first and the second one. From then on they may send the nav in a circle, or
    // name a daemon that was lost until its lease ends.
    const longest = ++route.moves > 2 ? Math.min(LONGEST_MOVE_MS, 100 * 2 ** (route.moves - 2)) : 0;
    const wait = this.#random() * longest;
    route.address = address;
    const target = this.#member(address);
    if (target !== member) return this.#move(nav, member, target, this.#now + wait);
    // The stream leads to another daemon than that of its gateway. The next one may lead there.
    member.session.hold(nav, this.#now + wait);
    if (route.moves > 1) member.session.lost(this.#now, wait);
  }

  // Gateways.

  /** The addresses that can be asked: those of the options first. */
  get #candidates() {
    const all = new Set([...this.#seeds, ...this.#members.keys()]);
    return [...all].filter((address) => !this.#refusals.has(address));
  }

  #member(address) {
    const known = this.#members.get(address);
    if (known) return known;
    const session = new Session(this.#options);
    const member = {
      address, session, phase: "idle", openAt: Infinity, notBefore: 0, idleAt: Infinity,
    };
    this.#members.set(address, member);
    return member;
  }

  #isNeeded({ address, session }) { return address === this.#base || !session.isIdle; }

  /** Sees to it that a member is connected, or will be. */
  #need(member) {
    member.idleAt = Infinity;
    if (!this.#isStarted || member.phase === "opening" || member.phase === "open") return;
    // A gateway that was lost is always left to the timer, so that no failure causes the next one.
    if (member.phase === "idle") this.#open(member);
    else member.openAt = member.notBefore;
  }

  #open(member) {
    if (member.phase === "opening" || member.phase === "open") return;
    Object.assign(member, { openAt: Infinity, phase: "opening" });
    this.#actions.push({ kind: "open", gateway: member.address });
  }

  /** Ends a session that no nav needs. */
  #retire(member) {
    this.#members.delete(member.address);
    this.#actions.push({ kind: "drop", gateway: member.address });
  }

  /** Handles the end of a session that the client goes on with. */
  #lose(member, { at, least = 0 }) {
    const hasFailed = member.phase !== "open";
    // Until the lease of its daemon ends, the others name it. So while they answer, no pause may
    // delay the answer of the one that takes over.
    const others = [...this.#members.values()].filter((each) => each !== member);
    if (others.some(({ phase }) => phase === "open")) {
      at = Math.min(at, this.#now + Math.max(least, LONGEST_MOVE_MS));
    }
    Object.assign(member, { phase: "lost", notBefore: at, openAt: Infinity });
    this.#actions.push({ kind: "drop", gateway: member.address });
    // After a loss, it is asked again itself, unless it wants to be left alone for some time.
    if (hasFailed || at - this.#now > 100) this.#askOthers(member);
    if (this.#isNeeded(member)) this.#need(member);
    this.#report();
  }

  /** Asks another gateway about the navs of one that cannot be reached. */
  #askOthers(member) {
    const all = this.#candidates;
    const index = all.indexOf(member.address) + 1;
    const others = [...all.slice(index), ...all.slice(0, Math.max(0, index - 1))];
    if (!others.length) return;
    const phase = (address) => this.#members.get(address)?.phase ?? "idle";
    const address = all.find((each) => each !== member.address && phase(each) === "open")
      ?? others.find((each) => phase(each) !== "lost") ?? others[0];
    if (this.#base === member.address) this.#base = address;
    const target = this.#member(address);
    for (const nav of member.session.navs) {
      const route = this.#routes.get(nav);
      if (route) route.address = address;
      this.#move(nav, member, target);
    }
    this.#need(this.#member(this.#base));
  }

  /** Ends the session with a gateway that does not take the client, for good if it is the last. */
  #expel(member, error) {
    const { address, session } = member;
    const others = this.#candidates.filter((each) => each !== address);
    if (!others.length) {
      this.#isClosed = true;
      this.#actions.push({ kind: "closed", error });
      return;
    }
    // A daemon that knows the client by another gateway may send its navs back here, in a circle.
    for (const nav of session.navs) if (nav !== null) this.#route(nav).moves++;
    member.phase = "lost";
    this.#askOthers(member);
    for (const action of session.take()) this.#pass(action);
    this.#members.delete(address);
    this.#actions.push({ kind: "drop", gateway: address });
    this.#report();
  }

  // Actions.

  /** Handles the actions of all sessions, which may cause others. */
  #settle() {
    for (let isDone = false; !isDone;) {
      isDone = true;
      for (const member of [...this.#members.values()]) {
        for (const action of member.session.take()) {
          isDone = false;
          this.#handle(member, action);
        }
      }
    }
    for (const member of this.#members.values()) {
      if (this.#isNeeded(member)) member.idleAt = Infinity;
      else if (member.idleAt === Infinity) member.idleAt = this.#now + IDLE_MS;
    }
  }

  #handle(member, action) {
    const { kind } = action;
    // What a session still sends after its gateway was given up goes nowhere.
    if (this.#members.get(member.address) !== member || this.#isClosed) return this.#pass(action);
    if (kind === "send") {
      this.#actions.push({ ...action, gateway: member.address });
    } else if (kind === "opened") {
      Object.assign(member, { phase: "open", notBefore: 0 });
      this.#hasWelcomed = true;
      this.#actions.push(action);
      this.#report();
    } else if (kind === "reconnect") {
      this.#lose(member, action);
    } else if (kind === "closed") {
      if (action.error.reason === "revoked") this.#refusals.set(member.address, action.error);
      this.#expel(member, action.error);
    } else if (kind === "moved") {
      this.#follow(member, action);
    } else {
      this.#pass(action);
    }
  }

  /** Passes an action about a nav on; it shows that the nav has an owner again. */
  #pass(action) {
    const { kind, id } = action;
    if (["send", "reconnect", "closed", "moved"].includes(kind)) return;
    const nav = kind === "answered" ? this.#navs.get(id) : action.nav;
    if (kind === "answered") this.#navs.delete(id);
    const route = this.#routes.get(nav);
    if (route && ["answered", "state", "duty"].includes(kind) && !action.isEvent) {
      route.moves = 0;
    }
    this.#actions.push(action);
  }

  #report() {
    const members = [...this.#members.values()];
    const isLost = members.some((each) => each.phase === "lost" && this.#isNeeded(each));
    const isOpen = members.some(({ phase }) => phase === "open");
    const status = isOpen && !isLost ? "connected"
      : this.#hasWelcomed ? "disconnected" : "connecting";
    if (status === this.#status) return;
    this.#status = status;
    this.#actions.push({ kind: "status", status });
  }
}

/** The address of the gateway that a daemon names; null if a page cannot use it. */
function gatewayOf(web) {
  if (typeof web !== "string" || !/^https?:\/\//.test(web) || !URL.canParse(web)) return null;
  return addressOf(web);
}

// --- Decisions: the session --------------------------------------------------------------------

/**
 * The state machine of one client: watches, requests, duties, credit and liveness.
 *
 * Callers pass each event with the time in milliseconds of a monotonic clock, and then perform
 * the actions that `take` returns, in order. Each action has a `kind`:
 * `send`, `reconnect`, `opened`, `closed`, `answered`, `queued`, `state`, `watchEnded`,
 * `asked`, `settled`, `duty`, `moved`.
 */
export class Session {
  #actions = [];
  #hello;
  #random;
  #phase = "unconnected"; // then "greeting", "open"; "closed" for good
  #nonce = "";
  #hb;
  #window;
  #used = 0;
  #upto = 0;
  #heard = 0;
  #isDoubted = false;
  #attempts = 0;
  /** The next id; the sessions of one client share it. */
  #ids;
  #bodyOctets = LINE_OCTETS;
  #mostInFlight = 64;
  /** The client's name in the rules of a cluster; null if the daemon is alone. */
  #principal = null;
  /** The clock of the wall. */
  #wall;
  /** Ops and reads without an answer, oldest first, which are sent again. */
  #flights = new Map();
  #watches = new Map();
  /** Delegate roles and leases to hold in every session, by kind and nav. */
  #duties = new Map();
  /** What each id of a watch, `delegate` or `lease` of this session was for. */
  #asked = new Map();
  /** The open questions of this session: the nav and the time at which each is void. */
  #asks = new Map();
  /** The navs about which nothing is sent, and until when: nobody has them, or they move about. */
  #held = new Map();
  /** How many answers may still come about requests that another session sends again. */
  #departed = new Map();
  /** Whether the daemon is one of several, so that it may not have a nav. */
  #isDivided = false;
  /** The navs that the daemon has, by its answers in this session. */
  #confirmed = new Set();

  /**
   * @param {{client: string, name?: string, window?: number, hb?: number,
   *   random?: () => number, wall?: () => number, ids?: {next: number, seen?: Seen}}} options `client`
   *   is new for each run of the page; `ids` has the next id and the rows seen, for all sessions of the client
   */
  constructor({
    client, name = "", window = 65536, hb = 5000, random = Math.random, wall = Date.now,
    ids = { next: 1 },
  }) {
    this.#ids = ids;
    ids.seen ??= new Seen();
    this.#window = clamp(window, 16384, 1048576);
    this.#hb = clamp(hb, 1000, 60000);
    this.#hello = { client, name, window: this.#window, hb: this.#hb };
    this.#random = random;
    this.#wall = wall;
  }

  /** Returns the actions since the last call. */
  take() {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** The time of the next `tick`; infinite while nothing has a deadline. */
  get wakeAt() {
    let at = Infinity;
    for (const { isSent, until } of this.#flights.values()) if (!isSent) at = Math.min(at, until);
    if (this.#phase !== "greeting" && this.#phase !== "open") return at;
    at = Math.min(at, this.#silentAt);
    for (const { retryAt } of this.#watches.values()) at = Math.min(at, retryAt);
    for (const { retryAt } of this.#duties.values()) at = Math.min(at, retryAt);
    for (const { until } of this.#asks.values()) at = Math.min(at, until);
    for (const { retryAt } of this.#flights.values()) at = Math.min(at, retryAt);
    if (this.#phase === "open") at = Math.min(at, ...this.#held.values());
    return at;
  }

  get #silentAt() { return this.#heard + (this.#isDoubted ? 2000 : 3 * this.#hb); }

  /** Handles a new stream: says `hello`. */
  connected(now) {
    if (this.#phase === "closed") return;
    this.#forgetSession();
    this.#phase = "greeting";
    this.#hb = this.#hello.hb;
    this.#listen(now);
    this.#nonce = Math.floor(this.#random() * 2 ** 48).toString(16);
    this.#send("hello", encode({ ver: [1, 1], ...this.#hello, nonce: this.#nonce }));
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(now, least = 0) {
    if (this.#phase === "closed") return;
    this.#forgetSession();
    const at = now + Math.max(least, this.#backOff(this.#attempts++));
    this.#actions.push({ kind: "reconnect", at, least });
  }

  /** Handles deadlines: silence, postponed requests, and questions that nobody settled. */
  tick(now) {
    this.#dropLate(this.#flights.values(), now);
    if (now >= this.#silentAt && this.#isSilent(now)) return this.lost(now);
    if (this.#phase !== "open") return;
    for (const [ask, { until }] of this.#asks) if (until <= now) this.#void(ask);
    for (const watch of this.#watches.values()) if (watch.retryAt <= now) this.#sendWatch(watch);
    for (const duty of this.#duties.values()) if (duty.retryAt <= now) this.#sendDuty(duty);
    for (const flight of this.#flights.values()) {
      if (flight.retryAt <= now) flight.retryAt = Infinity;
    }
    for (const [nav, until] of this.#held) if (until <= now) this.#sendHeld(nav);
    this.#sendWaiting();
  }

  /**
   * Whether the stream is lost.
   *
   * A tick that comes late says that the page was frozen or its timers were throttled. Then two
   * seconds decide, in which the page reads what has arrived meanwhile.
   */
  #isSilent(now) {
    if (this.#phase !== "greeting" && this.#phase !== "open") return false;
    if (this.#isDoubted || now < this.#silentAt + 500) return true;
    this.#listen(now);
    this.#isDoubted = true;
    return false;
  }

  #listen(now) {
    this.#heard = now;
    this.#isDoubted = false;
  }

  /** Handles a message; `octets` is the length of its body in UTF-8. */
  receive(verb, body, octets, now) {
    if (this.#phase !== "greeting" && this.#phase !== "open") return;
    this.#listen(now);
    if (this.#phase === "greeting") return this.#receiveGreeting(verb, body, now);
    if (CREDIT_VERBS.has(verb)) this.#used += octets;
    const { nav } = body;
    switch (verb) {
      case "ok": return this.#receiveOk(body, now);
      case "err": return this.#receiveErr(body, now);
      case "queued":
        this.#actions.push({ kind: "queued", id: body.id, pos: body.pos });
        return this.#confirm(nav);
      case "snap": case "diff":
        this.#ids.seen.note(nav, body.seq);
        return this.#replicate(nav, verb, body, now);
      case "diffs":
        for (const diff of body.list) {
          this.#ids.seen.note(diff.nav ?? nav, diff.seq);
          this.#replicate(diff.nav ?? nav, "diff", diff, now);
        }
        break;
      case "mark":
        this.#ids.seen.noteAll(body.seq ?? []);
        for (const entry of body.at) this.#replicate(entry[0], verb, entry, now);
        break;
      case "event": return this.#receiveEvent(body, now);
      case "latest": return this.#receiveLatest(body, now);
      case "ask": return this.#receiveAsk(body, now);
      case "settled": return this.#void(body.ask);
      case "lost": return this.#receiveLost(body);
      case "end": return this.#receiveEnd(body, now);
      case "bye": return this.#receiveBye(body, now);
    }
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  applied() {
    if (this.#phase !== "open" || this.#used + this.#window / 2 <= this.#upto) return;
    this.#upto = this.#used + this.#window;
    this.#send("credit", encode({ upto: this.#upto }));
  }

  // What users ask for.

  get isOpen() { return this.#phase === "open"; }

  /** The mirror of a full watch; null without one. */
  mirror(nav) { return this.#watches.get(watchKey(nav, "full"))?.mirror ?? null; }

  /** Whether an answer has reported a later revision; without credit, it comes before the diff. */
  isBehind(state) {
    return isLater(this.#watches.get(watchKey(state.nav, "full"))?.answered, state);
  }

  /** The state of a watch, if it is known to be right; otherwise null. */
  current(nav, view) {
    const watch = this.#watches.get(watchKey(nav, view));
    if (view !== "full") return this.#phase === "open" ? watch?.latest ?? null : null;
    return watch?.mirror.isSynced ? watch.mirror.state : null;
  }

  /** Watches a nav; begins again if a watch that waits for its nav waits no more. */
  watch(nav, view = "full", waits = false) {
    const key = watchKey(nav, view);
    const known = this.#watches.get(key);
    if (known && (waits || !known.waits)) return;
    const mirror = view === "full" ? new Mirror(nav) : null;
    const watch = known ?? {
      key, nav, view, mirror, latest: null, hasShown: false, faults: 0, retryAt: Infinity,
      isDue: false,
    };
    watch.waits = waits;
    this.#watches.set(key, watch);
    if (this.#phase === "open") this.#sendWatch(watch);
  }

  unwatch(nav, view = "full") {
    const key = watchKey(nav, view);
    if (!this.#watches.delete(key)) return;
    this.#unask(key);
    if (this.#phase === "open") this.#send("unwatch", encode({ id: this.#ids.next++, nav, view }));
  }

  /**
   * Sends an `op` or a `get`, and again after each loss until it is answered; returns its id.
   *
   * After `within` milliseconds, a request that is not under way fails as `expired`.
   *
   * @throws {NavigationError} `limit` if it is too large
   */
  request(verb, nav, members, within = null, now = 0) {
    const id = this.#ids.next;
    const body = encode({ id, ...(nav === null ? {} : { nav }), ...members });
    this.#checkSize(verb, body);
    this.#ids.next++;
    this.#flights.set(id, {
      id, verb, nav, body, isSent: false, sends: 0, sentAs: null, seen: 0, retryAt: Infinity,
      begun: { now, wall: this.#wall() }, within, until: within === null ? Infinity : now + within,
    });
    this.#sendWaiting();
    return id;
  }

  /** Drops a request; returns in how many sessions it was sent, so that it may have happened. */
  forget(id) {
    const flight = this.#flights.get(id);
    if (this.#flights.delete(id)) this.#sendWaiting();
    return flight?.sends ?? 0;
  }

  /** Notes that the line of a request was not posted on a stream that has ended. */
  noteUnposted(id) {
    const flight = this.#flights.get(id);
    if (flight) flight.sends--;
  }

  /** Handles a line that the gateway refused for its form or its size. */
  refuse(id, status) {
    if (!this.#flights.has(id)) return;
    const code = status === 413 ? "limit" : "invalid-argument";
    this.#fail(id, { id, code, msg: "the gateway refused the line", effect: "none", retry: "no" });
    this.#sendWaiting();
  }

  /** Registers roles; null ends them. Throws if they cannot be sent. */
  delegate(nav, wanted) { this.#want("delegate", nav, wanted, { roles: [] }); }

  /** Takes the display, by `force` if that is true; null gives it back. */
  lease(nav, force) {
    this.#want("lease", nav, force === null ? null : { take: true, ...(force && { force }) },
      { take: false });
  }

  #want(kind, nav, wanted, resignation) {
    const key = `${kind} ${nav}`;
    if (wanted) this.#checkSize(kind, encode({ id: this.#ids.next, nav, ...wanted }));
    this.#unask(key);
    if (kind === "delegate") this.#voidAsks(nav);
    if (wanted) {
      const duty = {
        key, kind, nav, wanted, isHeld: false, faults: 0, retryAt: Infinity, isDue: false,
      };
      this.#duties.set(key, duty);
      if (this.#phase === "open") this.#sendDuty(duty);
    } else if (this.#duties.delete(key) && this.#phase === "open") {
      this.#send(kind, encode({ id: this.#ids.next++, nav, ...resignation }));
    }
  }

  /** Answers a question, unless it is void; throws if the answer cannot be sent. */
  answer(ask, value) {
    const open = this.#asks.get(ask);
    if (this.#phase !== "open" || !open || open.isAnswered) return;
    const body = encode({ ask, value });
    this.#checkSize("answer", body);
    open.isAnswered = true;
    this.#send("answer", body);
  }

  /** Ends the session for good. */
  leave() {
    if (this.#phase === "open") this.#send("bye", encode({ id: this.#ids.next++ }));
    this.#phase = "closed";
  }

  // What the daemon sends.

  #receiveGreeting(verb, body, now) {
    if (verb === "welcome" && body.nonce === this.#nonce) return this.#open(body, now);
    // The error to a `hello` that the daemon cannot read has no nonce.
    if (verb !== "err" || (body.nonce ?? this.#nonce) !== this.#nonce) return undefined;
    if (isPostponed(body)) return this.lost(now, body.after);
    return this.#close(NavigationError.from(body));
  }

  #open(welcome, now) {
    this.#phase = "open";
    this.#attempts = 0;
    this.#hb = welcome.hb ?? this.#hb;
    this.#window = Math.min(this.#hello.window, welcome.limits?.window ?? this.#hello.window);
    this.#used = 0;
    this.#upto = this.#window;
    this.#bodyOctets = Math.min(LINE_OCTETS, welcome.limits?.message ?? LINE_OCTETS);
    this.#ids.next = Math.max(this.#ids.next, (welcome.ops?.last ?? 0) + 1);
    this.#mostInFlight = welcome.limits?.inflight ?? 64;
    this.#principal = welcome.you?.principal ?? null;
    this.#actions.push({ kind: "opened", welcome });
    const isOfSeveral = welcome.features?.includes("shards") ?? false;
    this.#isDivided ||= isOfSeveral;
    this.#ids.seen.begin(welcome.ops?.seq ?? [], isOfSeveral);
    this.#dropFlights(this.#flights.values(), now);
    // Watches first, so that the diff of an op comes before its answer. Then roles and leases,
    // without which an op may not be permitted.
    for (const watch of this.#watches.values()) this.#sendWatch(watch);
    for (const duty of this.#duties.values()) this.#sendDuty(duty);
    this.#sendWaiting();
  }

  /** Ends the requests that this session cannot send any more. */
  #dropFlights(all, now) {
    const flights = [...all];
    this.#dropLate(flights, now);
    for (const { id, verb, body, sends, sentAs } of flights) {
      if (!this.#flights.has(id)) continue;
      // Daemons remember ops by principal, so this one may perform it again.
      if (verb === "op" && sends && sentAs && this.#principal && sentAs !== this.#principal) {
        this.#fail(id, { code: "op-too-old", effect: "unknown", retry: "resync",
          msg: `the operation was sent as ${sentAs}, and may have been performed` });
      } else if (this.#isTooLarge(verb, body)) {
        this.#fail(id, { code: "limit", reason: "size", effect: sends ? "unknown" : "none",
          msg: `the ${verb} has more octets than the daemon accepts` });
      }
    }
  }

  /** Fails the requests whose time is up, except those that are under way. */
  #dropLate(flights, now) {
    for (const { id, isSent, sends, begun, within } of [...flights]) {
      if (isSent || within === null || this.#age(begun, now) < within) continue;
      this.#fail(id, { code: "expired", effect: sends ? "unknown" : "none", retry: "no",
        msg: "there was no connection in time, and the request is not sent any more" });
    }
  }

  /**
   * The age of a time. The clock of the page may stand still while the machine sleeps, and that of
   * the wall may be set back, so the greater one counts.
   */
  #age(since, now) { return Math.max(now - since.now, this.#wall() - since.wall); }

  #fail(id, err) {
    this.#flights.delete(id);
    this.#actions.push({ kind: "answered", id, err });
  }

  #receiveOk(body, now) {
    const { id } = body;
    this.#isFromBefore(id);
    this.#ids.seen.note(body.nav, body.seq);
    const key = this.#asked.get(id);
    this.#asked.delete(id);
    const watch = this.#watches.get(key);
    const duty = this.#duties.get(key);
    if (watch?.mirror) {
      if (!isLater(watch.answered, body)) watch.answered = body;
      this.#replicate(watch.nav, "ok", body, now);
    }
    if (duty) this.#grant(duty);
    if (watch || duty) return this.#confirm((watch ?? duty).nav);
    const flight = this.#flights.get(id);
    if (!this.#flights.delete(id)) return;
    const follower = this.#watches.get(watchKey(body.nav, "full"));
    // A read of an earlier revision must not hide a later one.
    if (follower && !isLater(follower.answered, body)) follower.answered = body;
    this.#actions.push({ kind: "answered", id, ok: body });
    this.#confirm(flight.nav);
    this.#sendWaiting();
  }

  #receiveErr(body, now) {
    const { id } = body;
    // The daemon does not know the session. A new stream asks for everything again.
    if (body.code === "no-session") return this.lost(now);
    // One with a verb answers a message that has no id.
    if (id == null) return body.verb === undefined ? this.#failOpen(body, now) : undefined;
    const key = this.#asked.get(id);
    this.#asked.delete(id);
    const wish = this.#watches.get(key) ?? this.#duties.get(key);
    const isLate = this.#isFromBefore(id);
    if (isElsewhere(body)) return isLate ? undefined : this.#displace(wish, id, body);
    if (wish && isPostponed(body)) return this.#postpone(wish, now, body.after);
    if (wish) return this.#refuseWish(wish, body);
    const flight = this.#flights.get(id);
    if (!flight) return;
    // The daemon looks at the load before it looks at what it remembers: it may have performed the
    // op in an earlier session.
    if (body.code === "busy" && flight.sends > 1) {
      Object.assign(flight, { isSent: false, retryAt: now + (body.after ?? 200) });
    } else {
      this.#fail(id, body);
      if (!isPostponed(body)) this.#confirm(flight.nav);
    }
    this.#sendWaiting();
  }

  /** Fails what is open: an `err` without id answers one of them, and the daemon could not read which. */
  #failOpen(err, now) {
    const sent = [...this.#flights.values()].filter((flight) => flight.isSent);
    const open = [...this.#asked.keys(), ...sent.map((flight) => flight.id)];
    for (const id of open.sort((a, b) => a - b)) {
      this.#receiveErr({ ...err, id, effect: "unknown" }, now);
    }
  }

  #postpone(wish, now, least = 0) {
    wish.mirror?.disconnect();
    wish.retryAt = now + Math.max(least, this.#backOff(wish.faults++));
  }

  #refuseWish(wish, err) {
    const { key, kind, nav, view } = wish;
    if (this.#watches.delete(key)) {
      // A nav that the watch has shown was closed meanwhile.
      const why = wish.hasShown && err.code === "no-nav" ? "closed" : undefined;
      this.#actions.push({ kind: "watchEnded", nav, view, why, err });
    } else {
      this.#duties.delete(key);
      this.#actions.push({ kind: "duty", duty: kind, nav, err });
    }
  }

  /** Passes a message to the mirror of a full watch, and acts as the mirror decides. */
  #replicate(nav, verb, body, now) {
    const watch = this.#watches.get(watchKey(nav, "full"));
    if (!watch) return;
    const result = watch.mirror.apply(verb, body, now);
    if (result.kind === "state") {
      // A snapshot is right by itself. Only a change shows that the mirror follows again.
      if (result.how === "applied") watch.faults = 0;
      watch.hasShown = true;
      const isResumed = result.how === "resumed";
      this.#actions.push({ kind: "state", nav, view: "full", state: result.state, isResumed });
    } else if (result.kind === "diverged") {
      // At once for the first fault. After repeated faults, the pauses grow.
      if (watch.faults++ === 0) this.#sendWatch(watch);
      else watch.retryAt = now + this.#backOff(watch.faults - 1);
    } else if (verb === "mark" && watch.mirror.isSynced) {
      watch.faults = 0;
    }
  }

  #receiveEvent(body, now) {
    const state = this.mirror(body.nav)?.withEvents(body, now);
    if (!state) return;
    this.#actions.push({ kind: "state", nav: body.nav, view: "full", state, isEvent: true });
  }

  #receiveLatest(body, now) {
    const { nav, view } = body;
    const watch = this.#watches.get(watchKey(nav, view));
    if (!watch) return;
    watch.hasShown = true;
    watch.latest = Object.freeze({ ...body, receivedAt: now });
    this.#actions.push({ kind: "state", nav, view, state: watch.latest });
  }

  #receiveEnd(body, now) {
    const { nav, view = "full", why } = body;
    const watch = this.#watches.get(watchKey(nav, view));
    if (why === "moved") return this.#receiveMove(nav, watch, body);
    if (!watch) return;
    // It may end an earlier watch; then the answer to the present one is still to come.
    const isEarlier = watch.mirror
      ? watch.mirror.apply("end", body, now).kind === "ignored"
      : [...this.#asked.values()].includes(watch.key);
    if (isEarlier) return;
    this.#watches.delete(watch.key);
    this.#unask(watch.key);
    this.#actions.push({ kind: "watchEnded", nav, view, why });
    if (why !== "closed" || !watch.waits) return;
    Object.assign(watch, { latest: null, answered: undefined });
    this.#watches.set(watch.key, watch);
    this.#sendWatch(watch);
  }

  #receiveBye({ why, after = 0 }, now) {
    if (why !== "fenced" && why !== "revoked") return this.lost(now, after);
    this.#close(new NavigationError("closed", `navd ended the session: ${why}`, { reason: why }));
  }

  // Navs that another daemon has.

  /** Handles an error by which the daemon does not have the nav, or nobody has it. */
  #displace(wish, id, { nav, web, endpoint, after = 0, code }) {
    const flight = this.#flights.get(id);
    if (!wish && !flight) return;
    wish?.mirror?.disconnect();
    if (wish) Object.assign(wish, { isDue: true, isHeld: false });
    if (flight) {
      // The daemon has not done it.
      flight.isSent = false;
      flight.sends--;
    }
    const hasOwner = code === "moved";
    this.#moveAway({ nav: (wish ?? flight).nav ?? nav, hasOwner, web, endpoint, after });
  }

  /** Handles the end of a watch, of roles or of a lease whose nav moves away. */
  #receiveMove(nav, watch, { web, endpoint }) {
    const asked = [...this.#asked.values()];
    const duties = [...this.#duties.values()].filter((duty) => duty.nav === nav && duty.isHeld);
    // It may end an earlier watch; then the answer to the present one says where the nav is.
    if (![watch, ...duties].some((wish) => wish && !asked.includes(wish.key))) return;
    watch?.mirror?.disconnect();
    if (watch) Object.assign(watch, { latest: null, isDue: true });
    const hasOwner = web !== undefined || endpoint !== undefined;
    this.#moveAway({ nav, hasOwner, web, endpoint, after: 0 });
  }

  #moveAway(move) {
    this.#isDivided = true;
    this.#confirmed.delete(move.nav);
    this.#actions.push({ kind: "moved", ...move });
  }

  /** Whether an answer is about what was sent before another session took the nav over. */
  #isFromBefore(id) {
    const count = this.#departed.get(id);
    if (count === undefined) return false;
    if (count > 1) this.#departed.set(id, count - 1);
    else this.#departed.delete(id);
    return true;
  }

  /** The navs that watches, duties and requests are about; null for the daemon itself. */
  get navs() {
    const all = [this.#watches, this.#duties, this.#flights];
    return new Set(all.flatMap((each) => [...each.values()].map(({ nav }) => nav)));
  }

  /** Whether there is nothing that the session is needed for. */
  get isIdle() { return !this.#watches.size && !this.#duties.size && !this.#flights.size; }

  /** Whether nothing is sent about the nav at present. */
  isHolding(nav) { return this.#held.has(nav); }

  /** Sends nothing about a nav until a time; then everything, oldest first. */
  hold(nav, until) {
    this.#held.set(nav, until);
    this.#suspend(nav);
  }

  /** Ends what the daemon had of a nav: roles, displays and questions. */
  #suspend(nav) {
    for (const wish of [...this.#watches.values(), ...this.#duties.values()]) {
      if (wish.nav !== nav) continue;
      Object.assign(wish, { isDue: true, isHeld: false, retryAt: Infinity });
    }
    this.#voidAsks(nav);
  }

  #sendHeld(nav) {
    this.#held.delete(nav);
    for (const watch of this.#watches.values()) if (isDue(watch, nav)) this.#sendWatch(watch);
    for (const duty of this.#duties.values()) if (isDue(duty, nav)) this.#sendDuty(duty);
  }

  /** Takes out everything about a nav, for `adopt` of the session that goes on with it. */
  surrender(nav) {
    this.#suspend(nav);
    this.#held.delete(nav);
    const [watches, duties, flights] = [this.#watches, this.#duties, this.#flights]
      .map((all) => [...all].filter(([, each]) => each.nav === nav));
    for (const [key, watch] of watches) {
      this.#unask(key);
      watch.mirror?.disconnect();
      watch.latest = null;
      this.#watches.delete(key);
    }
    for (const [key] of duties) {
      this.#unask(key);
      this.#duties.delete(key);
    }
    for (const [id, flight] of flights) {
      if (flight.isSent) {
        this.#departed.set(id, (this.#departed.get(id) ?? 0) + 1);
      }
      Object.assign(flight, { isSent: false, retryAt: Infinity });
      this.#flights.delete(id);
    }
    this.#sendWaiting();
    return { watches, duties, flights };
  }

  /** Goes on with what another session surrendered: at once, or from a time on. */
  adopt(nav, { watches, duties, flights }, now, from = now) {
    this.#isDivided = true;
    for (const [key, watch] of watches) this.#watches.set(key, watch);
    for (const [key, duty] of duties) this.#duties.set(key, duty);
    for (const [id, flight] of flights) this.#flights.set(id, flight);
    if (from > now) return this.hold(nav, from);
    if (this.#phase !== "open") return;
    this.#dropFlights(flights.map(([, flight]) => flight), now);
    this.#sendHeld(nav);
    this.#sendWaiting();
  }

  /** Fails everything about a nav. */
  abandon(nav, { code, message, endpoint, retry }) {
    const { watches, duties, flights } = this.surrender(nav);
    const err = { code, msg: message, nav, endpoint, effect: "none", retry };
    for (const [, { view }] of watches) {
      this.#actions.push({ kind: "watchEnded", nav, view, err });
    }
    for (const [, { kind }] of duties) this.#actions.push({ kind: "duty", duty: kind, nav, err });
    for (const [id, { sends }] of flights) {
      this.#fail(id, { ...err, effect: sends ? "unknown" : "none" });
    }
  }

  // Duties.

  #grant(duty) {
    Object.assign(duty, { isHeld: true, faults: 0 });
    if (duty.kind === "lease") duty.wanted = { take: true };
    this.#actions.push({ kind: "duty", duty: duty.kind, nav: duty.nav });
  }

  /**
   * Ends the roles or the lease that the daemon took from a session that goes on.
   *
   * If a request about them is under way, its answer decides.
   */
  #receiveLost({ nav, of, code, msg, owner }) {
    const key = `${of} ${nav}`;
    const duty = this.#duties.get(key);
    if (!duty?.isHeld) return;
    duty.isHeld = false;
    if ([...this.#asked.values()].includes(key)) return;
    this.#duties.delete(key);
    if (of === "delegate") this.#voidAsks(nav);
    const err = { code, msg, nav, effect: "none", retry: "resync", ...(owner && { owner }) };
    this.#actions.push({ kind: "duty", duty: of, nav, err });
  }

  #receiveAsk(body, now) {
    const { ask, nav, within } = body;
    if (!this.#duties.has(`delegate ${nav}`) || this.#asks.has(ask)) return;
    // The `settled` may come a little after the deadline.
    this.#asks.set(ask, { nav, until: now + within + this.#hb, isAnswered: false });
    this.#actions.push({ kind: "asked", nav, body });
  }

  #voidAsks(nav) {
    for (const [ask, open] of this.#asks) if (open.nav === nav) this.#void(ask);
  }

  #void(ask) {
    const open = this.#asks.get(ask);
    if (!this.#asks.delete(ask)) return;
    this.#actions.push({ kind: "settled", nav: open.nav, ask });
  }

  // Sending.

  /** Throws if a message is too large: the daemon could not name it in its error. */
  #checkSize(verb, body) {
    if (!this.#isTooLarge(verb, body)) return;
    const message = `the ${verb} has ${utf8(body).length} octets, more than the daemon accepts`;
    throw new NavigationError("limit", message, { reason: "size" });
  }

  #isTooLarge(verb, body) {
    const room = verb === "op" ? AGAIN_OCTETS : 0;
    return utf8(body).length + verb.length + 6 + room > this.#bodyOctets;
  }

  #sendWatch(watch) {
    const { key, nav, view, mirror, waits } = watch;
    this.#unask(key);
    Object.assign(watch, { retryAt: Infinity, isDue: this.#held.has(nav) });
    if (watch.isDue) return;
    const id = this.#ids.next++;
    this.#asked.set(id, key);
    const wait = waits ? { wait: true } : {};
    this.#send("watch", encode({ id, nav, view, ...wait, ...mirror?.watching() }));
  }

  #sendDuty(duty) {
    const { key, kind, nav, wanted } = duty;
    this.#unask(key);
    Object.assign(duty, { retryAt: Infinity, isDue: this.#held.has(nav) });
    if (duty.isDue) return;
    const id = this.#ids.next++;
    this.#asked.set(id, key);
    this.#send(kind, encode({ id, nav, ...wanted }));
  }

  /** Notes that the daemon has a nav; sends what waited for that. */
  #confirm(nav) {
    if (!this.#isDivided || nav == null || this.#confirmed.has(nav)) return;
    if (this.#confirmed.size >= MOST_ROUTES) this.#confirmed.clear();
    this.#confirmed.add(nav);
    this.#sendWaiting();
  }

  /**
   * Sends requests that were not sent yet, oldest first, up to the limit of those in flight.
   *
   * Until a daemon of several has confirmed a nav, one request about it is under way. Otherwise a
   * daemon that takes the nav over at this moment could refuse one and perform the next.
   */
  #sendWaiting() {
    if (this.#phase !== "open") return;
    let count = 0;
    const probed = new Set();
    for (const flight of this.#flights.values()) {
      const { nav } = flight;
      if (this.#held.has(nav) && !flight.isSent) continue;
      if (this.#isDivided && nav !== null && !this.#confirmed.has(nav)) {
        if (probed.has(nav)) continue;
        probed.add(nav);
      }
      if (++count > this.#mostInFlight) return;
      if (flight.isSent || flight.retryAt < Infinity) continue;
      flight.isSent = true;
      const row = this.#ids.seen.row(flight.nav);
      if (flight.sends === 0) Object.assign(flight, { sentAs: this.#principal, seen: row });
      // An op that is sent again says what the client had seen when it sent it first. Rows that the
      // daemon has lost since do not date it.
      flight.seen = Math.min(flight.seen, row);
      const isAgain = flight.sends++ > 0 && flight.verb === "op";
      const { body, seen } = flight;
      this.#send(flight.verb, isAgain ? `${body.slice(0, -1)},"again":${seen}}` : body, flight.id);
    }
  }

  #send(verb, body, id = null) {
    this.#actions.push({ kind: "send", line: `["${verb}",${body}]\n`, id });
  }

  #unask(key) { for (const [id, asked] of this.#asked) if (asked === key) this.#asked.delete(id); }

  // The end of a session.

  #forgetSession() {
    if (this.#phase !== "closed") this.#phase = "unconnected";
    // Force counts once, also if its answer was lost: another client may have the display since.
    for (const key of this.#asked.values()) {
      const duty = this.#duties.get(key);
      if (duty?.kind === "lease") duty.wanted = { take: true };
    }
    this.#asked.clear();
    this.#departed.clear();
    this.#confirmed.clear();
    for (const ask of this.#asks.keys()) this.#void(ask);
    for (const watch of this.#watches.values()) {
      watch.mirror?.disconnect();
      Object.assign(watch, { latest: null, retryAt: Infinity });
    }
    for (const duty of this.#duties.values()) {
      Object.assign(duty, { isHeld: false, retryAt: Infinity });
    }
    for (const flight of this.#flights.values()) {
      Object.assign(flight, { isSent: false, retryAt: Infinity });
    }
  }

  #close(error) {
    this.#forgetSession();
    this.#phase = "closed";
    this.#actions.push({ kind: "closed", error });
  }

  /** A random pause from 0 to a bound, which doubles from 100 ms up to 5 s. */
  #backOff(attempt) { return this.#random() * Math.min(5000, 100 * 2 ** Math.min(attempt, 16)); }
}

/** The newest row of each shard that a daemon has reported (docs/protocol.md, the core). */
class Seen {
  #rows = new Map();
  #shards = 1;

  #shard(nav) { return crc32(utf8(nav)) % this.#shards; }

  /** The newest row of a nav's shard, 0 for none. */
  row(nav) { return nav === null ? 0 : this.#rows.get(this.#shard(nav)) ?? 0; }

  /** Notes the row of an answer or of a diff; a virtual nav has rows of all shards. */
  note(nav, row) {
    if (row !== undefined && !nav.startsWith("$")) this.noteAll([[this.#shard(nav), row]]);
  }

  /** Notes the rows of a mark. */
  noteAll(rows) {
    for (const [shard, row] of rows) {
      this.#rows.set(shard, Math.max(row, this.#rows.get(shard) ?? 0));
    }
  }

  /** Notes the rows of a welcome; after a crash there can be fewer. */
  begin(rows, isDivided) {
    this.#shards = isDivided ? SHARDS : 1;
    for (const [shard, row] of rows) this.#rows.set(shard, row);
  }
}

function watchKey(nav, view) { return `${view} ${nav}`; }

function isLater(one, other) { return one?.epoch === other.epoch && one?.rev > other.rev; }

function isDue(wish, nav) { return wish.nav === nav && wish.isDue; }

/** Whether the daemon does not have the nav; `no-owner` says that nobody has it that it knows of. */
function isElsewhere(err) {
  return err.code === "moved" || err.code === "busy" && err.reason === "no-owner";
}

function isPostponed(err) { return err.retry === "later" || err.retry === "same"; }

function clamp(value, least, greatest) {
  return Math.min(Math.max(Math.floor(value), least), greatest);
}

// --- Decisions: the mirror ---------------------------------------------------------------------

/**
 * A copy of one nav, which its digest proves at each revision.
 *
 * A mirror is replaced as a whole, by a snapshot or by a complete diff. No state in between and no
 * state with a wrong digest is visible.
 */
export class Mirror {
  #nav;
  #now = null;
  /** idle: no watch. awaiting: a watch without its answer. snapshot: one must come. following. */
  #phase = "snapshot";
  #bad = null;
  #isSuspect = false;
  #screens = null; // of an incomplete snapshot
  #head = null;
  #sums = [];

  constructor(nav) { this.#nav = nav; }

  /** Reads the state of a `get`; throws if its digest is wrong. */
  static read(nav, value, receivedAt = 0) {
    const mirror = new Mirror(nav);
    const { state } = mirror.apply("snap", { ...value, i: 0, last: true }, receivedAt);
    if (state) return state;
    const more = { nav, retry: "resync" };
    throw new NavigationError("internal", "the digest of the state is wrong", more);
  }

  /** Whether the mirror is known to be right, so that guards may be made from it. */
  get isSynced() {
    return this.#phase === "following" && !this.#isSuspect && !this.#screens && this.#now !== null;
  }

  get #position() {
    const { epoch, rev, dig } = this.#now;
    return { epoch, rev, dig };
  }

  /** The last state that was right, as a loop gets it first; null before the first snapshot. */
  get state() { return this.#now && this.#publish({ isResynchronised: true }); }

  /** Notes that a watch is sent; returns its members `from` or `bad`. */
  watching() {
    this.disconnect();
    this.#phase = "awaiting";
    if (this.#isSuspect) return this.#bad ? { bad: this.#bad } : {};
    return this.#now ? { from: this.#position } : {};
  }

  /** Notes the end of the session or of the watch; the next one resumes from here. */
  disconnect() {
    this.#phase = "idle";
    this.#screens = this.#head = null;
  }

  /**
   * Handles a message about the nav: `body`, for a `mark` its entry `[nav, rev, dig]`.
   *
   * @returns {{kind: "state" | "part" | "diverged" | "ignored" | "ended"}} A `state` has `state`
   *   and `how`: `replaced`, `applied` or `resumed`. After `diverged`, send a watch with the
   *   members of `watching()`; until its `ok` arrives, everything else is ignored.
   */
  apply(verb, body, now = 0) {
    switch (verb) {
      case "ok": return this.#receiveOk(body);
      case "snap": return this.#receiveSnap(body, now);
      case "diff": return this.#receiveDiff(body, now);
      case "mark": return this.#receiveMark(body);
      case "end": return this.#receiveEnd();
      default: return IGNORED;
    }
  }

  /** The state with the events of an `event`; null unless the mirror is known to be right. */
  withEvents({ ev = [] }, receivedAt = 0) {
    return this.isSynced ? this.#publish({ ev }, receivedAt) : null;
  }

  #receiveOk({ mode, epoch }) {
    if (this.#phase !== "awaiting") return IGNORED;
    if (mode !== "resume") {
      this.#phase = "snapshot";
      return PART;
    }
    // Not asked for, or of another epoch.
    if (this.#isSuspect || epoch !== this.#now?.epoch) return this.#suspect(this.#now);
    this.#phase = "following";
    return { kind: "state", how: "resumed", state: this.state };
  }

  #receiveSnap(part, receivedAt) {
    if (this.#phase !== "snapshot" && this.#phase !== "following") return IGNORED;
    if (part.i > 0 && !this.#isContinued(part)) return this.#suspect(this.#now);
    this.#head = part;
    this.#screens = part.i > 0 ? [...this.#screens, ...part.screens] : [...part.screens];
    if (!part.last) return PART;
    const screens = this.#screens;
    const { kind, epoch, rev, dig, resolved = null } = part;
    const parts = pick(part, PARTS);
    this.#screens = this.#head = null;
    const sums = [];
    const computed = sumUp(sums, screens, parts, 0);
    if (computed !== dig.slice(0, 8)) return this.#suspect({ rev, dig: computed + dig.slice(8) });
    this.#sums = sums;
    this.#adopt({ kind, epoch, rev, dig, screens, parts, resolved, receivedAt });
    this.#phase = "following";
    this.#isSuspect = false;
    this.#bad = null;
    return { kind: "state", how: "replaced", state: this.state };
  }

  #isContinued(part) {
    return this.#head !== null && this.#screens.length === part.i
      && this.#head.epoch === part.epoch && this.#head.rev === part.rev;
  }

  #receiveDiff(diff, receivedAt) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A snapshot comes whole and before every diff, so a message is missing.
    if (this.#phase === "snapshot" || this.#screens) return this.#suspect(this.#now);
    const { epoch, rev, dig } = this.#now;
    if (diff.epoch === epoch && diff.rev <= rev) {
      return diff.rev === rev && diff.dig !== dig ? this.#suspect(this.#now) : IGNORED;
    }
    if (diff.epoch !== epoch || diff.base !== rev) return this.#gap();
    return this.#change(diff, receivedAt);
  }

  #change(diff, receivedAt) {
    const next = { ...this.#now, screens: [...this.#now.screens], parts: this.#now.parts };
    let lowest = next.screens.length;
    for (const change of diff.ch) {
      const index = applyChange(next, change);
      if (index < 0) return this.#suspect(this.#now);
      lowest = Math.min(lowest, index);
    }
    const computed = sumUp(this.#sums, next.screens, next.parts, lowest);
    if (computed !== diff.dig.slice(0, 8)) {
      return this.#suspect({ rev: diff.rev, dig: computed + diff.dig.slice(8) });
    }
    this.#adopt({
      ...next, rev: diff.rev, dig: diff.dig, resolved: diff.resolved ?? next.resolved, receivedAt,
    });
    const state = this.#publish(diff);
    return { kind: "state", how: "applied", state };
  }

  #receiveMark([, rev, dig]) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A mark names only watches to which the daemon has sent everything.
    if (this.#phase === "snapshot" || this.#screens) return this.#suspect(this.#now);
    const isRight = rev < this.#now.rev || rev === this.#now.rev && dig === this.#now.dig;
    return isRight ? IGNORED : this.#suspect(this.#now);
  }

  #receiveEnd() {
    this.#now = this.#bad = null;
    this.#isSuspect = false;
    this.#screens = this.#head = null;
    this.#sums = [];
    if (this.#phase === "awaiting") return IGNORED;
    this.#phase = "idle";
    return { kind: "ended" };
  }

  /** Revisions are missing: the mirror is right, and the next watch resumes from it. */
  #gap() {
    this.#phase = "awaiting";
    return DIVERGED;
  }

  /** The mirror differs from the nav; only a snapshot repairs it. */
  #suspect(position) {
    this.#isSuspect = true;
    this.#bad = position && { rev: position.rev, dig: position.dig };
    this.#screens = this.#head = null;
    this.#phase = "awaiting";
    return DIVERGED;
  }

  #adopt(now) {
    Object.freeze(now.screens);
    Object.freeze(now.parts);
    this.#now = Object.freeze(now);
  }

  /** The state as loops get it. */
  #publish(change, receivedAt = this.#now.receivedAt) {
    const { kind, epoch, rev, dig, screens, parts, resolved } = this.#now;
    const { cause = null, by = null, ev = NOTHING, animated = false } = change;
    const { isResynchronised = false } = change;
    const presented = parts.presented?.chain ?? NOTHING;
    const top = screens.at(-1) ?? null;
    const isStack = kind !== "directory";
    return Object.freeze({
      nav: this.#nav, kind, epoch, rev, dig, screens, top: isStack ? top : null,
      visible: isStack ? presented.at(-1)?.screen ?? top : null, presented, bar: resolved, parts,
      cause, by, ev, animated, isResynchronised, receivedAt,
    });
  }
}

const IGNORED = Object.freeze({ kind: "ignored" });
const DIVERGED = Object.freeze({ kind: "diverged" });
const PART = Object.freeze({ kind: "part" });
const NOTHING = Object.freeze([]);

/** Applies a change; returns the index of the lowest screen that it touched, or −1. */
function applyChange(next, change) {
  const { screens } = next;
  if (change.set === undefined) {
    const { at, del, ins } = change;
    const isThere = del.every((id, index) => screens[at + index]?.id === id);
    if (at > screens.length || !isThere) return -1;
    screens.splice(at, del.length, ...ins);
    return at;
  }
  if (change.set === "screen") {
    const index = screens.findLastIndex((screen) => screen.id === change.to.id);
    if (index >= 0) screens[index] = change.to;
    return index;
  }
  if (!Object.hasOwn(next.parts, change.set)) return -1;
  next.parts = { ...next.parts, [change.set]: change.to };
  return screens.length;
}

function pick(source, names) {
  const result = Object.create(null);
  for (const name of names) if (source[name] !== undefined) result[name] = source[name];
  return result;
}

/**
 * The first 8 digits of a state's digest: CRC-32 over the ids and versions (the core of the protocol).
 *
 * @param {{id: string, ver: number}[]} screens
 * @param {object} parts the six parts by name; a virtual nav has none
 * @returns {string} 8 lower-case hex digits
 */
export function checksum(screens, parts = {}) { return sumUp([], screens, parts, 0); }

/**
 * Computes the checksum after a change that did not touch the screens below `from`.
 *
 * `sums` has the checksum of the lines up to and including each screen, and is brought up to date.
 */
function sumUp(sums, screens, parts, from) {
  sums.length = Math.min(from, sums.length, screens.length);
  let sum = sums.at(-1) ?? 0;
  for (let index = sums.length; index < screens.length; index++) {
    const { id, ver } = screens[index];
    sum = crc32(utf8(`${index ? "\n" : ""}${id}@${ver}`), sum);
    sums.push(sum);
  }
  const lines = PARTS.filter((name) => parts[name]).map((name) => `:${name}@${parts[name].ver}`);
  const rest = (screens.length && lines.length ? "\n" : "") + lines.join("\n");
  return crc32(utf8(rest), sum).toString(16).padStart(8, "0");
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let rest = index;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** CRC-32 as in zlib, continued from an earlier sum. */
function crc32(bytes, sum = 0) {
  let rest = ~sum;
  for (const byte of bytes) rest = CRC_TABLE[(rest ^ byte) & 0xff] ^ (rest >>> 8);
  return ~rest >>> 0;
}

// --- Decisions: lines, posts, loops ------------------------------------------------------------

/** Divides octets into lines; a line may come in pieces, and a character too. */
export class LineReader {
  #rest = new Uint8Array();

  /** Returns the lines that are complete, as octets without the LF. */
  push(bytes) {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const lines = [];
    let start = 0;
    for (let end; (end = all.indexOf(10, start)) >= 0; start = end + 1) {
      lines.push(all.subarray(start, end));
    }
    this.#rest = all.subarray(start);
    return lines;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads a line `["verb",BODY]`; `octets` is the length of BODY. Throws if it is none. */
export function decode(line) {
  const [verb, body] = JSON.parse(decoder.decode(line));
  const isMessage = typeof verb === "string" && body !== null && typeof body === "object";
  if (!isMessage) throw new SyntaxError("not a message");
  return { verb, body: harden(body), octets: line.length - verb.length - 5 };
}

/**
 * Freezes a JSON value and takes the prototypes of its objects.
 *
 * Clients choose many keys. Without a prototype, `__proto__` is a key like every other.
 */
function harden(value) {
  if (value === null || typeof value !== "object") return value;
  for (const member of Object.values(value)) harden(member);
  return Object.freeze(Array.isArray(value) ? value : Object.setPrototypeOf(value, null));
}

/** Writes JSON that navd can read, or throws a TypeError: navd could not name the request. */
function encode(value) {
  checkJSON(value, 0);
  return JSON.stringify(value);
}

function checkJSON(value, depth) {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new TypeError("a text has a lone surrogate");
  }
  if (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)) return;
  const form = Object.getPrototypeOf(Object(value));
  // A plain object of another window has another `Object.prototype`.
  const isPlain = typeof value === "object" && (form === null || Object.getPrototypeOf(form) === null);
  if (!isPlain && !Array.isArray(value)) {
    const kind = typeof value;
    const name = kind === "object" ? form.constructor?.name : kind === "number" ? value : kind;
    throw new TypeError(`JSON has no ${name}; give null, a bool, a finite number, a text, a list or an object`);
  }
  if (depth > 31) throw new TypeError("objects and lists are nested more than 32 deep");
  for (const [key, member] of Object.entries(value)) {
    checkJSON(key, depth);
    // JSON leaves out a member that is undefined.
    if (member !== undefined || Array.isArray(value)) checkJSON(member, depth + 1);
  }
}

const encoder = new TextEncoder();

function utf8(text) { return encoder.encode(text); }

/** The numbered posts of one stream: which lines go next, and what an answer means. */
export class Outbox {
  #n;
  #lines = [];
  #batch = null;
  #isPosted = false;
  /** Whether a try of this batch had no answer, so that the gateway may have taken it. */
  #mayBeTaken = false;
  #tries = 0;
  /** How many lines go alone: those of a refused batch, so that only the faulty one fails. */
  #alone = 0;

  constructor(next = 1) { this.#n = next; }

  add(text, id = null) { this.#lines.push({ text, id }); }

  /** Takes back the line of a request; returns whether the gateway can not have taken it. */
  withdraw(id) {
    for (const lines of this.#untaken) {
      const index = lines.findIndex((line) => line.id === id);
      if (index >= 0) return lines.splice(index, 1).length > 0;
    }
    return false;
  }

  /** The requests whose lines the gateway can not have taken. */
  unposted() { return this.#untaken.flat().map(({ id }) => id).filter((id) => id !== null); }

  /** The lists of lines that the gateway can not have taken. */
  get #untaken() {
    const isHere = this.#batch && !this.#isPosted && !this.#mayBeTaken;
    return isHere ? [this.#batch, this.#lines] : [this.#lines];
  }

  /** The post to send, the same one until it is answered; null without lines. */
  next() {
    if (!this.#batch?.length) this.#begin();
    if (!this.#batch.length) return null;
    this.#isPosted = true;
    return { n: this.#n, body: this.#batch.map((line) => line.text).join("") };
  }

  #begin() {
    this.#batch = this.#fill();
    this.#mayBeTaken = false;
  }

  #fill() {
    const most = this.#alone > 0 ? 1 : this.#lines.length;
    if (this.#alone > 0) this.#alone--;
    let octets = 0;
    let count = 0;
    for (; count < most && this.#lines[count]; count++) {
      // UTF-8 has at most three octets for each unit of a text.
      octets += 3 * this.#lines[count].text.length;
      if (count && octets > POST_OCTETS) break;
    }
    return this.#lines.splice(0, count);
  }

  /**
   * Handles the answer to the post; status 0 means that none came.
   *
   * @returns {{kind: "taken" | "again" | "refused" | "over" | "unauthorized", wait?: number}}
   */
  answered({ status, next, after = 0 }, random = Math.random) {
    this.#isPosted = false;
    if (status === 0) this.#mayBeTaken = true;
    if (status === 200 && next > this.#n) return this.#taken(next);
    if (status === 400 || status === 413) return this.#refused();
    if (status === 401) return { kind: "unauthorized" };
    const mayRecover = status === 503 || status === 0 && this.#tries < MOST_TRIES;
    if (!mayRecover) return { kind: "over" };
    const pause = random() * Math.min(5000, 100 * 2 ** Math.min(this.#tries++, 16));
    return { kind: "again", wait: Math.max(after, pause, 1) };
  }

  #taken(next) {
    this.#n = next;
    this.#batch = null;
    this.#tries = 0;
    return { kind: "taken" };
  }

  #refused() {
    const batch = this.#batch;
    this.#batch = null;
    if (batch.length > 1) {
      this.#lines.unshift(...batch);
      this.#alone = batch.length;
      return { kind: "again" };
    }
    // Without its `hello` or a `credit`, a stream is of no use.
    return batch[0].id === null ? { kind: "over" } : { kind: "refused", id: batch[0].id };
  }
}

/** The values of one loop, between the client that offers and the loop that reads. */
class Channel {
  #source;
  #values = [];
  #readers = [];
  #end = null;
  #isOpen = false;
  #leave = () => this.return();
  /** Whether nothing was offered yet. */
  isFresh = true;

  /** @param {{open: Function, close: Function, keepsAll?: boolean, signal?: AbortSignal}} source */
  constructor(source) { this.#source = source; }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    this.#begin();
    if (this.#values.length) return { value: this.#values.shift(), done: false };
    if (!this.#end) {
      return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    }
    const { error } = this.#end;
    this.#end = DONE;
    if (error) throw error;
    return { value: undefined, done: true };
  }

  /** Leaves the loop; a `next` that waits ends too. */
  async return(value) {
    this.#isOpen = true;
    this.#values = [];
    this.finish(null);
    return { value, done: true };
  }

  #begin() {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { signal, open } = this.#source;
    if (signal?.aborted) return this.finish(null);
    signal?.addEventListener("abort", this.#leave);
    open(this);
  }

  offer(value) {
    if (this.#end) return;
    this.isFresh = false;
    const reader = this.#readers.shift();
    if (reader) return reader.resolve({ value, done: false });
    const { keepsAll } = this.#source;
    if (keepsAll && this.#values.length < 4096) return this.#values.push(value);
    // Events of a newest state add up. A loop of every revision that is 4096 behind skips them.
    const last = this.#values.at(-1);
    this.#values = [keepsAll ? skipped(value) : last?.ev ? joined(last, value) : value];
  }

  finish(error) {
    if (this.#end) return;
    this.#end = error ? { error } : DONE;
    for (const { resolve, reject } of this.#readers.splice(0)) {
      if (this.#end.error) reject(this.#end.error);
      else resolve({ value: undefined, done: true });
      this.#end = DONE;
    }
    this.#source.signal?.removeEventListener("abort", this.#leave);
    this.#source.close(this);
  }
}

const DONE = Object.freeze({ error: null });

function joined(last, state) {
  const all = [...last.ev, ...state.ev];
  const ev = all.slice(-4096);
  const isShortened = ev.length < all.length;
  const isResynchronised = last.isResynchronised || state.isResynchronised || isShortened;
  return Object.freeze({ ...state, ev, isResynchronised });
}

function skipped(value) {
  return value.ev ? Object.freeze({ ...value, isResynchronised: true }) : value;
}
