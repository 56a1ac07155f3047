// The plots: rates and latencies of the daemon, sampled once a second while the tab is open.
//
// Chart.js comes from the package libjs-chart.js, served as /chart.js, and only when the tab is opened.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Samples } from "../samples.js";
import { clock, count, explain, hour, rounded, write } from "../text.js";

const ADDRESS = "/chart.js";
const TABLE_ROWS = 15;
/** The number of newest samples in a closed table, so that a search in the page finds them. */
const CLOSED_ROWS = 3;

/** @param {number} value nanoseconds */
function duration(value) {
  if (value >= 1e9) return `${rounded(value / 1e9)} s`;
  return value >= 1e6 ? `${rounded(value / 1e6)} ms` : `${rounded(value / 1e3)} µs`;
}

/** An end of a band. The last bucket has no upper one, so it is drawn as wide as it would be if it doubled too. */
const endOf = (range, side) => range?.[side] === Infinity ? 2 * range[0] : range?.[side] ?? NaN;

/** Ticks of a logarithmic axis: powers of ten only. */
const isPower = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
const number = (value) => (Number.isFinite(value) ? rounded(value) : "–");
const line = (name, label, colour) => ({ name, label, colour });
const bands = (name) => [line(`${name}Max`, "max", "--i-warn"), line(`${name}99`, "p99", "--i-accent"), line(`${name}50`, "p50", "--i-good")];

/** The plots. A line has a value for each sample, a band has a range. `source` is what adds the first value. */
const PLOTS = [
  { name: "operations", title: "Operations", unit: "per second, by outcome", lines: [line("ok", "ok", "--i-good"), line("unchanged", "unchanged", "--i-accent"), line("refused", "refused", "--i-bad")], format: number, source: "the second reading of navd" },
  { name: "commit", title: "Commit", unit: "until records are durable", bands: bands("commit"), format: duration, source: "the next change of a nav" },
  { name: "fanout", title: "Fan-out", unit: "from there to the socket", bands: bands("fanOut"), format: duration, source: "the next change of a nav that a client watches" },
  { name: "batch", title: "Batch", unit: "records of a commit", bands: bands("batch"), format: number, isLinear: true, source: "the next change of a nav" },
  { name: "lag", title: "Lag", unit: "of watches", lines: [line("lagMax", "revisions behind, at most", "--i-bad"), line("lagging", "watches behind", "--i-accent")], format: number, source: "the second reading of navd" },
];

