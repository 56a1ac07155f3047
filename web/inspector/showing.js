// Shows a source in the page: the live one, or a recording.

import { Shell } from "./shell.js";
import { Store } from "./store.js";

/** The page as it was served, without what a shell has put into it. @type {Node[]|null} */
let servedNodes = null;
/** @type {Shell|null} */
let runningShell = null;

/** Shows a source in a fresh page. The shell before it ends. @param {any} source */
export function showSource(source) {
  runningShell?.stop();
  servedNodes ??= [...document.body.childNodes].filter((node) => node.nodeName !== "SCRIPT").map((node) => node.cloneNode(true));
  if (runningShell) {
    document.body.replaceChildren(...servedNodes.map((node) => node.cloneNode(true)));
    // The address names a place of the source before.
    history.replaceState(history.state, "", location.href.replace(/#.*/s, ""));
  }
  runningShell = new Shell(source, new Store());
  runningShell.start();
}
