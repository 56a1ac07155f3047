// What the daemon refused lately.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Table } from "../table.js";
import { authorElements, bdi, timeWithMilliseconds, countedNoun, errorText, updateAttribute, withSpaces, writeText } from "../text.js";

const REFUSAL_COLUMNS = [
  { name: "Code", width: "minmax(0, 2fr)" }, { name: "Nav", width: "minmax(0, 1fr)" }, { name: "Operations", width: "minmax(4.3rem, 1fr)" },
  { name: "Time", width: "var(--clock, 6rem)", isNumber: true }, { name: "Message", width: "" }, { name: "Author", width: "" },
];

/** The panel that lists the refusals of the daemon, newest first. */
export class RefusalsPanel {
  #context;
  #note = el("p", { class: "note", "data-part": "refusals-note" });
  #table = new Table("Refusals, newest first", REFUSAL_COLUMNS, { cells: refusalCells, mark: markRow, least: "22rem", isTall: true });
  #poll;
  /** @type {any[]|null|undefined} undefined before the first answer, null without the right */
  #refusals;
  #listKey = "";
  #error = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#table.root);
    this.#poll = new Poll(() => this.#readRefusals(), 1500, context.signal);
  }

  /** Reads the list while the tab is open, and draws it. */
  update() {
    const { tab, paused } = this.#context.store;
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.setWanted(tab === "refusals" && !isRecording && !paused);
    if (tab !== "refusals") return;
    const isShown = !isRecording && Array.isArray(this.#refusals) && this.#refusals.length > 0;
    this.#table.root.hidden = !isShown;
    if (isShown) this.#table.update(this.#refusals);
    writeText(this.#note, isRecording ? "Refusals are not in a recording. The page of a daemon lists the messages here that it refused." : this.#noteText());
  }

  #noteText() {
    if (this.#error) return errorText(this.#error);
    if (this.#refusals === undefined) return "Reading…";
    if (this.#refusals === null) return "Refusals need the role admin. With it, each message that navd refuses has a row.";
    if (!this.#refusals.length) return "navd has refused nothing since its start. Each message that it refuses adds a row: code, nav, operations, author.";
    return `${countedNoun(this.#refusals.length, "refusal")}${this.#refusals.length >= 256 ? "; navd keeps the last 256" : ""}`;
  }

  async #readRefusals() {
    try {
      const list = await this.#context.source.refusals();
      const newest = list?.at(-1);
      const key = `${list?.length} ${newest?.t} ${newest?.id}`;
      // The same list keeps its rows.
      if (key !== this.#listKey) this.#refusals = list && [...list].reverse();
      this.#listKey = key;
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#context.schedule();
  }
}

function refusalCells({ t, code, reason, nav, do: operations, by, msg }) {
  return [
    withTitle(el("span", { class: "why-what" }, bdi(reason ? `${code} (${reason})` : code))), nav === undefined ? "" : bdi(nav), bdi((operations ?? []).join(", ")), timeWithMilliseconds(t),
    withTitle(bdi(msg ?? "")), withSpaces(authorElements({ ...by, pid: undefined })),
  ];
}

function withTitle(element) {
  element.title = element.textContent;
  return element;
}

function markRow(row, { code, nav }) {
  updateAttribute(row, "data-refusal", code);
  updateAttribute(row, "data-nav", nav ?? null);
}