/** Draws the plots. */
export class Plots {
  #context;
  #note = el("p", { class: "note", "data-part": "plots-note" });
  #samples = new Samples();
  #plots = null;
  #body = el("div", { class: "plots" });
  #poll;
  #chart = null;
  #loading = null;
  #error = null;
  #isChanged = true;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#body);
    this.#poll = new Poll(() => this.#read(), 1000, context.signal);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#plots?.forEach((plot) => plot.dress()), { signal: context.signal });
  }

  /** Samples while the tab is open. */
  update() {
    const isOpen = this.#context.store.tab === "plots";
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.want(isOpen && !isRecording);
    if (!isOpen) return;
    write(this.#note, isRecording ? "Plots are not in a recording. The page of a daemon samples its rates and latencies here." : this.#text());
    this.#note.hidden = this.#note.textContent === "";
    if (isRecording) return;
    this.#loading ??= this.#load(ADDRESS);
    this.#plots ??= PLOTS.map((plot) => new Plot(this.#body, plot, this.#samples, () => this.#plots));
    if (!this.#isChanged) return;
    this.#isChanged = false;
    for (const plot of this.#plots) plot.draw(this.#chart);
  }

  #text() {
    if (this.#error) return explain(this.#error);
    if (this.#loading && this.#chart === false) return "Chart.js is not there, so there are tables only.";
    return this.#samples.list.length ? "" : "The first sample comes after two seconds. Samples are kept for an hour while this tab is open.";
  }

  async #load(address) {
    try {
      // An element for the script would need a policy of Trusted Types; an import does not.
      await import(address);
      this.#chart = globalThis["Chart"] ?? false;
    } catch {
      this.#chart = false;
    }
    this.#isChanged = true;
    this.#context.schedule();
  }

  async #read() {
    try {
      this.#samples.take(await this.#context.source.statistics(), Date.now());
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#isChanged = true;
    this.#context.schedule();
  }
}

/** One plot with its table. */
class Plot {
  #about;
  #samples;
  #place = el("div", { class: "plot-place" });
  #canvas = el("canvas");
  #empty;
  #table = el("tbody");
  #details;
  #chart = null;

  constructor(root, about, samples, others) {
    this.#about = about;
    this.#samples = samples;
    const { name, title, unit, source } = about;
    this.#empty = el("p", { class: "note", "data-part": "plot-empty" }, `No value yet. It comes with ${source}.`);
    this.#place.append(this.#canvas, this.#empty);
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", `${title}, ${unit}. The table below has the values.`);
    const heads = ["Time", ...(about.lines ?? about.bands).map(({ label }) => label)];
    this.#details = /** @type {HTMLDetailsElement} */ (el(
      "details", {}, el("summary", {}, `Table of the last ${TABLE_ROWS} samples`),
      el("div", { class: "scroll", tabindex: "0" }, el("table", { "aria-label": title }, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))), this.#table))));
    // One open table at a time bounds the size of the page.
    this.#details.addEventListener("toggle", () => {
      if (this.#details.open) for (const other of others()) if (other !== this) other.close();
      this.#tabulate();
    });
    root.append(el("figure", { class: "plot", "data-plot": name }, el("h2", {}, title, el("span", {}, ` · ${unit}`)), this.#place, this.#details));
    new ResizeObserver(() => this.#chart?.resize(this.#place.clientWidth, this.#place.clientHeight)).observe(this.#place);
  }

  close() { this.#details.open = false; }

  /**
   * Draws the samples.
   *
   * @param {any} Chart the constructor; false if it cannot be had, null before that is known
   */
  draw(Chart) {
    this.#place.hidden = Chart === false;
    if (Chart && !this.#chart && this.#place.clientWidth) this.#make(Chart);
    this.#tabulate();
    const { list } = this.#samples;
    const { lines, bands: ranges } = this.#about;
    // An axis without a value would show numbers of its own.
    this.#empty.hidden = list.some((sample) => (lines ?? ranges).some(({ name }) => !Number.isNaN(sample[name] ?? NaN)));
    this.#canvas.hidden = !this.#empty.hidden;
    if (!this.#chart) return;
    const sets = this.#chart.data.datasets;
    for (const [at, { name }] of (lines ?? []).entries()) sets[at].data = list.map((sample) => ({ x: sample.t, y: sample[name] }));
    for (const [at, { name }] of (ranges ?? []).entries()) {
      for (const side of [0, 1]) sets[2 * at + side].data = list.map((sample) => ({ x: sample.t, y: endOf(sample[name], side) }));
    }
    const newest = list.at(-1)?.t ?? Date.now();
    const { x } = this.#chart.options.scales;
    x.min = Math.min(list[0]?.t ?? newest, newest - 60_000);
    x.max = newest;
    this.#chart.update("none");
  }

  #tabulate() {
    const { lines, bands: ranges, format } = this.#about;
    const cell = (sample, name) => {
      if (lines) return format(sample[name]);
      if (!sample[name]) return "–";
      const [low, high] = sample[name];
      return high === Infinity ? `more than ${format(low)}` : `${format(low)} – ${format(high)}`;
    };
    const rows = this.#samples.list.slice(this.#details.open ? -TABLE_ROWS : -CLOSED_ROWS).reverse();
    return this.#table.replaceChildren(...rows.map((sample) => el(
      "tr", {}, el("td", {}, hour(sample.t)), ...(lines ?? ranges).map(({ name }) => el("td", {}, sample.isBreak ? "restart or gap" : cell(sample, name))))));
  }

  #make(Chart) {
    const { lines, bands: ranges, format, isLinear } = this.#about;
    const base = { parsing: false, pointRadius: 0, borderWidth: 1.5, spanGaps: false };
    // A band is its lower and its upper bound, and what is between is filled.
    const sets = lines
      ? lines.map(({ label }) => ({ ...base, label, data: [], isNamed: true }))
      : ranges.flatMap(({ label }) => [{ ...base, label, data: [], isNamed: true, borderWidth: 1 }, { ...base, label: `${label} to`, data: [], fill: "-1", borderWidth: 1, isNamed: false }]);
    this.#chart = new Chart(this.#canvas, {
      type: "line", data: { datasets: sets }, options: {
        responsive: false, maintainAspectRatio: false, animation: false, normalized: true, interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: { type: "linear", ticks: { maxTicksLimit: 5, maxRotation: 0, callback: (value) => hour(value) }, grid: {} },
          y: lines || isLinear ? { beginAtZero: true, suggestedMax: 1, ticks: { maxTicksLimit: 5, callback: (value) => count(value) }, grid: {} }
            : { type: "logarithmic", ticks: { maxTicksLimit: 5, callback: (value) => (isPower(value) ? format(value) : null) }, grid: {} },
        },
        plugins: {
          legend: { align: "end", labels: { boxWidth: 10, boxHeight: 2, filter: (item, data) => data.datasets[item.datasetIndex].isNamed } },
          tooltip: { displayColors: false, callbacks: { title: ([item]) => (item ? clock(item.parsed.x) : ""), label: (item) => `${item.dataset.label} ${format(item.parsed.y)}` } },
        },
      },
    });
    this.#chart.resize(this.#place.clientWidth, this.#place.clientHeight);
    this.dress();
  }

  /** Sets the colours of the chart to those of the page. */
  dress() {
    if (!this.#chart) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const { lines, bands: ranges } = this.#about;
    for (const [at, set] of this.#chart.data.datasets.entries()) {
      const about = lines ? lines[at] : ranges[at >> 1];
      set.borderColor = colour(about.colour);
      set.backgroundColor = `${colour(about.colour)}33`;
    }
    const { scales, plugins } = this.#chart.options;
    for (const axis of Object.values(scales)) {
      axis.ticks.color = colour("--i-dim");
      axis.grid.color = colour("--i-rule");
    }
    plugins.legend.labels.color = colour("--i-dim");
    this.#chart.update("none");
  }
}
