// The plots: rates and latencies of the daemon, sampled once a second while the tab is open.
//
// Chart.js comes from the package libjs-chart.js, served as /chart.js, and only when the tab is opened.

import { el } from "../../view/dom.js";
import { Poll } from "../poll.js";
import { Samples } from "../samples.js";
import { timeWithMilliseconds, numberText, errorText, timeOfDay, threeDigits, writeText } from "../text.js";

const CHART_SCRIPT_URL = "/chart.js";
const OPEN_TABLE_ROWS = 15;
/** The number of newest samples in a closed table, so that a search in the page finds them. */
const CLOSED_TABLE_ROWS = 3;

/** @param {number} value nanoseconds */
function durationText(value) {
  if (value >= 1e9) return `${threeDigits(value / 1e9)} s`;
  return value >= 1e6 ? `${threeDigits(value / 1e6)} ms` : `${threeDigits(value / 1e3)} µs`;
}

/** The lower (0) or upper (1) end of a band. The last bucket has no upper end, so it is drawn up to twice its lower end. */
const bandEnd = (range, side) => range?.[side] === Infinity ? 2 * range[0] : range?.[side] ?? NaN;

/** Whether a value is a power of ten: only these get ticks on a logarithmic axis. */
const isPowerOfTen = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
const numberOrDash = (value) => (Number.isFinite(value) ? threeDigits(value) : "–");
const lineSpec = (name, label, colour) => ({ name, label, colour });
const quantileBands = (name) => [lineSpec(`${name}Max`, "max", "--i-warn"), lineSpec(`${name}99`, "p99", "--i-accent"), lineSpec(`${name}50`, "p50", "--i-good")];

/** The plots. A line has a value for each sample, a band a range. `source` names the event that brings the first value. */
const PLOT_SPECS = [
  { name: "operations", title: "Operations", unit: "per second, by outcome", lines: [lineSpec("ok", "ok", "--i-good"), lineSpec("unchanged", "unchanged", "--i-accent"), lineSpec("refused", "refused", "--i-bad")], format: numberOrDash, source: "the second reading of navd" },
  { name: "commit", title: "Commit", unit: "until records are durable", bands: quantileBands("commit"), format: durationText, source: "the next change of a nav" },
  { name: "fanout", title: "Fan-out", unit: "from there to the socket", bands: quantileBands("fanOut"), format: durationText, source: "the next change of a nav that a client watches" },
  { name: "batch", title: "Batch", unit: "records of a commit", bands: quantileBands("batch"), format: numberOrDash, isLinear: true, source: "the next change of a nav" },
  { name: "lag", title: "Lag", unit: "of watches", lines: [lineSpec("lagMax", "revisions behind, at most", "--i-bad"), lineSpec("lagging", "watches behind", "--i-accent")], format: numberOrDash, source: "the second reading of navd" },
];

