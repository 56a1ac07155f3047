// What the tests of the inspector's model call in the page. esbuild makes one file of it.

import { compare } from "../../../web/inspector/compare.js";
import { fold } from "../../../web/inspector/fold.js";
import { History, historyOf } from "../../../web/inspector/history.js";
import { formatLink, parseLink } from "../../../web/inspector/permalink.js";
import { RecordingSource } from "../../../web/inspector/recording.js";
import { Samples } from "../../../web/inspector/samples.js";

window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});

/** A daemon with a long history, which is made when it is read. */
class SyntheticSource {
  kind = "live";
  reads = 0;
  floor = 1;
  epoch = "e";

  constructor(newest) { this.newest = newest; }

  entry(rev) {
    const who = rev % 5;
    return {
      rev, t: 1_700_000_000_000 + rev * 40 + (rev % 1000 ? 0 : 90_000) * (rev / 1000), cause: rev % 7 ? "api" : "timeout",
      by: rev % 11 ? { name: `client ${who}`, op: rev, principal: `uid:${1000 + who}`, pid: 10 + who } : undefined,
      do: rev % 2 ? ["push"] : ["pop", "bar.set"], ...(rev % 2 ? { ins: [{ id: `s${rev % 50}` }] } : { del: [`s${rev % 50}`] }),
      dig: "00000000",
    };
  }

  async log(nav, { from = this.floor, limit = 100 }) {
    this.reads++;
    await new Promise((resolve) => { setTimeout(resolve, 1); });
    if (from < this.floor) throw Object.assign(new Error("compacted"), { code: "compacted", floor: this.floor });
    const list = [];
    for (let rev = from; rev < from + limit && rev <= this.newest; rev++) list.push(this.entry(rev));
    return { list, floor: this.floor, rev: this.newest, epoch: this.epoch };
  }
}

/** Waits for the first true value of a condition. */
async function until(condition) {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within 20 s: ${condition}`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}

/** Runs something; returns its value, and how many frames the page drew meanwhile: none if one task blocks it. */
async function measured(run) {
  let frames = 0;
  let isOver = false;
  const frame = () => {
    if (isOver) return;
    frames++;
    requestAnimationFrame(frame);
  };
  await new Promise((resolve) => { requestAnimationFrame(() => resolve(requestAnimationFrame(frame))); });
  const value = await run();
  isOver = true;
  return { value, frames };
}

const octets = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const openFile = (base64, onProgress) => RecordingSource.open(new Blob([octets(base64)]), onProgress);

Object.assign(window, {
  compare, fold, History, historyOf, formatLink, parseLink, RecordingSource, Samples, SyntheticSource, until, measured, openFile, octets,
});
document.documentElement.dataset.ready = "1";
