/** Sets a timer, for at most the longest time of a browser: a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function setTimer(callback, milliseconds) {
  return setTimeout(callback, Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MS));
}

export function sleep(milliseconds) { return new Promise((resolve) => setTimer(resolve, milliseconds)); }

export function deferred() {
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
  // A caller that is not waiting yet must not count as an unhandled rejection.
  result.promise.catch(() => {});
  return result;
}
