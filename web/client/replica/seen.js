import { crc32 } from "./digest.js";
import { utf8 } from "./json.js";

/** The number of shards of a cluster. */
const SHARD_COUNT = 1024;

/** The newest row of each shard that a daemon has reported (docs/protocol.md, the core). */
export class SeenJournalRows {
  #newestByShard = new Map();
  #shardCount = 1;

  #shard(nav) { return crc32(utf8(nav)) % this.#shardCount; }

  /** The newest row of a nav's shard, 0 for none. */
  row(nav) { return nav === null ? 0 : this.#newestByShard.get(this.#shard(nav)) ?? 0; }

  /** Notes the row of an answer or of a diff; a virtual nav has rows of all shards. */
  noteRow(nav, row) {
    if (row !== undefined && !nav.startsWith("$")) this.noteRows([[this.#shard(nav), row]]);
  }

  /** Notes the rows of a mark. */
  noteRows(rows) {
    for (const [shard, row] of rows) {
      this.#newestByShard.set(shard, Math.max(row, this.#newestByShard.get(shard) ?? 0));
    }
  }

  /** Notes the rows of a welcome. */
  receiveWelcome(rows, isOneOfSeveral) {
    this.#shardCount = isOneOfSeveral ? SHARD_COUNT : 1;
    this.noteRows(rows);
  }
}
