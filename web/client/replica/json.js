const encoder = new TextEncoder();

/** Writes JSON; throws a TypeError if navd could not read it, since the error of navd could not name the request. */
export function encode(value) {
  checkJSON(value, 0);
  return JSON.stringify(value);
}

export function checkJSON(value, depth) {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new TypeError("a text has a lone surrogate");
  }
  if (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)) return;
  const form = Object.getPrototypeOf(Object(value));
  // A plain object of another window has another `Object.prototype`.
  const isPlain = typeof value === "object" && (form === null || Object.getPrototypeOf(form) === null);
  if (!isPlain && !Array.isArray(value)) {
    const kind = typeof value;
    const name = kind === "object" ? form.constructor?.name : kind === "number" ? value : kind;
    throw new TypeError(`JSON has no ${name}; give null, a bool, a finite number, a text, a list or an object`);
  }
  if (depth > 31) throw new TypeError("objects and lists are nested more than 32 deep");
  for (const [key, member] of Object.entries(value)) {
    checkJSON(key, depth);
    // JSON leaves out a member that is undefined.
    if (member !== undefined || Array.isArray(value)) checkJSON(member, depth + 1);
  }
}

export function utf8(text) { return encoder.encode(text); }
