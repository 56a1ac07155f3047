/** The sessions of a client by the addresses of their gateways. */
export class Members {
  /** The gateways of the options, which are asked first. */
  #seeds;
  #all = new Map();
  /** The addresses of gateways that rejected the client, with the errors. */
  #refusals = new Map();

  constructor(seeds) { this.#seeds = [...seeds]; }

  [Symbol.iterator]() { return this.#all.values(); }

  get(address) { return this.#all.get(address); }

  /** Adds a session, which is not connected yet; `phase` is then "opening", "open", "lost". */
  add(address, session) {
    const member = {
      address, session, phase: "idle", openAt: Infinity, notBefore: 0, idleAt: Infinity,
    };
    this.#all.set(address, member);
    return member;
  }

  remove({ address }) { this.#all.delete(address); }

  /** Whether a member is still in the table under its address. */
  has(member) { return this.#all.get(member.address) === member; }

  refuse(address, error) { this.#refusals.set(address, error); }

  refusal(address) { return this.#refusals.get(address); }

  get isAnyOpen() { return [...this].some(({ phase }) => phase === "open"); }

  isAnyOtherOpen(member) { return [...this].some((each) => each !== member && each.phase === "open"); }

  /** The addresses that can be asked: those of the options first. */
  get candidates() {
    const all = new Set([...this.#seeds, ...this.#all.keys()]);
    return [...all].filter((address) => !this.#refusals.has(address));
  }

  /** The address to ask instead of one that cannot be reached; undefined if there is no other. */
  insteadOf({ address }) {
    const all = this.candidates;
    const index = all.indexOf(address) + 1;
    const others = [...all.slice(index), ...all.slice(0, Math.max(0, index - 1))];
    const phase = (each) => this.#all.get(each)?.phase ?? "idle";
    return all.find((each) => each !== address && phase(each) === "open")
      ?? others.find((each) => phase(each) !== "lost") ?? others[0];
  }
}
