// The client of navd for pages in a browser: NSP/1 over HTTP (docs/protocol.md, §16).
//
// Read from `client.js`: `NavigationClient` is the shell, with fetch and locks in `connection` and
// timers in `engine.js`. It decides nothing. `Cluster`, `Session` and `Mirror` in `replica`, and
// `Outbox`, decide everything; they take events with the time and have neither clock nor I/O.

export { NavigationClient } from "./client.js";
export { decode, LineReader } from "./connection/lines.js";
export { Outbox } from "./connection/outbox.js";
export { NavigationError } from "./errors.js";
export { Guard } from "./guards.js";
export { launchToken } from "./launch.js";
export { Cluster } from "./replica/cluster.js";
export { checksum } from "./replica/digest.js";
export { Mirror } from "./replica/mirror.js";
export { Session } from "./replica/session.js";
