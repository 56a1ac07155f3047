import { MOST_ROUTES } from "./gateways.js";

/** The longest pause before a daemon is asked that another one names, in milliseconds. */
export const LONGEST_MOVE_MS = 500;

/** The gateways of the navs that were elsewhere than at the base, and the navs of the requests. */
export class Routes {
  /** `moves` counts how often a daemon named another one since its last answer. */
  #all = new Map();
  /** The nav of each request without an answer. */
  #requests = new Map();

  /** The address of the gateway of a nav; undefined for the base. */
  address(nav) { return this.#all.get(nav)?.address; }

  /** The route of a nav, at first to the base; `isUsed` says of the others whether they must stay. */
  route(nav, base, isUsed) {
    const known = this.#all.get(nav);
    if (known) return known;
    const route = { address: base, moves: 0 };
    for (const [each, { address }] of this.#all) {
      if (this.#all.size < MOST_ROUTES) break;
      if (!isUsed(each, address)) this.#all.delete(each);
    }
    this.#all.set(nav, route);
    return route;
  }

  /** Leads a nav elsewhere, unless it has no route. */
  lead(nav, address) {
    const route = this.#all.get(nav);
    if (route) route.address = address;
  }

  forget(nav) { this.#all.delete(nav); }

  /** Notes that the daemon at the end of the route has the nav. */
  arrive(nav) {
    const route = this.#all.get(nav);
    if (route) route.moves = 0;
  }

  // Requests.

  noteRequest(id, nav) { this.#requests.set(id, nav); }

  forgetRequest(id) { this.#requests.delete(id); }

  hasRequest(id) { return this.#requests.has(id); }

  navOf(id) { return this.#requests.get(id); }
}

/**
 * How long a daemon is not asked that another one names.
 *
 * At once to the first and the second one. From then on they may send the nav in a circle, or name a
 * daemon that was lost until its lease ends.
 */
export function pauseOf(route, random) {
  const longest = route.moves > 2 ? Math.min(LONGEST_MOVE_MS, 100 * 2 ** (route.moves - 2)) : 0;
  return random() * longest;
}
