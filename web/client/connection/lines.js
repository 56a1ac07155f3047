/** Divides octets into lines; a line may come in pieces, and a character too. */
export class LineReader {
  #incompleteLine = new Uint8Array();

  /** Returns the lines that are complete, as octets without the LF. */
  push(bytes) {
    const all = new Uint8Array(this.#incompleteLine.length + bytes.length);
    all.set(this.#incompleteLine);
    all.set(bytes, this.#incompleteLine.length);
    const lines = [];
    let start = 0;
    for (let end; (end = all.indexOf(10, start)) >= 0; start = end + 1) {
      lines.push(all.subarray(start, end));
    }
    this.#incompleteLine = all.subarray(start);
    return lines;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads a line `["verb",BODY]`; `octets` is the length of BODY. Throws if it is none. */
export function decode(line) {
  const [verb, body] = JSON.parse(decoder.decode(line));
  const isMessage = typeof verb === "string" && body !== null && typeof body === "object";
  if (!isMessage) throw new SyntaxError("not a message");
  return { verb, body: freezeWithoutPrototypes(body), octets: line.length - verb.length - 5 };
}

/**
 * Freezes a JSON value and removes the prototypes of its objects.
 *
 * Other clients choose many of the keys. In an object without a prototype, `__proto__` is a key like any other.
 */
function freezeWithoutPrototypes(value) {
  if (value === null || typeof value !== "object") return value;
  for (const member of Object.values(value)) freezeWithoutPrototypes(member);
  return Object.freeze(Array.isArray(value) ? value : Object.setPrototypeOf(value, null));
}

