import { utf8 } from "./json.js";

/** The records beside the screens of a stack, in the order of the digest. */
export const PART_NAMES = Object.freeze(
  ["bar", "toolbar", "presented", "transition", "environment", "settings"]);

/**
 * The first 8 digits of a state's digest: CRC-32 over the ids and versions (the core of the protocol).
 *
 * @param {{id: string, ver: number}[]} screens
 * @param {object} parts the six parts by name; a virtual nav has none
 * @returns {string} 8 lower-case hex digits
 */
export function checksum(screens, parts = {}) { return updateChecksums([], screens, parts, 0); }

/**
 * Computes the checksum after a change that did not touch the screens below `firstChanged`.
 *
 * `sums` has the checksum of the lines up to and including each screen, and is brought up to date.
 */
export function updateChecksums(sums, screens, parts, firstChanged) {
  sums.length = Math.min(firstChanged, sums.length, screens.length);
  let sum = sums.at(-1) ?? 0;
  for (let index = sums.length; index < screens.length; index++) {
    const { id, ver } = screens[index];
    sum = crc32(utf8(`${index ? "\n" : ""}${id}@${ver}`), sum);
    sums.push(sum);
  }
  const lines = PART_NAMES.filter((name) => parts[name]).map((name) => `:${name}@${parts[name].ver}`);
  const rest = (screens.length && lines.length ? "\n" : "") + lines.join("\n");
  return crc32(utf8(rest), sum).toString(16).padStart(8, "0");
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let rest = index;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** CRC-32 as in zlib, continued from an earlier sum. */
export function crc32(bytes, sum = 0) {
  let rest = ~sum;
  for (const byte of bytes) rest = CRC_TABLE[(rest ^ byte) & 0xff] ^ (rest >>> 8);
  return ~rest >>> 0;
}
