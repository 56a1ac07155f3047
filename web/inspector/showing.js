// Shows a source in the page: the live one, or a recording.

import { InspectorShell } from "./shell.js";
import { ChoiceStore } from "./store.js";

/** The nodes of the page as the server sent it, for the next shell. @type {Node[]|null} */
let servedNodes = null;
/** @type {InspectorShell|null} */
let runningShell = null;

/** Stops the running shell, restores the page, and starts a shell for another source. @param {any} source */
export function showSource(source) {
  runningShell?.stop();
  servedNodes ??= [...document.body.childNodes].filter((node) => node.nodeName !== "SCRIPT").map((node) => node.cloneNode(true));
  if (runningShell) {
    document.body.replaceChildren(...servedNodes.map((node) => node.cloneNode(true)));
    // The address names a place of the source before.
    history.replaceState(history.state, "", location.href.replace(/#.*/s, ""));
  }
  runningShell = new InspectorShell(source, new ChoiceStore());
  runningShell.start();
}
