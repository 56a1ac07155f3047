// What the daemon refused lately.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Table } from "../table.js";
import { authorOf, bdi, clock, counted, explain, mark, spaced, write } from "../text.js";

const COLUMNS = [
  { name: "Code", width: "minmax(0, 2fr)" }, { name: "Nav", width: "minmax(0, 1fr)" }, { name: "Operations", width: "minmax(4.3rem, 1fr)" },
  { name: "Time", width: "var(--clock, 6rem)", isNumber: true }, { name: "Message", width: "" }, { name: "Author", width: "" },
];

/** Draws the refusals, newest first. */
export class Refusals {
  #context;
  #note = el("p", { class: "note", "data-part": "refusals-note" });
  #table = new Table("Refusals, newest first", COLUMNS, { cells, mark: markRow, least: "22rem", isTall: true });
  #poll;
  /** @type {any[]|null|undefined} undefined before the first answer, null without the right */
  #list;
  #key = "";
  #error = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#table.root);
    this.#poll = new Poll(() => this.#read(), 1500, context.signal);
  }

  /** Reads while the tab is open. */
  update() {
    const { tab, paused } = this.#context.store;
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.want(tab === "refusals" && !isRecording && !paused);
    if (tab !== "refusals") return;
    const isShown = !isRecording && Array.isArray(this.#list) && this.#list.length > 0;
    this.#table.root.hidden = !isShown;
    if (isShown) this.#table.update(this.#list);
    write(this.#note, isRecording ? "Refusals are not in a recording. The page of a daemon lists the messages here that it refused." : this.#text());
  }

  #text() {
    if (this.#error) return explain(this.#error);
    if (this.#list === undefined) return "Reading…";
    if (this.#list === null) return "Refusals need the role admin. With it, each message that navd refuses has a row.";
    if (!this.#list.length) return "navd has refused nothing since its start. Each message that it refuses adds a row: code, nav, operations, author.";
    return `${counted(this.#list.length, "refusal")}${this.#list.length >= 256 ? "; navd keeps the last 256" : ""}`;
  }

  async #read() {
    try {
      const list = await this.#context.source.refusals();
      const newest = list?.at(-1);
      const key = `${list?.length} ${newest?.t} ${newest?.id}`;
      // The same list keeps its rows.
      if (key !== this.#key) this.#list = list && [...list].reverse();
      this.#key = key;
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#context.schedule();
  }
}

function cells({ t, code, reason, nav, do: operations, by, msg }) {
  return [
    withTitle(el("span", { class: "why-what" }, bdi(reason ? `${code} (${reason})` : code))), nav === undefined ? "" : bdi(nav), bdi((operations ?? []).join(", ")), clock(t),
    withTitle(bdi(msg ?? "")), spaced(authorOf({ ...by, pid: undefined })),
  ];
}

function withTitle(element) {
  element.title = element.textContent;
  return element;
}

function markRow(row, { code, nav }) {
  mark(row, "data-refusal", code);
  mark(row, "data-nav", nav ?? null);
}
