import { crc32 } from "./digest.js";
import { utf8 } from "./json.js";

/** The number of shards of a cluster. */
const SHARDS = 1024;

/** The newest row of each shard that a daemon has reported (docs/protocol.md, the core). */
export class SeenRows {
  #rows = new Map();
  #shards = 1;

  #shard(nav) { return crc32(utf8(nav)) % this.#shards; }

  /** The newest row of a nav's shard, 0 for none. */
  row(nav) { return nav === null ? 0 : this.#rows.get(this.#shard(nav)) ?? 0; }

  /** Notes the row of an answer or of a diff; a virtual nav has rows of all shards. */
  note(nav, row) {
    if (row !== undefined && !nav.startsWith("$")) this.noteRows([[this.#shard(nav), row]]);
  }

  /** Notes the rows of a mark. */
  noteRows(rows) {
    for (const [shard, row] of rows) {
      this.#rows.set(shard, Math.max(row, this.#rows.get(shard) ?? 0));
    }
  }

  /** Notes the rows of a welcome; after a crash there can be fewer. */
  begin(rows, isDivided) {
    this.#shards = isDivided ? SHARDS : 1;
    for (const [shard, row] of rows) this.#rows.set(shard, row);
  }
}
