// Types of navigation-client.js. docs/protocol.md describes records, parts and operations.

import type { Aspect, ErrorCode, OperationName, PartName, Retry, Role } from "./generated/protocol.js";
export * from "./generated/protocol.js";

export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

/** A screen as on the wire; it has no prototype and is frozen. */
export interface ScreenRecord {
  readonly id: string;
  readonly ver: number;
  readonly title?: string;
  readonly route?: string;
  readonly args?: any;
  readonly item?: any;
  readonly [member: string]: any;
}

/** A part of the state, such as `transition`. */
export interface PartRecord {
  readonly ver: number;
  readonly [member: string]: any;
}

export interface Presentation {
  readonly screen: ScreenRecord;
  readonly from?: string;
  readonly style?: string;
  readonly covers: string;
  readonly contextOwner?: string;
}

/** A state of a nav, with the ids, versions and order that its digest names. */
export interface NavigationState {
  readonly nav: string;
  /** `controller`, `bar`, or `directory` for `$navs` and `$clients`. */
  readonly kind: string;
  readonly epoch: string;
  readonly rev: number;
  readonly dig: string;
  /** The stack, bottom first. */
  readonly screens: readonly ScreenRecord[];
  readonly top: ScreenRecord | null;
  /** The outermost presented screen, or else the top. */
  readonly visible: ScreenRecord | null;
  /** The presented screens, outermost last. */
  readonly presented: readonly Presentation[];
  /** `resolved` (§10.3 of the protocol): what the bar shows. Null for a directory. */
  readonly bar: any;
  readonly parts: { readonly [name in PartName]?: PartRecord };
  /** What led to the revision; null for a first state, and after a snapshot. */
  readonly cause: string | null;
  readonly by: { readonly name: string; readonly op?: number } | null;
  /** The events since the last state of the loop, such as `{didPush: {screen: "wifi"}}`. */
  readonly ev: readonly any[];
  readonly animated: boolean;
  /** Whether revisions may be missing before this state. True for the first one. */
  readonly isResynchronised: boolean;
  /** When the revision or event arrived here, by `performance.now()`. */
  readonly receivedAt: number;
}

/** A value of the views `bar` and `top`. */
export interface LatestValue {
  readonly nav: string;
  readonly view: "bar" | "top";
  readonly epoch: string;
  readonly rev: number;
  readonly value: any;
  readonly receivedAt: number;
}

export type Status =
  "connecting" | "connected" | "disconnected" | "waiting" | "unauthorized" | "closed";

/** The members of `if` (§9.2 of the protocol). */
export interface Guards {
  epoch?: string;
  rev?: number;
  dig?: string;
  top?: string | null;
  depth?: number;
  stack?: string[];
  has?: string[];
  visible?: string | null;
  any?: true;
}

export class Guard {
  static top(state: NavigationState): Readonly<Guards>;
  static stack(state: NavigationState): Readonly<Guards>;
  static revision(state: NavigationState): Readonly<Guards>;
  static life(state: NavigationState): Readonly<Guards>;
  static visible(state: NavigationState): Readonly<Guards>;
  static readonly override: Readonly<Guards>;
}

/** The error of every refused or unfinished request. */
export class NavigationError extends Error {
  constructor(code: string, message: string, more?: object);
  /** The error of an `err` message. */
  static from(err: object): NavigationError;
  /** The name, the code, the reason and the message. */
  toString(): string;
  /**
   * A code of §13 of the protocol, or one of this module: `unauthorized`, `unreachable`, `closed`,
   * `expired`, `aborted`, `replaced`.
   */
  readonly code: ErrorCode | (string & {});
  readonly retry: Retry;
  readonly effect: "none" | "unknown";
  /** Whether the daemon may have performed the operations. */
  readonly mayHaveHappened: boolean;
  readonly reason?: string;
  readonly expected?: any;
  readonly future?: boolean;
  /** The least pause before a repetition, in milliseconds. */
  readonly after?: number;
  /** The index of the operation that caused the error. */
  readonly index?: number;
  readonly nav?: string;
  readonly epoch?: string;
  readonly rev?: number;
  readonly dig?: string;
  readonly top?: string | null;
  readonly depth?: number;
  /** The last change of the top screen, for `desync`. */
  readonly since?: any;
  readonly by?: any;
  readonly screen?: string;
  readonly owner?: string;
  /** The open transition, for `transition-in-progress`. */
  readonly tid?: number;
  /** The oldest revision that can still be read, for `compacted`. */
  readonly floor?: number;
  /** The screens that `restore` or `revert` did not find. */
  readonly missing?: readonly string[];
  /** The screens that `popTo` found by a route. */
  readonly candidates?: readonly string[];
  /** The address of the daemon that has the nav, for `moved`. */
  readonly endpoint?: string;
  readonly [member: string]: any;
}

