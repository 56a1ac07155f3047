// The views that the first paint does not need. The shell loads this file, and with it their styles.

import { el } from "../view/dom.js";
import { Help } from "./help.js";
import { Keys } from "./keys.js";
import { Past } from "./past.js";
import { Plots } from "./view/plots.js";
import { Refusals } from "./view/refusals.js";
import { Sessions } from "./view/sessions.js";
import { Stage } from "./view/stage.js";
import { Stream } from "./view/stream.js";
import { Why } from "./view/why.js";

const STYLES = "views.css";

/**
 * Adds the views to a shell.
 *
 * @param {import("./shell.js").Shell} shell
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
    () => new Stage(place("stage"), context), () => new Past(context), () => new Stream(place("stream"), context),
    () => new Why(place("why"), context), () => new Sessions(place("sessions"), context),
    () => new Refusals(place("refusals"), context), () => new Plots(place("plots"), context),
  ];
  for (const make of views) {
    shell.add(make());
    // The first drawing of a view costs most. All of them in one frame took up to 100 ms.
    await shell.drawn();
    if (context.signal.aborted) return false;
  }
  new Keys(context, { tree, help: new Help(part("help-dialog"), part("help")), model });
  return true;
}

/** Loads the styles of the views, once. The single file has them in itself, and no link. */
async function loadStyles() {
  const first = document.querySelector("link[rel=stylesheet]");
  if (!first || document.querySelector(`link[href="${STYLES}"]`)) return;
  const link = el("link", { rel: "stylesheet", href: STYLES });
  await new Promise((resolve) => {
    // Without its styles a view is still legible.
    for (const event of ["load", "error"]) link.addEventListener(event, resolve, { once: true });
    first.after(link);
  });
}
