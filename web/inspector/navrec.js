// Reads the lines of a recording: gzip, base64 before that in a file of HTML, and UTF-8 JSON lines.

import { Slices } from "./slices.js";

/** How much is inflated before the lines are looked at: what a damaged piece would have given is lost. */
const PIECE = 16_384;
const BLOCK = 4 << 20;
/** A longer line cannot be a revision: navd stores at most 1 MiB for one. */
const LONGEST_LINE = 16 << 20;
/** 100,000 revisions have some 100 MB. A gzip file of 1 MB could have 1 GB. */
const MOST_OCTETS = 1 << 30;

/** A recording that cannot be read, wholly or from some line on. */
export class RecordingError extends Error {
  /** @param {string} code `format`, `version`, `truncated`, `damaged` or `size` @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = "RecordingError";
    this.code = code;
  }
}

/** Lines as octets, outside of the heap. */
export class Lines {
  length = 0;
  octets = 0;
  #blocks = [new Uint8Array(BLOCK)];
  #used = 0;
  /** Where the line that is not complete begins. */
  #open = 0;
  /** Block, start and size of each line. */
  #places = new Uint32Array(3 * 1024);
  #decoder = new TextDecoder("utf-8", { fatal: true });

  /** Appends octets of the file; the lines that they complete can be read. @param {Uint8Array} bytes */
  push(bytes) {
    this.octets += bytes.length;
    if (this.octets > MOST_OCTETS) throw new RecordingError("size", "The recording has more than 1 GiB.");
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(10, from);
      const to = end < 0 ? bytes.length : end;
      this.#add(bytes.subarray(from, to));
      if (end >= 0) this.#close();
      from = to + 1;
    }
  }

  /** Whether there are octets after the last line feed. */
  get hasRest() { return this.#used > this.#open; }

  /** Reads a line as JSON. @param {number} index */
  parse(index) {
    const [block, start, size] = this.#places.subarray(3 * index);
    return JSON.parse(this.#decoder.decode(this.#blocks[block].subarray(start, start + size)));
  }

  #add(bytes) {
    if (this.#used - this.#open + bytes.length > LONGEST_LINE) throw new RecordingError("size", "A line has more than 16 MiB.");
    let block = this.#blocks[this.#blocks.length - 1];
    if (this.#used + bytes.length > block.length) {
      const begun = block.subarray(this.#open, this.#used);
      block = new Uint8Array(Math.max(BLOCK, 2 * (begun.length + bytes.length)));
      block.set(begun);
      this.#blocks.push(block);
      [this.#open, this.#used] = [0, begun.length];
    }
    block.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #close() {
    if (3 * this.length === this.#places.length) {
      const places = new Uint32Array(2 * this.#places.length);
      places.set(this.#places);
      this.#places = places;
    }
    this.#places.set([this.#blocks.length - 1, this.#open, this.#used - this.#open], 3 * this.length++);
    this.#open = this.#used;
  }
}

/**
 * Inflates a gzip file into lines, and calls `onLines` after each piece.
 *
 * @param {AsyncIterable<Uint8Array>} pieces
 * @param {Lines} lines
 * @param {() => Promise<void>} onLines
 * @throws {RecordingError} if the file is no gzip file, or not a whole one. `onLines` had all lines before that.
 */
export async function inflate(pieces, lines, onLines) {
  const { readable, writable } = new (/** @type {any} */ (globalThis).DecompressionStream)("gzip");
  const writer = writable.getWriter();
  const written = feed(pieces, writer);
  // The reader fails too, and that is where it is handled.
  written.catch(() => {});
  const reader = readable.getReader();
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      await written.catch((reason) => { if (reason instanceof RecordingError) throw reason; });
      // Browsers report both in words only.
      const isCut = /truncat|unexpected end/i.test(error.message);
      throw new RecordingError(isCut ? "truncated" : "damaged", isCut ? "The file was cut off" : "The file is damaged, or no gzip file");
    }
    if (piece.done) return;
    lines.push(piece.value);
    await onLines();
  }
}

async function feed(pieces, writer) {
  try {
    for await (const bytes of pieces) {
      for (let from = 0; from < bytes.length; from += PIECE) await writer.write(bytes.subarray(from, from + PIECE));
    }
    // An error at the end drops what is not read yet. This waits until all is read.
    await writer.write(new Uint8Array());
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

/** The octets of a text in base64, in pieces. @param {string} text @param {(share: number) => void} onProgress */
export async function* piecesOfText(text, onProgress) {
  const slices = new Slices();
  let rest = "";
  for (let from = 0; from < text.length; from += 65_536) {
    const part = rest + text.slice(from, from + 65_536).replace(/\s+/g, "");
    const whole = part.length - part.length % 4;
    rest = part.slice(whole);
    yield octetsOf(part.slice(0, whole));
    onProgress(Math.min(1, (from + 65_536) / text.length));
    if (slices.isOver) await slices.rest();
  }
  if (rest) yield octetsOf(rest);
}

function octetsOf(base64) {
  let text;
  try {
    text = atob(base64);
  } catch {
    throw new RecordingError("damaged", "The recording in this file is no base64.");
  }
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The octets of a file, in pieces. @param {Blob} file @param {(share: number) => void} onProgress */
export async function* piecesOfFile(file, onProgress) {
  const reader = file.stream().getReader();
  let read = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
    read += value.length;
    onProgress(read / file.size);
  }
}