export interface ClientOptions {
  /** The address of the gateway; by default the origin of the page. */
  url?: string;
  /** The addresses of gateways of a cluster, in place of `url`. Others become known by `moved`. */
  gateways?: string[];
  /** The token, for every gateway; or a function that returns the token for the one at `address`. */
  token?: string | null | ((address: string) => string | null | Promise<string | null>);
  /** Shown to users: the author of changes, the owner of displays. At most 128 octets. */
  name?: string;
  /** Flow control: 16384 … 1048576 octets. */
  window?: number;
  /** The heartbeat interval, 1000 … 60000 ms. */
  hb?: number;
  /**
   * The most octets of watches that the client takes in a second, after 64 KiB at once. What waits, the daemon joins: a
   * loop gets newer states less often. Without it there is no limit.
   */
  watchRate?: number;
  /** Closes the client. */
  signal?: AbortSignal;
}

export interface RequestOptions {
  /**
   * How long the request may take, in milliseconds, at least 100; then it fails with `expired`. By
   * default there is no limit, but `perform` posts what a person does within 2000 or never.
   */
  within?: number;
  signal?: AbortSignal;
}

export interface WatchOptions {
  /** Whether to wait for a nav that does not exist yet, and after its end for the next one. */
  wait?: boolean;
  signal?: AbortSignal;
}

export interface PerformOptions extends RequestOptions {
  if?: Guards;
  animated?: boolean;
  onBusy?: "reject" | "queue" | "interrupt";
  /** CLOCK_BOOTTIME of the daemon's machine, in milliseconds. */
  due?: number;
  /** The boot id of the machine of `due`: in a cluster, the nav may be at a daemon of another one. */
  clock?: string;
  /** Called when the operations wait for a transition, with their place in the queue. */
  onQueued?: (position: number) => void;
}

/** An operation: an object with its name, which has its arguments (§9.6 of the protocol). */
export type Operation = object & { readonly [name in OperationName]?: object };

/** The body of an `ok` to `op`. */
export interface Reply {
  readonly nav: string;
  readonly epoch: string;
  readonly rev: number;
  readonly changed: boolean;
  readonly depth: number;
  readonly top: string | null;
  readonly dig: string;
  /** One object for each operation. */
  readonly out: readonly any[];
  readonly [member: string]: any;
}

/** A question to a delegate. */
export interface Question {
  readonly ask: number;
  readonly nav: string;
  readonly epoch: string;
  readonly rev: number;
  /** The time for the answer in milliseconds, and its end by `performance.now()`. */
  readonly within: number;
  readonly deadline: number;
  /** `shouldPush`, `shouldPop`, `shouldDismiss`, `animatorFor` or `interactionFor`. */
  readonly kind: string;
  /** The members of the question, such as `{screen, cause}`. */
  readonly details: any;
  /** The question as on the wire: an object with one member, `kind`. */
  readonly q: any;
  /** Aborted when the round is over or the question is void. */
  readonly signal: AbortSignal;
}

export interface DutyOptions {
  /** How long to wait for the daemon, in milliseconds; then it fails with `expired`. */
  within?: number;
  /** Aborts the wait, and later ends the roles or the lease. */
  signal?: AbortSignal;
}

export interface DelegateOptions extends DutyOptions {
  roles: Role[];
  orientations?: { supported: string[]; preferred?: string };
}

/** A function that ends the roles. */
export interface Delegation {
  (): void;
  /**
   * Resolves with the reason when the roles are over for good; a reconnect does not end them.
   *
   * Without a watch of the nav, the page does not learn that the nav was closed until it reconnects.
   */
  readonly lost: Promise<NavigationError>;
}

export interface Lease {
  readonly nav: string;
  release(): void;
  /**
   * Resolves with the reason when the lease is over for good; a reconnect does not end it.
   */
  readonly lost: Promise<NavigationError>;
}

export class NavigationClient {
  static connect(options: ClientOptions): Promise<NavigationClient>;
  constructor(options?: ClientOptions);
  readonly status: Status;
  /** What the daemon has beside the first version of the protocol (§4). */
  readonly features: Set<string>;
  readonly guards: typeof Guard;
  statuses(): AsyncIterableIterator<Status>;
  watch(nav: string, options?: WatchOptions & { everyRevision?: boolean; view?: "full" }):
    AsyncIterableIterator<NavigationState>;
  watch(nav: string, options: WatchOptions & { view: "bar" | "top" }):
    AsyncIterableIterator<LatestValue>;
  state(nav: string, options?: { signal?: AbortSignal }): Promise<NavigationState>;
  perform(nav: string, operations: readonly Operation[], options?: PerformOptions): Promise<Reply>;
  pop(state: NavigationState, options?: PerformOptions & { result?: JSONValue }): Promise<Reply>;
  /** Reads a value (§12 of the protocol); `value` of the reply has it. `nav` null: the daemon. */
  get(nav: string | null, options?: RequestOptions & {
    what?: Aspect; screen?: string; from?: number; limit?: number; at?: number;
  }): Promise<any>;
  result(nav: string, screen: string, options?: { signal?: AbortSignal }): Promise<any>;
  /** Registers roles; a second call for the same nav replaces the first. */
  delegate(nav: string, options: DelegateOptions, answer: (question: Question) => any):
    Promise<Delegation>;
  /** Takes the display; a second call for the same nav replaces the first. */
  lease(nav: string, options?: DutyOptions & { force?: boolean }): Promise<Lease>;
  close(): Promise<void>;
}

