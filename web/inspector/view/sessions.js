// The sessions of the daemon: which client watches how much, and which one lags.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Table } from "../table.js";
import { authorElements, bdi, numberText, countedNoun, errorText, updateAttribute, principalText, withSpaces, writeText } from "../text.js";

const SESSION_COLUMNS = [
  { name: "Client", width: "minmax(5.25rem, 1.2fr)" }, { name: "Principal", width: "minmax(7.4rem, 1fr)" }, { name: "Role", width: "5.5rem" },
  { name: "Watches", width: "3.4rem", isNumber: true }, { name: "Behind", width: "3.9rem", isNumber: true },
];

/** The panel that lists the sessions, those that lag first. */
export class SessionsPanel {
  #context;
  #note = el("p", { class: "note", "data-part": "sessions-note" });
  #table = new Table("Sessions", SESSION_COLUMNS, { cells: sessionCells, mark: markRow, least: "28.5rem" });
  #poll;
  #isPermitted = null;
  #sessions = [];
  #error = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#table.root);
    this.#poll = new Poll(() => this.#readSessions(), 1000, context.signal);
  }

  /** Reads the list while the tab is open, and draws it. */
  update() {
    const isOpen = this.#context.store.tab === "sessions";
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.setWanted(isOpen && !isRecording);
    if (!isOpen) return;
    const isShown = this.#isPermitted === true && !isRecording;
    this.#table.root.hidden = !isShown;
    if (isShown) this.#table.update(this.#sessions);
    writeText(this.#note, isRecording ? "Sessions are not in a recording. The page of a daemon lists its clients here, and how far each is behind." : this.#noteText());
  }

  #noteText() {
    if (this.#error) return errorText(this.#error);
    if (this.#isPermitted === null) return "Reading…";
    if (!this.#isPermitted) return "Sessions need the role admin. With it, each connected client has a row.";
    const late = this.#sessions.filter((session) => session.behind > 0).length;
    return `${countedNoun(this.#sessions.length, "session")}${late ? ` · ${numberText(late)} behind` : ""}`;
  }

  async #readSessions() {
    try {
      const list = await this.#context.source.sessions();
      this.#isPermitted = list !== null;
      this.#sessions = [...list ?? []].sort((a, b) => Number(b.stalled ?? false) - Number(a.stalled ?? false) || (b.behind ?? 0) - (a.behind ?? 0));
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#context.schedule();
  }
}

function sessionCells(session) {
  const { name, pid, via, role, watches, behind, stalled } = session;
  const principal = principalText(session);
  const lag = stalled ? "stalled" : numberText(behind ?? 0);
  return [
    authorElements({ name: name ?? "" }), withSpaces(authorElements({ ...(principal ? { principal } : {}), ...(pid === undefined ? {} : { pid }) })),
    [bdi(role ?? ""), el("span", { class: "faint" }, " · ", bdi(via ?? ""))], String(watches ?? 0),
    el("span", { class: stalled || behind > 0 ? "alarm" : null, title: stalled ? `${numberText(behind ?? 0)} behind` : null }, lag),
  ];
}

function markRow(row, session) {
  updateAttribute(row, "data-session", session.id);
  updateAttribute(row, "data-behind", session.behind ?? 0);
  updateAttribute(row, "data-stalled", String(session.stalled === true));
}
