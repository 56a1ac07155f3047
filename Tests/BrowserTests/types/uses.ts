// Right uses of the client: each must compile as it stands, with every check of the compiler.

import {
  Guard, NavigationClient, NavigationError, launchToken,
  type ClientOptions, type Guards, type Lease, type NavigationState, type Question, type Reply, type Status,
} from "/navigation-client.js";

const leaving = new AbortController();
const { signal } = leaving;
const options: ClientOptions = {
  url: location.origin, token: await launchToken({ url: location.origin }), name: "uses",
  window: 65536, hb: 5000, signal,
};
const client: NavigationClient = await NavigationClient.connect(options);
const later = new NavigationClient({ token: null });
const status: Status = later.status;

const state: NavigationState = await client.state("kiosk", { signal });
const guards: Guards = { ...Guard.top(state), ...client.guards.visible(state), has: ["home"] };
const reply: Reply = await client.perform("kiosk", [{ "nav.create": { root: { id: "home" } } }, { attach: {} }], {
  if: guards, animated: true, onBusy: "queue", within: 2000, due: 1, signal,
  onQueued: (position) => console.info(position.toFixed()),
});
await client.perform("kiosk", [{ popToRoot: {} }], { if: Guard.override });
await client.pop(state, { result: { network: ["attic", null, 5] }, within: 100 });

for await (const each of client.watch("kiosk", { everyRevision: true, signal })) {
  const title: string | undefined = each.top?.title;
  const transition: number | undefined = each.parts.transition?.tid;
  for (const { didPush } of each.ev) console.info(title, transition, didPush?.screen, each.by?.name, each.bar.left);
}
for await (const each of client.watch("kiosk", { view: "bar" })) console.info(each.rev, each.value.middle);
for await (const each of client.statuses()) if (each === "waiting") break;

const stop: () => void = await client.delegate("kiosk", { roles: ["veto", "animator"] },
  async (question: Question) => question.kind === "shouldPush" || question.deadline > performance.now());
const lease: Lease = await client.lease("kiosk", { force: true });
lease.lost.then(({ code, owner }) => console.info(code, owner));
const log = await client.get("kiosk", { what: "log", from: 1, limit: 10, within: 1000, signal });
const daemon = await client.get(null, { what: "stats" });
console.info(reply.out[0].popped, status, log.value, daemon.value, await client.result("kiosk", "picker", { signal }));

try {
  await client.perform("kiosk", [{ pop: {} }]);
} catch (error) {
  if (!(error instanceof NavigationError)) throw error;
  const { code, retry, after, top, since, index } = error;
  const pause = retry === "later" ? after ?? 0 : 0;
  console.info(code, pause, top, since?.by?.name, index, error.mayHaveHappened, error.effect === "unknown");
}
stop();
lease.release();
await client.close();