/**
 * Takes the launch code or token of the URL, or the token of this tab; null without any.
 *
 * `url` is the gateway, by default that of the page. `code` is used in place of the URL.
 */
export function launchToken(options?: { url?: string; code?: string }): Promise<string | null>;

// The decisions, for tests: no clock, no I/O.

export type MirrorResult =
  | { kind: "state"; how: "replaced" | "applied" | "resumed"; state: NavigationState }
  | { kind: "part" | "diverged" | "ignored" | "ended" };

export interface Position { epoch: string; rev: number; dig: string }

export class Mirror {
  constructor(nav: string);
  static read(nav: string, value: object, receivedAt?: number): NavigationState;
  readonly isSynced: boolean;
  readonly state: NavigationState | null;
  apply(verb: string, body: any, now?: number): MirrorResult;
  beginWatch(): { from?: Position; bad?: { rev: number; dig: string } };
  disconnect(): void;
  stateWithEvents(body: any, receivedAt?: number): NavigationState | null;
}

export class Session {
  constructor(options: {
    client: string; name?: string; window?: number; hb?: number; random?: () => number;
    wall?: () => number; ids?: { next: number };
  });
  readonly wakeAt: number;
  readonly navs: Set<string | null>;
  readonly isOpen: boolean;
  readonly isIdle: boolean;
  takeActions(): any[];
  connected(now: number): void;
  lost(now: number, leastPause?: number): void;
  tick(now: number): void;
  receive(verb: string, body: any, octets: number, now: number): void;
  grantCreditIfDue(): void;
  mirror(nav: string): Mirror | null;
  isBehind(state: NavigationState): boolean;
  current(nav: string, view: string): NavigationState | LatestValue | null;
  watch(nav: string, view?: string, waits?: boolean): void;
  unwatch(nav: string, view?: string): void;
  request(verb: "op" | "get", nav: string | null, members: object, within?: number | null,
    now?: number): number;
  forget(id: number): number;
  noteUnposted(id: number): void;
  refusedByGateway(id: number, status: number): void;
  delegate(nav: string, wanted: DelegateOptions | null): void;
  lease(nav: string, force: boolean | null): void;
  answer(ask: number, value: any): void;
  leave(): void;
  isHolding(nav: string): boolean;
  hold(nav: string, until: number): void;
  surrender(nav: string | null): Cargo;
  adopt(nav: string | null, cargo: Cargo, now: number, from?: number): void;
  abandon(nav: string | null, error: NavigationError): void;
}

/** Everything about a nav, on its way from one session to another. */
export interface Cargo {
  watches: [string, object][];
  duties: [string, object][];
  requests: [number, object][];
}

export class Cluster {
  constructor(options: {
    gateways: string[]; client: string; name?: string; window?: number; hb?: number;
    random?: () => number; wall?: () => number;
  });
  readonly wakeAt: number;
  readonly hasOtherGateways: boolean;
  takeActions(): any[];
  start(now: number): void;
  stop(now: number): void;
  connected(address: string, now: number): void;
  lost(address: string, now: number, leastPause?: number): void;
  refused(address: string, error: NavigationError, now: number): void;
  receive(address: string, verb: string, body: any, octets: number, now: number): void;
  grantCreditIfDue(address: string): void;
  tick(now: number): void;
  leave(): void;
  mirror(nav: string): Mirror | null;
  isLost(nav: string): boolean;
  isBehind(state: NavigationState): boolean;
  current(nav: string, view: string): NavigationState | LatestValue | null;
  watch(nav: string, view?: string, waits?: boolean): void;
  unwatch(nav: string, view?: string): void;
  request(verb: "op" | "get", nav: string | null, members: object, within?: number | null,
    now?: number): number;
  forget(id: number): number;
  noteUnposted(id: number): void;
  refusedByGateway(id: number, status: number): void;
  delegate(nav: string, wanted: DelegateOptions | null): void;
  lease(nav: string, force: boolean | null): void;
  answer(nav: string, ask: number, value: any): void;
}

export class Outbox {
  constructor(next?: number);
  add(text: string, id?: number | null): void;
  withdraw(id: number): boolean;
  unposted(): number[];
  next(): { n: number; body: string } | null;
  answered(answer: { status: number; next: number | null; after?: number }, random?: () => number):
    { kind: "taken" | "again" | "refused" | "over" | "unauthorized"; wait?: number; id?: number };
}

export class LineReader {
  push(bytes: Uint8Array): Uint8Array[];
}

export function decode(line: Uint8Array): { verb: string; body: any; octets: number };

export function checksum(screens: readonly { id: string; ver: number }[], parts?: object): string;
