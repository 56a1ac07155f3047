// The entry of the live page: takes the launch code, connects, and starts the shell.

import { launchToken } from "../client/index.js";
import { el } from "../view/dom.js";
import { showSource } from "./showing.js";
import { LiveSource } from "./source.js";

async function startLivePage() {
  const token = await launchToken();
  if (!token) throw Object.assign(new Error("there is no launch code"), { code: "unauthorized" });
  // A person reads no more, and the writers have the rest of the processor.
  showSource(new LiveSource({ token, name: "inspector", watchRate: 200_000 }));
}

startLivePage().catch((error) => {
  document.documentElement.dataset.state = "expired";
  const notice = /** @type {HTMLElement} */ (document.querySelector("[data-part=notice]"));
  const isLink = error.code === "unauthorized";
  notice.replaceChildren(
    el("h2", {}, isLink ? "This page needs a new link" : "No connection"),
    el("p", { "data-part": "expired" }, isLink ? "A launch code works once, within a minute. Run " : `${error.message}. Run `, el("code", {}, "navctl inspect"), " again."));
  notice.hidden = false;
});
