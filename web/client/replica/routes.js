import { MAXIMUM_ROUTES } from "./gateways.js";

/** The longest pause before the client follows a `moved` to another daemon, in milliseconds. */
export const LONGEST_MOVE_PAUSE_MS = 500;

/** The gateways of navs that the base does not serve, and the navs of pending requests. */
export class Routes {
  /** The routes by nav; `moves` counts the answers `moved` in a row. */
  #byNav = new Map();
  /** The nav of each request without an answer. */
  #navsByRequest = new Map();

  /** The address of the gateway of a nav; undefined for the base. */
  address(nav) { return this.#byNav.get(nav)?.address; }

  /** Finds or adds the route of a nav, at first to the base; a full table drops routes for which `isUsed` is false. */
  route(nav, base, isUsed) {
    const known = this.#byNav.get(nav);
    if (known) return known;
    const route = { address: base, moves: 0 };
    for (const [each, { address }] of this.#byNav) {
      if (this.#byNav.size < MAXIMUM_ROUTES) break;
      if (!isUsed(each, address)) this.#byNav.delete(each);
    }
    this.#byNav.set(nav, route);
    return route;
  }

  /** Changes the gateway of a nav that has a route. */
  setGateway(nav, address) {
    const route = this.#byNav.get(nav);
    if (route) route.address = address;
  }

  forget(nav) { this.#byNav.delete(nav); }

  /** Notes that the daemon behind the gateway of the route serves the nav. */
  noteServed(nav) {
    const route = this.#byNav.get(nav);
    if (route) route.moves = 0;
  }

  // Requests.

  noteRequest(id, nav) { this.#navsByRequest.set(id, nav); }

  forgetRequest(id) { this.#navsByRequest.delete(id); }

  hasRequest(id) { return this.#navsByRequest.has(id); }

  navOf(id) { return this.#navsByRequest.get(id); }
}

/**
 * The pause before the client asks a daemon that another one named.
 *
 * It is 0 for the first two such daemons. From then on they may send the nav in a circle, or name a
 * daemon that was lost until its lease ends.
 */
export function movePauseMilliseconds(route, random) {
  const longest = route.moves > 2 ? Math.min(LONGEST_MOVE_PAUSE_MS, 100 * 2 ** (route.moves - 2)) : 0;
  return random() * longest;
}
