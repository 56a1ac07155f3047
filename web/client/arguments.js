// What callers pass, checked before anything happens.

import { NavigationError } from "./errors.js";
import { addressOf } from "./replica/gateways.js";
import { checkJSON, utf8 } from "./replica/json.js";

export function checkedOptions(options) {
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
  checkNonNegative(window, "window");
  checkNonNegative(hb, "hb");
  if (typeof watchRate !== "number" || !(watchRate >= 1)) {
    throw new TypeError("watchRate must be a number of octets a second, at least 1");
  }
  checkSignal(signal);
  const seeds = [...new Set(gateways.map(addressOf))];
  return { gateways: seeds, token, name, window, hb, watchRate, signal, random: Math.random };
}

/** Throws for a member with an unknown name, since a misspelt guard would be no guard. */
export function checkMembers(options, names, caller) {
  if (options === null || typeof options !== "object") {
    throw new TypeError(`${caller}: options must be an object`);
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`${caller}: there is no option ${unknown}`);
  return options;
}

export function checkNav(nav) {
  const isName = typeof nav === "string" && /^\$?[a-z0-9][a-z0-9._/-]{0,127}$/.test(nav);
  if (!isName) throw new TypeError(`not the name of a nav: ${String(nav)}`);
}

export function checkText(text, what) {
  if (typeof text !== "string" || !text) throw new TypeError(`${what} must be a text`);
}

/** Throws for a signal that is no AbortSignal, before a request is sent. */
export function checkSignal(signal) {
  if (signal != null && typeof signal.aborted !== "boolean") {
    throw new TypeError("signal must be an AbortSignal");
  }
}

export function throwIfAborted(signal) {
  checkSignal(signal);
  if (signal?.aborted) throw new NavigationError("aborted", "the signal is aborted");
}

function checkNonNegative(value, what) {
  if (value != null && !(Number.isFinite(value) && value >= 0)) {
    throw new TypeError(`${what} must be a number, 0 or greater`);
  }
}

/** Throws for a time limit that is no number of milliseconds. */
export function checkTimeLimit(within) {
  checkNonNegative(within, "within");
  if (within > 0 && within < 100) {
    throw new TypeError(`within is in milliseconds: ${within} is less than 100`);
  }
}

/** Whether a person performs the operation, so that the daemon must not perform it late. */
export function isByPerson(operation) {
  return Object.keys(operation).some((name) => /^(ui\.|gesture\.|button\.activate$)/.test(name));
}

/** Throws for a guard that is undefined, since JSON would leave it out. */
export function checkGuards(guards) {
  if (guards == null) return;
  if (typeof guards !== "object") throw new TypeError("if must be an object of guards");
  const [name] = Object.entries(guards).find(([, value]) => value === undefined) ?? [];
  if (name !== undefined) throw new TypeError(`the guard ${name} is undefined`);
}

export function checkOperations(operations) {
  const isList = Array.isArray(operations) && operations.length >= 1 && operations.length <= 16;
  if (!isList) throw new TypeError("operations must be a list of 1 to 16 operations");
  const isOne = (each) => each && typeof each === "object" && Object.keys(each).length === 1;
  if (!operations.every(isOne)) {
    throw new TypeError('an operation is an object with one member, such as {pop: {}}');
  }
}
