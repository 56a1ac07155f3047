import { NavigationError } from "../errors.js";
import { setTimer, sleep } from "../timers.js";
import { decode, LineReader } from "./lines.js";
import { Outbox } from "./outbox.js";
import { OctetPace } from "./pace.js";

const RESPONSE_TIMEOUT_MS = 15000;
/** How long a gateway may take to open a stream if there are others to ask. */
const OPEN_TIMEOUT_WITH_OTHERS_MS = 2000;
/** The verbs of watch messages, which the daemon joins while the client gives no credit. */
const WATCH_VERBS = new Set(["diff", "diffs", "latest"]);

/** The streams of a client and the posts beside them, one stream for each gateway at a time. */
export class Streams {
  #runner;
  #options;
  /** The streams by the addresses of their gateways. */
  #byAddress = new Map();
  /** Why the last attempt to open a stream failed. */
  lastFailure = "";

  /**
   * @param {import("../engine.js").ClusterRunner} runner
   * @param {{token: any, watchRate: number, random: () => number}} options
   */
  constructor(runner, options) {
    this.#runner = runner;
    this.#options = options;
  }

  // Down.

  /** Opens the stream of a gateway and handles its lines until it ends. */
  async open(address) {
    const controller = new AbortController();
    const stream = { address, controller, timer: 0, token: null, outbox: null, posting: null };
    this.#byAddress.set(address, stream);
    let after = 0;
    try {
      stream.token = await this.#tokenOf(address);
      if (!this.#isLive(stream)) return;
      const most = this.#runner.cluster.hasOtherGateways ? OPEN_TIMEOUT_WITH_OTHERS_MS : RESPONSE_TIMEOUT_MS;
      stream.timer = setTimeout(() => controller.abort(), most);
      const response = await this.#fetch(stream, "/nsp1/stream", { signal: controller.signal });
      if (response.status === 401) return this.#reportRefusedToken(stream);
      after = retryAfterMilliseconds(response);
      if (response.ok) await this.#readStream(stream, response.body.getReader());
      else this.lastFailure = `HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`;
    } catch (error) {
      // A lost stream looks the same in whatever way it was lost. One that was given up has its reason.
      if (this.#isLive(stream)) this.lastFailure = error.message;
    }
    this.#reportLoss(stream, after);
  }

  #isLive(stream) { return this.#byAddress.get(stream.address) === stream; }

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

  async #readStream(stream, reader) {
    const lines = new LineReader();
    const pace = new OctetPace(this.#options.watchRate);
    for (;;) {
      const { value, done } = await reader.read();
      if (done || !this.#isLive(stream)) return;
      let watched = 0;
      for (const line of lines.push(value)) {
        const message = decode(line);
        if (WATCH_VERBS.has(message.verb)) watched += message.octets;
        if (!this.#handleMessage(stream, message)) return;
      }
      this.#runner.performActions();
      pace.count(watched, performance.now());
      this.#sendCreditWhenPaced(stream, pace);
    }
  }

  /** Gives the daemon new credit, once the pace permits: without it, the daemon joins the diffs of a watch. */
  #sendCreditWhenPaced(stream, pace) {
    if (stream.granting || !this.#isLive(stream)) return;
    const wait = pace.waitMilliseconds(performance.now());
    if (wait <= 0) return void this.#runner.update((cluster) => cluster.grantCreditIfDue(stream.address));
    stream.granting = setTimer(() => {
      stream.granting = 0;
      this.#sendCreditWhenPaced(stream, pace);
    }, wait);
  }

  /** Handles a line; returns whether the stream goes on. */
  #handleMessage(stream, { verb, body, octets }) {
    if (!this.#isLive(stream) || verb === "gone") return false;
    const { address } = stream;
    if (verb === "stream") {
      clearTimeout(stream.timer);
      Object.assign(stream, { id: body.id, outbox: new Outbox(body.next) });
      this.#runner.cluster.connected(address, performance.now());
    } else {
      this.#runner.cluster.receive(address, verb, body, octets, performance.now());
    }
    return true;
  }

  #reportLoss(stream, after = 0) {
    if (!this.#isLive(stream)) return;
    this.closeStream(stream.address);
    this.#runner.update((cluster) => cluster.lost(stream.address, performance.now(), after));
  }

  /** Closes all streams as lost; later streams resume the watches. */
  loseAll() { for (const stream of [...this.#byAddress.values()]) this.#reportLoss(stream); }

  closeStream(address) {
    const stream = this.#byAddress.get(address);
    this.#byAddress.delete(address);
    clearTimeout(stream?.timer);
    clearTimeout(stream?.granting);
    stream?.controller.abort();
    for (const id of stream?.outbox?.unposted() ?? []) this.#runner.cluster.noteUnposted(id);
  }

  closeAll() { for (const address of [...this.#byAddress.keys()]) this.closeStream(address); }

  #reportRefusedToken(stream) {
    if (!this.#isLive(stream)) return;
    const error = new NavigationError("unauthorized", "the gateway does not know the token");
    this.#runner.update((cluster) => cluster.refused(stream.address, error, performance.now()));
  }

  // Up: one post in flight.

  send({ gateway, line, id }) {
    const stream = this.#byAddress.get(gateway);
    stream?.outbox?.add(line, id);
    this.#startPosting(stream);
  }

  /** Whether the line of a request waits to be posted, so that no gateway can have accepted it. */
  isUnposted(id) {
    return [...this.#byAddress.values()].some(({ outbox }) => outbox?.unposted().includes(id));
  }

  /** Removes the lines of a request that no gateway can have accepted; returns how many. */
  withdrawLines(id) {
    return [...this.#byAddress.values()].filter(({ outbox }) => outbox?.withdraw(id)).length;
  }

  /** Resolves when all lines are posted, or their streams are lost. */
  flushAll() { return Promise.all([...this.#byAddress.values()].map((stream) => this.#startPosting(stream))); }

  /** Starts to post the waiting lines; returns a promise that resolves afterwards. */
  #startPosting(stream) {
    if (!stream?.outbox) return Promise.resolve();
    // Posts begin after the present turn, so that its lines go together.
    stream.posting ??= Promise.resolve().then(() => this.#postWaitingLines(stream));
    return stream.posting;
  }

  async #postWaitingLines(stream) {
    for (let post; this.#isLive(stream) && (post = stream.outbox.next());) {
      const answer = await this.#postOnce(stream, post);
      if (!this.#isLive(stream)) return;
      const verdict = stream.outbox.answered(answer, this.#options.random);
      if (verdict.kind === "unauthorized") return this.#reportRefusedToken(stream);
      if (verdict.kind === "over") {
        if (answer.status) this.lastFailure = `HTTP ${answer.status}: ${answer.error}`;
        return this.#reportLoss(stream);
      }
      if (verdict.kind === "refused") {
        this.#runner.update((cluster) => cluster.refusedByGateway(verdict.id, answer.status));
      }
      if (verdict.wait) await sleep(verdict.wait);
    }
    // At once, so that a line that is added next begins another round.
    stream.posting = null;
  }

  /** Posts once; status 0 means that there is no answer. */
  async #postOnce(stream, { n, body }) {
    const signal = AbortSignal.any([stream.controller.signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]);
    // A browser asks another origin for leave once for each address, so that stays the same there.
    const isOwn = stream.address === location.origin;
    const query = isOwn ? `?stream=${encodeURIComponent(stream.id)}&n=${n}` : "";
    const headers = isOwn ? {} : { "NSP-Stream": stream.id, "NSP-Number": String(n) };
    const path = `/nsp1/messages${query}`;
    try {
      const response = await this.#fetch(stream, path, { method: "POST", body, headers, signal });
      const { next = null, error = "" } = await response.json().catch(() => ({}));
      return { status: response.status, next, error, after: retryAfterMilliseconds(response) };
    } catch {
      return { status: 0, next: null, after: 0 };
    }
  }
}

function retryAfterMilliseconds(response) { return 1000 * (Number(response.headers.get("Retry-After")) || 0); }
