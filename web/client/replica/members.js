/** The sessions of a client by the addresses of their gateways. */
export class GatewayMembers {
  /** The gateways of the options, which are asked first. */
  #configuredAddresses;
  #byAddress = new Map();
  /** The addresses of gateways that rejected the client, with the errors. */
  #rejections = new Map();

  constructor(addresses) { this.#configuredAddresses = [...addresses]; }

  [Symbol.iterator]() { return this.#byAddress.values(); }

  get(address) { return this.#byAddress.get(address); }

  /** Adds a session with the phase "idle"; later phases are "opening", "open" and "lost". */
  add(address, session) {
    const member = {
      address, session, phase: "idle", openAt: Infinity, notBefore: 0, idleAt: Infinity,
    };
    this.#byAddress.set(address, member);
    return member;
  }

  remove({ address }) { this.#byAddress.delete(address); }

  /** Whether a member is still in the table under its address. */
  has(member) { return this.#byAddress.get(member.address) === member; }

  noteRejection(address, error) { this.#rejections.set(address, error); }

  rejection(address) { return this.#rejections.get(address); }

  get isAnyOpen() { return [...this].some(({ phase }) => phase === "open"); }

  isAnyOtherOpen(member) { return [...this].some((each) => each !== member && each.phase === "open"); }

  /** The addresses that can be asked: those of the options first. */
  get candidateAddresses() {
    const all = new Set([...this.#configuredAddresses, ...this.#byAddress.keys()]);
    return [...all].filter((address) => !this.#rejections.has(address));
  }

  /** The address to ask instead of one that cannot be reached; undefined if there is no other. */
  alternativeTo({ address }) {
    const all = this.candidateAddresses;
    const index = all.indexOf(address) + 1;
    const others = [...all.slice(index), ...all.slice(0, Math.max(0, index - 1))];
    const phase = (each) => this.#byAddress.get(each)?.phase ?? "idle";
    return all.find((each) => each !== address && phase(each) === "open")
      ?? others.find((each) => phase(each) !== "lost") ?? others[0];
  }
}
