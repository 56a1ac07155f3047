// The token of a page, and how it comes by it.

import { checkMembers } from "./arguments.js";
import { addressOf } from "./replica/gateways.js";
import { NavigationError } from "./errors.js";

const TOKEN_STORAGE_KEY = "navigation-token";

/**
 * Returns the token of this page, or null without any.
 *
 * It trades a fragment `#c=CODE` for a token; a fragment `#t=TOKEN` has the token itself. It
 * removes the fragment from the URL, so that no code or token stays in the history, and keeps the
 * token for reloads of this tab. The option `code` replaces the fragment. `url` is the gateway's.
 *
 * @param {{url?: string, code?: string}} [options]
 * @returns {Promise<string | null>}
 */
export async function launchToken(options = {}) {
  const { url = location.origin, code } = checkMembers(options, ["url", "code"], "launchToken");
  const address = addressOf(url);
  const key = address === location.origin ? TOKEN_STORAGE_KEY : `${TOKEN_STORAGE_KEY} ${address}`;
  const launch = code === undefined ? /^#([ct])=(.+)$/.exec(location.hash) : ["", "c", code];
  if (!launch) return sessionStorageOrNull()?.getItem(key) ?? null;
  const token = launch[1] === "t" ? launch[2] : await tradeCodeForToken(address, launch[2]);
  if (token) storeToken(key, token);
  if (code === undefined) {
    history.replaceState(history.state, "", location.href.replace(/#.*/s, ""));
  }
  const known = token ?? sessionStorageOrNull()?.getItem(key) ?? null;
  if (known) return known;
  throw new NavigationError("unauthorized", "the launch code was used or has expired");
}

/** Trades a launch code for a token; null if the gateway refuses the code. */
async function tradeCodeForToken(url, code) {
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

/** Stores a token for reloads; if the storage is full, the token lives as long as the page. */
function storeToken(key, token) {
  try {
    sessionStorageOrNull()?.setItem(key, token);
  } catch {
    // The caller has the token.
  }
}

/** The session storage; null if the browser forbids it, so that the token lives as long as the page. */
function sessionStorageOrNull() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
