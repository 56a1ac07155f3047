// The views that the first paint does not need. The shell loads this file, and with it their styles.

import { el } from "../view/dom.js";
import { HelpDialog } from "./help.js";
import { KeyboardShortcuts } from "./keys.js";
import { HistoryViews } from "./past.js";
import { PlotsPanel } from "./view/plots.js";
import { RefusalsPanel } from "./view/refusals.js";
import { SessionsPanel } from "./view/sessions.js";
import { StagePanel } from "./view/stage.js";
import { StreamPanel } from "./view/stream.js";
import { WhyPanel } from "./view/why.js";

const STYLE_SHEET = "views.css";

/**
 * Adds the remaining views to a shell.
 *
 * @param {import("./shell.js").InspectorShell} shell
 * @param {any} tree the tree, which has keys
 * @returns {Promise<boolean>} false if the shell has ended meanwhile
 */
export async function addViews(shell, tree) {
  await loadStyles();
  const { context, model } = shell;
  if (context.signal.aborted) return false;
  const place = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-view=${name}]`));
  const part = (name) => /** @type {any} */ (document.querySelector(`[data-part=${name}]`));
  const views = [
    () => new StagePanel(place("stage"), context), () => new HistoryViews(context), () => new StreamPanel(place("stream"), context),
    () => new WhyPanel(place("why"), context), () => new SessionsPanel(place("sessions"), context),
    () => new RefusalsPanel(place("refusals"), context), () => new PlotsPanel(place("plots"), context),
  ];
  for (const make of views) {
    shell.addView(make());
    // The first drawing of a view costs most. All of them in one frame took up to 100 ms.
    await shell.frameDrawn();
    if (context.signal.aborted) return false;
  }
  new KeyboardShortcuts(context, { tree, help: new HelpDialog(part("help-dialog"), part("help")), model });
  return true;
}

/** Loads the style sheet of the views, once. The single-file page contains it, and has no link. */
async function loadStyles() {
  const first = document.querySelector("link[rel=stylesheet]");
  if (!first || document.querySelector(`link[href="${STYLE_SHEET}"]`)) return;
  const link = el("link", { rel: "stylesheet", href: STYLE_SHEET });
  await new Promise((resolve) => {
    // Without its styles a view is still legible.
    for (const event of ["load", "error"]) link.addEventListener(event, resolve, { once: true });
    first.after(link);
  });
}
