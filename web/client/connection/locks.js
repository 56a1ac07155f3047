// The locks of a browser's pages, one for each stream that it may have.

const LOCK_NAMES = Object.freeze([1, 2, 3, 4].map((number) => `nsp-stream-${number}`));

/** Resolves with a function that releases the lock; calls `onWait` if all four are taken. */
export async function takeStreamLock(signal, onWait) {
  if (!globalThis.navigator?.locks) return () => {};
  for (const name of LOCK_NAMES) {
    const release = await holdLock(name, { ifAvailable: true });
    if (release) return release;
  }
  // An abort during the first round would not be heard any more.
  signal.throwIfAborted();
  onWait();
  const race = new AbortController();
  signal.addEventListener("abort", () => race.abort(), { signal: race.signal });
  return Promise.any(LOCK_NAMES.map((name) => raceForStreamLock(name, race)));
}

/** Waits for one of the locks; releases it if the page got another one first. */
async function raceForStreamLock(name, race) {
  const release = await holdLock(name, { signal: race.signal });
  if (!race.signal.aborted) {
    race.abort();
    return release;
  }
  release();
  throw race.signal.reason;
}

function holdLock(name, options) {
  return new Promise((resolve, reject) => {
    const hold = (lock) => lock ? new Promise((release) => resolve(release)) : resolve(null);
    navigator.locks.request(name, options, hold).catch(reject);
  });
}
