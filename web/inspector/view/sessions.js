// The sessions of the daemon: which client watches how much, and which one lags.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Table } from "../table.js";
import { authorOf, bdi, count, counted, explain, mark, principalOf, spaced, write } from "../text.js";

const COLUMNS = [
  { name: "Client", width: "minmax(5.25rem, 1.2fr)" }, { name: "Principal", width: "minmax(7.4rem, 1fr)" }, { name: "Role", width: "5.5rem" },
  { name: "Watches", width: "3.4rem", isNumber: true }, { name: "Behind", width: "3.9rem", isNumber: true },
];

/** Draws the sessions, those that lag first. */
export class Sessions {
  #context;
  #note = el("p", { class: "note", "data-part": "sessions-note" });
  #table = new Table("Sessions", COLUMNS, { cells, mark: markRow, least: "28.5rem" });
  #poll;
  #isRight = null;
  #list = [];
  #error = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#table.root);
    this.#poll = new Poll(() => this.#read(), 1000, context.signal);
  }

  /** Reads while the tab is open. */
  update() {
    const isOpen = this.#context.store.tab === "sessions";
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.want(isOpen && !isRecording);
    if (!isOpen) return;
    const isShown = this.#isRight === true && !isRecording;
    this.#table.root.hidden = !isShown;
    if (isShown) this.#table.update(this.#list);
    write(this.#note, isRecording ? "Sessions are not in a recording. The page of a daemon lists its clients here, and how far each is behind." : this.#text());
  }

  #text() {
    if (this.#error) return explain(this.#error);
    if (this.#isRight === null) return "Reading…";
    if (!this.#isRight) return "Sessions need the role admin. With it, each connected client has a row.";
    const late = this.#list.filter((session) => session.behind > 0).length;
    return `${counted(this.#list.length, "session")}${late ? ` · ${count(late)} behind` : ""}`;
  }

  async #read() {
    try {
      const list = await this.#context.source.sessions();
      this.#isRight = list !== null;
      this.#list = [...list ?? []].sort((a, b) => Number(b.stalled ?? false) - Number(a.stalled ?? false) || (b.behind ?? 0) - (a.behind ?? 0));
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#context.schedule();
  }
}

function cells(session) {
  const { name, pid, via, role, watches, behind, stalled } = session;
  const principal = principalOf(session);
  const lag = stalled ? "stalled" : count(behind ?? 0);
  return [
    authorOf({ name: name ?? "" }), spaced(authorOf({ ...(principal ? { principal } : {}), ...(pid === undefined ? {} : { pid }) })),
    [bdi(role ?? ""), el("span", { class: "faint" }, " · ", bdi(via ?? ""))], String(watches ?? 0),
    el("span", { class: stalled || behind > 0 ? "alarm" : null, title: stalled ? `${count(behind ?? 0)} behind` : null }, lag),
  ];
}

function markRow(row, session) {
  mark(row, "data-session", session.id);
  mark(row, "data-behind", session.behind ?? 0);
  mark(row, "data-stalled", String(session.stalled === true));
}
