import { MOST_ROUTES } from "./gateways.js";

/** The longest pause before a daemon is asked that another one names, in milliseconds. */
export const LONGEST_MOVE_MS = 500;

/** The gateways of navs that the base does not serve, and the navs of pending requests. */
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

  /** Changes the gateway of a nav that has a route. */
  lead(nav, address) {
    const route = this.#all.get(nav);
    if (route) route.address = address;
  }

  forget(nav) { this.#all.delete(nav); }

  /** Notes that the daemon behind the gateway of the route serves the nav. */
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
 * The pause before the client asks a daemon that another one named.
 *
 * It is 0 for the first two such daemons. From then on they may send the nav in a circle, or name a
 * daemon that was lost until its lease ends.
 */
export function movePause(route, random) {
  const longest = route.moves > 2 ? Math.min(LONGEST_MOVE_MS, 100 * 2 ** (route.moves - 2)) : 0;
  return random() * longest;
}
