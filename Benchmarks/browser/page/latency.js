// Measures from the call of `perform` to the diff in the loop over the watch, in milliseconds.

import { launchToken, NavigationClient } from "/navigation-client.js";

const token = await launchToken();
const client = await NavigationClient.connect({ token, name: "latency" });
await client.perform("latency", [{ "nav.create": { root: { id: "home" } } }]).catch(() => null);

let arrived = null;
(async () => {
  for await (const state of client.watch("latency", { everyRevision: true })) arrived?.(state);
})();
await client.state("latency");

/** Returns the times of `count` changes, one after the other. */
window.measure = async (count) => {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const title = `${index}`;
    const seen = new Promise((resolve) => {
      arrived = (state) => { if (state.top.title === title) resolve(performance.now()); };
    });
    const start = performance.now();
    const done = client.perform("latency", [{ "screen.set": { screen: "home", title } }]);
    times.push(await seen - start);
    await done;
  }
  return times;
};
document.documentElement.dataset.ready = "1";
