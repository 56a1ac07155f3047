// Reads the lines of a recording: gzip, base64 before that in a file of HTML, and UTF-8 JSON lines.

import { WorkSlices } from "./slices.js";

/** How many compressed octets are inflated at once: if they are damaged, all lines in them are lost. */
const PIECE_OCTETS = 16_384;
const BLOCK_OCTETS = 4 << 20;
/** The maximum of octets in a line; navd stores at most 1 MiB for a revision. */
const MAXIMUM_LINE_OCTETS = 16 << 20;
/** The maximum of inflated octets: 100,000 revisions have some 100 MB, but a gzip file of 1 MB can inflate to 1 GB. */
const MAXIMUM_RECORDING_OCTETS = 1 << 30;

/** The reason why a recording cannot be read, as a whole or from some line on. */
export class RecordingError extends Error {
  /** @param {string} code `format`, `version`, `truncated`, `damaged` or `size` @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = "RecordingError";
    this.code = code;
  }
}

/** The lines of a recording as octets in large arrays, which the garbage collector need not scan. */
export class RecordingLines {
  length = 0;
  octetCount = 0;
  #blocks = [new Uint8Array(BLOCK_OCTETS)];
  #usedOctets = 0;
  /** The offset in the last block at which the incomplete line begins. */
  #openLineStart = 0;
  /** Three numbers for each line: its block, its offset there and its size in octets. */
  #linePlaces = new Uint32Array(3 * 1024);
  #decoder = new TextDecoder("utf-8", { fatal: true });

  /** Appends octets of the file; `parse` can then read the lines that they complete. @param {Uint8Array} bytes */
  push(bytes) {
    this.octetCount += bytes.length;
    if (this.octetCount > MAXIMUM_RECORDING_OCTETS) throw new RecordingError("size", "The recording has more than 1 GiB.");
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(10, from);
      const to = end < 0 ? bytes.length : end;
      this.#appendToLine(bytes.subarray(from, to));
      if (end >= 0) this.#endLine();
      from = to + 1;
    }
  }

  /** Whether there are octets after the last line feed. */
  get hasRest() { return this.#usedOctets > this.#openLineStart; }

  /** Reads a line as JSON. @param {number} index */
  parse(index) {
    const [block, start, size] = this.#linePlaces.subarray(3 * index);
    return JSON.parse(this.#decoder.decode(this.#blocks[block].subarray(start, start + size)));
  }

  #appendToLine(bytes) {
    if (this.#usedOctets - this.#openLineStart + bytes.length > MAXIMUM_LINE_OCTETS) throw new RecordingError("size", "A line has more than 16 MiB.");
    let block = this.#blocks[this.#blocks.length - 1];
    if (this.#usedOctets + bytes.length > block.length) {
      const begun = block.subarray(this.#openLineStart, this.#usedOctets);
      block = new Uint8Array(Math.max(BLOCK_OCTETS, 2 * (begun.length + bytes.length)));
      block.set(begun);
      this.#blocks.push(block);
      [this.#openLineStart, this.#usedOctets] = [0, begun.length];
    }
    block.set(bytes, this.#usedOctets);
    this.#usedOctets += bytes.length;
  }

  #endLine() {
    if (3 * this.length === this.#linePlaces.length) {
      const places = new Uint32Array(2 * this.#linePlaces.length);
      places.set(this.#linePlaces);
      this.#linePlaces = places;
    }
    this.#linePlaces.set([this.#blocks.length - 1, this.#openLineStart, this.#usedOctets - this.#openLineStart], 3 * this.length++);
    this.#openLineStart = this.#usedOctets;
  }
}

/**
 * Inflates a gzip file into lines, and calls `onLines` after each piece.
 *
 * @param {AsyncIterable<Uint8Array>} pieces
 * @param {RecordingLines} lines
 * @param {() => Promise<void>} onLines
 * @throws {RecordingError} if the file is no gzip file, or not a whole one. `onLines` has had all lines before the fault.
 */
export async function inflate(pieces, lines, onLines) {
  const { readable, writable } = new (/** @type {any} */ (globalThis).DecompressionStream)("gzip");
  const writer = writable.getWriter();
  const written = feedDecompressor(pieces, writer);
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

async function feedDecompressor(pieces, writer) {
  try {
    for await (const bytes of pieces) {
      for (let from = 0; from < bytes.length; from += PIECE_OCTETS) await writer.write(bytes.subarray(from, from + PIECE_OCTETS));
    }
    // An error at the end drops what is not read yet. This waits until all is read.
    await writer.write(new Uint8Array());
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

/** Decodes a base64 text and yields its octets in pieces. @param {string} text @param {(share: number) => void} onProgress */
export async function* base64Pieces(text, onProgress) {
  const slices = new WorkSlices();
  let rest = "";
  for (let from = 0; from < text.length; from += 65_536) {
    const part = rest + text.slice(from, from + 65_536).replace(/\s+/g, "");
    const whole = part.length - part.length % 4;
    rest = part.slice(whole);
    yield decodeBase64(part.slice(0, whole));
    onProgress(Math.min(1, (from + 65_536) / text.length));
    if (slices.isOver) await slices.nextSlice();
  }
  if (rest) yield decodeBase64(rest);
}

function decodeBase64(base64) {
  let text;
  try {
    text = atob(base64);
  } catch {
    throw new RecordingError("damaged", "The recording in this file is no base64.");
  }
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Reads a file and yields its octets in pieces. @param {Blob} file @param {(share: number) => void} onProgress */
export async function* filePieces(file, onProgress) {
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
