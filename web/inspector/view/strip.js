// The strip of the timeline: one canvas, drawn per pixel column.

import { REVISION_FLAG } from "../columns.js";
import { timeSpanText } from "../describe.js";
import { fold, CAUSE_KINDS } from "../fold.js";
import { numberText, timeOfDay, dateAndTime } from "../text.js";

const AXIS_HEIGHT = 15;
const AUTHOR_LINE_HEIGHT = 5;
const MAXIMUM_SEAM_LABELS = 8;
const COLOUR_NAMES = Object.freeze([...CAUSE_KINDS, "faint", "ink", "dim", "mark", "with", "bad", "paper"]);

/** The canvas that draws a range of a history, a column of pixels for each group of revisions. */
export class TimelineStrip {
  canvas;
  #baseCanvas = document.createElement("canvas");
  #colours = null;
  #pixelColumns = null;
  #baseKey = "";
  #marksKey = "";
  #width = 0;
  #height = 0;
  #pixelRatio = 1;

  /** @param {HTMLCanvasElement} canvas @param {() => void} schedule @param {AbortSignal} signal ends listening */
  constructor(canvas, schedule, signal) {
    this.canvas = canvas;
    // Its size comes from here, since a read of it in a frame would lay out the page once more.
    new ResizeObserver(([{ contentRect }]) => {
      this.#resize(Math.floor(contentRect.width), Math.floor(contentRect.height));
      schedule();
    }).observe(canvas);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => {
        this.#colours = null;
        this.#baseKey = "";
        schedule();
      }, { signal });
    }
  }

  /** The width in CSS pixels. */
  get width() { return this.#width; }

  /**
   * @param {import("../history.js").History} history
   * @param {{from: number, to: number, matches: import("../filter.js").FilterMatches, filter: string, at: number, compareWith: number}} what
   */
  draw(history, { from, to, matches, filter, at, compareWith }) {
    if (devicePixelRatio !== this.#pixelRatio) this.#resize(this.#width, this.#height);
    if (this.#width < 2) return;
    // The revisions of the nav before must not stay where this one has none.
    if (!(to > from)) return this.#clear();
    const key = [history.nav, history.epoch, history.changeCount, from, to, filter, this.#width, this.#height, this.#pixelRatio].join(" ");
    const marks = `${at} ${compareWith}`;
    if (key === this.#baseKey && marks === this.#marksKey) return;
    this.#marksKey = marks;
    if (key !== this.#baseKey) {
      this.#baseKey = key;
      this.#pixelColumns = fold(history, { from, to, width: this.#width, matches: filter ? matches : undefined });
      this.#drawBase(history, from, to);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.#baseCanvas, 0, 0);
    context.setTransform(this.#pixelRatio, 0, 0, this.#pixelRatio, 0, 0);
    const scale = this.#width / (to - from);
    if (compareWith >= 0) this.#drawMark(context, (compareWith + 0.5 - from) * scale, this.#colours.with);
    if (at >= 0) this.#drawMark(context, (at + 0.5 - from) * scale, this.#colours.mark);
  }

  #clear() {
    this.#baseKey = "";
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  #resize(width, height) {
    const ratio = devicePixelRatio;
    [this.#width, this.#height, this.#pixelRatio, this.#baseKey] = [width, height, ratio, ""];
    for (const canvas of [this.canvas, this.#baseCanvas]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
  }

  #readColours() {
    if (this.#colours) return this.#colours;
    // A canvas that is given the name of a colour of the system may draw that of another scheme.
    const probe = document.createElement("i");
    probe.className = "probe";
    this.canvas.after(probe);
    const style = getComputedStyle(probe);
    this.#colours = Object.fromEntries(COLOUR_NAMES.map((name) => {
      probe.style.setProperty("color", `var(--t-${name})`);
      return [name, style.color];
    }));
    probe.remove();
    return this.#colours;
  }

  #drawBase(history, from, to) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.#baseCanvas.getContext("2d"));
    const colours = this.#readColours();
    context.setTransform(this.#pixelRatio, 0, 0, this.#pixelRatio, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    const { count: counts } = this.#pixelColumns;
    // Few revisions are wider than a pixel: a bar ends where the next one begins.
    const gap = this.#width / (to - from) >= 5 ? 1 : 0;
    for (let x = 0, next = 0; x < this.#width; x = next) {
      for (next = x + 1; next < this.#width && !counts[next];) next++;
      if (counts[x]) this.#drawColumn(context, history, x, next - x - gap);
    }
    this.#drawAxis(context, colours);
  }

  /** Draws a bar as high as the rate of revisions, in the colours of their causes, and their author below it. */
  #drawColumn(context, history, x, width) {
    const { loaded, shown, kinds, author, flags, busy } = this.#pixelColumns;
    const colours = this.#colours;
    const bottom = this.#height - AXIS_HEIGHT - AUTHOR_LINE_HEIGHT - 1;
    // From one revision in ten seconds to ten thousand in one.
    const rate = 1000 * loaded[x] / Math.max(1, busy[x]);
    const share = Math.min(1, Math.max(0.1, (Math.log10(rate) + 1) / 5));
    const height = Math.round((bottom - 4) * (loaded[x] ? share : 0.06));
    context.fillStyle = colours.faint;
    context.fillRect(x, bottom - height, width, height);
    let y = bottom;
    const visible = height * shown[x] / Math.max(1, loaded[x]);
    kinds.forEach((column, kind) => {
      if (!column[x]) return;
      const part = visible * column[x] / shown[x];
      context.fillStyle = colours[CAUSE_KINDS[kind]];
      context.fillRect(x, y - part, width, part);
      y -= part;
    });
    if (shown[x] && author[x]) {
      context.fillStyle = authorColour(history.authors.list[author[x]]);
      context.fillRect(x, bottom + 1, width, AUTHOR_LINE_HEIGHT);
    }
    if (flags[x] & (REVISION_FLAG.bad | REVISION_FLAG.border | REVISION_FLAG.unproven)) this.#drawFlags(context, x, flags[x], width);
  }

  #drawFlags(context, x, flags, width) {
    context.fillStyle = this.#colours.bad;
    if (flags & REVISION_FLAG.border) context.fillRect(x, 0, 2, this.#height - AXIS_HEIGHT);
    if (flags & REVISION_FLAG.unproven) context.fillRect(x, 0, width, 3);
    if (flags & REVISION_FLAG.bad) {
      context.beginPath();
      context.moveTo(x - 3, 0);
      context.lineTo(x + 4, 0);
      context.lineTo(x + 0.5, 6);
      context.fill();
    }
  }

  /** Labels the longest idle pauses with their lengths, and writes times where there is room. */
  #drawAxis(context, colours) {
    const { first, idle } = this.#pixelColumns;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    /** @type {[number, number][]} */
    const taken = [];
    const write = (x, text, colour) => {
      const end = x + context.measureText(text).width;
      if (end > this.#width || taken.some(([one, other]) => x < other + 30 && one < end + 30)) return false;
      taken.push([x, end]);
      context.fillStyle = colour;
      context.fillText(text, x, this.#height - 3);
      return true;
    };
    const spans = [...idle.keys()].filter((x) => idle[x] && x > 0).sort((a, b) => Math.abs(idle[b]) - Math.abs(idle[a]));
    for (const x of spans) {
      if (taken.length >= MAXIMUM_SEAM_LABELS) break;
      if (!write(x + 3, timeSpanText(idle[x]), idle[x] < 0 ? colours.bad : colours.ink)) continue;
      context.fillStyle = idle[x] < 0 ? colours.bad : colours.dim;
      for (let dot = 1; dot < this.#height; dot += 4) context.fillRect(x, dot, 1, 2);
    }
    for (let x = 1; x < this.#width; x++) if (first[x]) x += write(x, timeOfDay(first[x]), colours.dim) ? 100 : 8;
  }

  #drawMark(context, x, colour) {
    if (x < -2 || x > this.#width + 2) return;
    x = Math.max(1, Math.min(this.#width - 1, x));
    context.fillStyle = this.#colours.paper;
    context.fillRect(x - 2, 0, 4, this.#height - AXIS_HEIGHT);
    context.fillStyle = colour;
    context.fillRect(x - 1, 0, 2, this.#height - AXIS_HEIGHT);
    context.beginPath();
    context.moveTo(x - 5, this.#height - AXIS_HEIGHT + 7);
    context.lineTo(x + 5, this.#height - AXIS_HEIGHT + 7);
    context.lineTo(x, this.#height - AXIS_HEIGHT);
    context.fill();
  }

  /** The text of the tooltip for the revision at a position. @param {import("../history.js").History} history @param {number} position */
  static tooltipText(history, position) {
    const entry = history.at(position);
    return entry ? `revision ${numberText(entry.rev)}, ${dateAndTime(entry.t)}` : "";
  }
}

/** A colour for an author, the same on each page. @param {import("../columns.js").Author|null} author */
export function authorColour(author) {
  const text = author?.principal ?? author?.name ?? "";
  let sum = 7;
  for (let index = 0; index < text.length; index++) sum = (sum * 31 + text.charCodeAt(index)) >>> 0;
  return `hsl(${(sum * 137) % 360} 60% 52%)`;
}