/** The panel with the plots of the daemon's rates and latencies. */
export class PlotsPanel {
  #context;
  #note = el("p", { class: "note", "data-part": "plots-note" });
  #samples = new Samples();
  #plots = null;
  #plotContainer = el("div", { class: "plots" });
  #poll;
  #chart = null;
  #scriptLoad = null;
  #error = null;
  #mustRedraw = true;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#note, this.#plotContainer);
    this.#poll = new Poll(() => this.#readStatistics(), 1000, context.signal);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#plots?.forEach((plot) => plot.applyColours()), { signal: context.signal });
  }

  /** Reads statistics while the tab is open, and redraws the plots. */
  update() {
    const isOpen = this.#context.store.tab === "plots";
    const isRecording = this.#context.source.kind === "recording";
    this.#poll.setWanted(isOpen && !isRecording);
    if (!isOpen) return;
    writeText(this.#note, isRecording ? "Plots are not in a recording. The page of a daemon samples its rates and latencies here." : this.#noteText());
    this.#note.hidden = this.#note.textContent === "";
    if (isRecording) return;
    this.#scriptLoad ??= this.#loadChartScript(CHART_SCRIPT_URL);
    this.#plots ??= PLOT_SPECS.map((plot) => new Plot(this.#plotContainer, plot, this.#samples, () => this.#plots));
    if (!this.#mustRedraw) return;
    this.#mustRedraw = false;
    for (const plot of this.#plots) plot.draw(this.#chart);
  }

  #noteText() {
    if (this.#error) return errorText(this.#error);
    if (this.#scriptLoad && this.#chart === false) return "Chart.js is not there, so there are tables only.";
    return this.#samples.list.length ? "" : "The first sample comes after two seconds. Samples are kept for an hour while this tab is open.";
  }

  async #loadChartScript(address) {
    try {
      // An element for the script would need a policy of Trusted Types; an import does not.
      await import(address);
      this.#chart = globalThis["Chart"] ?? false;
    } catch {
      this.#chart = false;
    }
    this.#mustRedraw = true;
    this.#context.schedule();
  }

  async #readStatistics() {
    try {
      this.#samples.take(await this.#context.source.statistics(), Date.now());
      this.#error = null;
    } catch (error) {
      this.#error = error;
    }
    this.#mustRedraw = true;
    this.#context.schedule();
  }
}

/** One plot with its table. */
class Plot {
  #spec;
  #samples;
  #chartPlace = el("div", { class: "plot-place" });
  #canvas = el("canvas");
  #emptyNote;
  #tableBody = el("tbody");
  #tableDetails;
  #chart = null;

  constructor(root, spec, samples, allPlots) {
    this.#spec = spec;
    this.#samples = samples;
    const { name, title, unit, source } = spec;
    this.#emptyNote = el("p", { class: "note", "data-part": "plot-empty" }, `No value yet. It comes with ${source}.`);
    this.#chartPlace.append(this.#canvas, this.#emptyNote);
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", `${title}, ${unit}. The table below has the values.`);
    const heads = ["Time", ...(spec.lines ?? spec.bands).map(({ label }) => label)];
    this.#tableDetails = /** @type {HTMLDetailsElement} */ (el(
      "details", {}, el("summary", {}, `Table of the last ${OPEN_TABLE_ROWS} samples`),
      el("div", { class: "scroll", tabindex: "0" }, el("table", { "aria-label": title }, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))), this.#tableBody))));
    // One open table at a time bounds the size of the page.
    this.#tableDetails.addEventListener("toggle", () => {
      if (this.#tableDetails.open) for (const other of allPlots()) if (other !== this) other.close();
      this.#fillTable();
    });
    root.append(el("figure", { class: "plot", "data-plot": name }, el("h2", {}, title, el("span", {}, ` · ${unit}`)), this.#chartPlace, this.#tableDetails));
    new ResizeObserver(() => this.#chart?.resize(this.#chartPlace.clientWidth, this.#chartPlace.clientHeight)).observe(this.#chartPlace);
  }

  close() { this.#tableDetails.open = false; }

  /**
   * Draws the samples into the chart and the table.
   *
   * @param {any} Chart the constructor; false if it cannot be had, null before that is known
   */
  draw(Chart) {
    this.#chartPlace.hidden = Chart === false;
    if (Chart && !this.#chart && this.#chartPlace.clientWidth) this.#makeChart(Chart);
    this.#fillTable();
    const { list } = this.#samples;
    const { lines, bands: ranges } = this.#spec;
    // An axis without a value would show numbers of its own.
    this.#emptyNote.hidden = list.some((sample) => (lines ?? ranges).some(({ name }) => !Number.isNaN(sample[name] ?? NaN)));
    this.#canvas.hidden = !this.#emptyNote.hidden;
    if (!this.#chart) return;
    const sets = this.#chart.data.datasets;
    for (const [at, { name }] of (lines ?? []).entries()) sets[at].data = list.map((sample) => ({ x: sample.t, y: sample[name] }));
    for (const [at, { name }] of (ranges ?? []).entries()) {
      for (const side of [0, 1]) sets[2 * at + side].data = list.map((sample) => ({ x: sample.t, y: bandEnd(sample[name], side) }));
    }
    const newest = list.at(-1)?.t ?? Date.now();
    const { x } = this.#chart.options.scales;
    x.min = Math.min(list[0]?.t ?? newest, newest - 60_000);
    x.max = newest;
    this.#chart.update("none");
  }

  #fillTable() {
    const { lines, bands: ranges, format } = this.#spec;
    const cell = (sample, name) => {
      if (lines) return format(sample[name]);
      if (!sample[name]) return "–";
      const [low, high] = sample[name];
      return high === Infinity ? `more than ${format(low)}` : `${format(low)} – ${format(high)}`;
    };
    const rows = this.#samples.list.slice(this.#tableDetails.open ? -OPEN_TABLE_ROWS : -CLOSED_TABLE_ROWS).reverse();
    return this.#tableBody.replaceChildren(...rows.map((sample) => el(
      "tr", {}, el("td", {}, timeOfDay(sample.t)), ...(lines ?? ranges).map(({ name }) => el("td", {}, sample.isBreak ? "restart or gap" : cell(sample, name))))));
  }

  #makeChart(Chart) {
    const { lines, bands: ranges, format, isLinear } = this.#spec;
    const base = { parsing: false, pointRadius: 0, borderWidth: 1.5, spanGaps: false };
    // A band is its lower and its upper bound, and what is between is filled.
    const sets = lines
      ? lines.map(({ label }) => ({ ...base, label, data: [], isNamed: true }))
      : ranges.flatMap(({ label }) => [{ ...base, label, data: [], isNamed: true, borderWidth: 1 }, { ...base, label: `${label} to`, data: [], fill: "-1", borderWidth: 1, isNamed: false }]);
    this.#chart = new Chart(this.#canvas, {
      type: "line", data: { datasets: sets }, options: {
        responsive: false, maintainAspectRatio: false, animation: false, normalized: true, interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: { type: "linear", ticks: { maxTicksLimit: 5, maxRotation: 0, callback: (value) => timeOfDay(value) }, grid: {} },
          y: lines || isLinear ? { beginAtZero: true, suggestedMax: 1, ticks: { maxTicksLimit: 5, callback: (value) => numberText(value) }, grid: {} }
            : { type: "logarithmic", ticks: { maxTicksLimit: 5, callback: (value) => (isPowerOfTen(value) ? format(value) : null) }, grid: {} },
        },
        plugins: {
          legend: { align: "end", labels: { boxWidth: 10, boxHeight: 2, filter: (item, data) => data.datasets[item.datasetIndex].isNamed } },
          tooltip: { displayColors: false, callbacks: { title: ([item]) => (item ? timeWithMilliseconds(item.parsed.x) : ""), label: (item) => `${item.dataset.label} ${format(item.parsed.y)}` } },
        },
      },
    });
    this.#chart.resize(this.#chartPlace.clientWidth, this.#chartPlace.clientHeight);
    this.applyColours();
  }

  /** Sets the colours of the chart to those of the page. */
  applyColours() {
    if (!this.#chart) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const { lines, bands: ranges } = this.#spec;
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
