// The token of a page, and how it comes by it.

import { checkMembers } from "./arguments.js";
import { addressOf } from "./replica/gateways.js";
import { NavigationError } from "./errors.js";

const TOKEN_KEY = "navigation-token";

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
