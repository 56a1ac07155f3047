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
    if (row === undefined || nav.startsWith("$")) return;
    this.#newestByShard.set(this.#shard(nav), Math.max(row, this.row(nav)));
  }

  /** Notes the rows of a mark; after a loss there can be fewer. */
  noteRows(rows) { for (const [shard, row] of rows) this.#newestByShard.set(shard, row); }

  /** Notes the rows of a welcome; of other shards, rows may have been lost since. */
  receiveWelcome(rows, isOneOfSeveral) {
    this.#shardCount = isOneOfSeveral ? SHARD_COUNT : 1;
    this.#newestByShard = new Map(rows);
  }
}
