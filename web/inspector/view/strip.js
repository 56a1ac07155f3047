// The strip of the timeline: one canvas, drawn per pixel column.

import { FLAG } from "../columns.js";
import { spanOf } from "../describe.js";
import { fold, KINDS } from "../fold.js";
import { count, hour, moment } from "../text.js";

const AXIS = 15;
const AUTHORS = 5;
const MOST_SEAMS = 8;
const COLOURS = Object.freeze([...KINDS, "faint", "ink", "dim", "mark", "with", "bad", "paper"]);

/** Draws a range of a history. */
export class Strip {
  canvas;
  #base = document.createElement("canvas");
  #colours = null;
  #folded = null;
  #key = "";
  #marks = "";
  #width = 0;
  #height = 0;
  #ratio = 1;

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
        this.#key = "";
        schedule();
      }, { signal });
    }
  }

  /** The width in CSS pixels. */
  get width() { return this.#width; }

  /**
   * @param {import("../history.js").History} history
   * @param {{from: number, to: number, matches: import("../filter.js").Matches, filter: string, at: number, compareWith: number}} what
   */
  draw(history, { from, to, matches, filter, at, compareWith }) {
    if (devicePixelRatio !== this.#ratio) this.#resize(this.#width, this.#height);
    if (this.#width < 2) return;
    // The revisions of the nav before must not stay where this one has none.
    if (!(to > from)) return this.#clear();
    const key = [history.nav, history.epoch, history.version, from, to, filter, this.#width, this.#height, this.#ratio].join(" ");
    const marks = `${at} ${compareWith}`;
    if (key === this.#key && marks === this.#marks) return;
    this.#marks = marks;
    if (key !== this.#key) {
      this.#key = key;
      this.#folded = fold(history, { from, to, width: this.#width, matches: filter ? matches : undefined });
      this.#drawBase(history, from, to);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.#base, 0, 0);
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    const scale = this.#width / (to - from);
    if (compareWith >= 0) this.#drawMark(context, (compareWith + 0.5 - from) * scale, this.#colours.with);
    if (at >= 0) this.#drawMark(context, (at + 0.5 - from) * scale, this.#colours.mark);
  }

  #clear() {
    this.#key = "";
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  #resize(width, height) {
    const ratio = devicePixelRatio;
    [this.#width, this.#height, this.#ratio, this.#key] = [width, height, ratio, ""];
    for (const canvas of [this.canvas, this.#base]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
  }

  #read() {
    if (this.#colours) return this.#colours;
    // A canvas that is given the name of a colour of the system may draw that of another scheme.
    const probe = document.createElement("i");
    probe.className = "probe";
    this.canvas.after(probe);
    const style = getComputedStyle(probe);
    this.#colours = Object.fromEntries(COLOURS.map((name) => {
      probe.style.setProperty("color", `var(--t-${name})`);
      return [name, style.color];
    }));
    probe.remove();
    return this.#colours;
  }

  #drawBase(history, from, to) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.#base.getContext("2d"));
    const colours = this.#read();
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    const { count: counts } = this.#folded;
    // Few revisions are wider than a pixel: a bar ends where the next one begins.
    const gap = this.#width / (to - from) >= 5 ? 1 : 0;
    for (let x = 0, next = 0; x < this.#width; x = next) {
      for (next = x + 1; next < this.#width && !counts[next];) next++;
      if (counts[x]) this.#drawColumn(context, history, x, next - x - gap);
    }
    this.#drawAxis(context, colours);
  }

  /** A bar as high as the rate, in the colours of what led to the revisions; the authors below it. */
  #drawColumn(context, history, x, width) {
    const { loaded, shown, kinds, author, flags, busy } = this.#folded;
    const colours = this.#colours;
    const bottom = this.#height - AXIS - AUTHORS - 1;
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
      context.fillStyle = colours[KINDS[kind]];
      context.fillRect(x, y - part, width, part);
      y -= part;
    });
    if (shown[x] && author[x]) {
      context.fillStyle = colourOf(history.authors.list[author[x]]);
      context.fillRect(x, bottom + 1, width, AUTHORS);
    }
    if (flags[x] & (FLAG.bad | FLAG.border | FLAG.unproven)) this.#drawFlags(context, x, flags[x], width);
  }

  #drawFlags(context, x, flags, width) {
    context.fillStyle = this.#colours.bad;
    if (flags & FLAG.border) context.fillRect(x, 0, 2, this.#height - AXIS);
    if (flags & FLAG.unproven) context.fillRect(x, 0, width, 3);
    if (flags & FLAG.bad) {
      context.beginPath();
      context.moveTo(x - 3, 0);
      context.lineTo(x + 4, 0);
      context.lineTo(x + 0.5, 6);
      context.fill();
    }
  }

  /** The longest idle spans with their lengths, and times where there is room. */
  #drawAxis(context, colours) {
    const { first, idle } = this.#folded;
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
      if (taken.length >= MOST_SEAMS) break;
      if (!write(x + 3, spanOf(idle[x]), idle[x] < 0 ? colours.bad : colours.ink)) continue;
      context.fillStyle = idle[x] < 0 ? colours.bad : colours.dim;
      for (let dot = 1; dot < this.#height; dot += 4) context.fillRect(x, dot, 1, 2);
    }
    for (let x = 1; x < this.#width; x++) if (first[x]) x += write(x, hour(first[x]), colours.dim) ? 100 : 8;
  }

  #drawMark(context, x, colour) {
    if (x < -2 || x > this.#width + 2) return;
    x = Math.max(1, Math.min(this.#width - 1, x));
    context.fillStyle = this.#colours.paper;
    context.fillRect(x - 2, 0, 4, this.#height - AXIS);
    context.fillStyle = colour;
    context.fillRect(x - 1, 0, 2, this.#height - AXIS);
    context.beginPath();
    context.moveTo(x - 5, this.#height - AXIS + 7);
    context.lineTo(x + 5, this.#height - AXIS + 7);
    context.lineTo(x, this.#height - AXIS);
    context.fill();
  }

  /** What is under a pixel, for the tooltip. @param {import("../history.js").History} history @param {number} position */
  static textOf(history, position) {
    const entry = history.at(position);
    return entry ? `revision ${count(entry.rev)}, ${moment(entry.t)}` : "";
  }
}

/** A colour for an author, the same on each page. @param {import("../columns.js").Author|null} author */
export function colourOf(author) {
  const text = author?.principal ?? author?.name ?? "";
  let sum = 7;
  for (let index = 0; index < text.length; index++) sum = (sum * 31 + text.charCodeAt(index)) >>> 0;
  return `hsl(${(sum * 137) % 360} 60% 52%)`;
}
