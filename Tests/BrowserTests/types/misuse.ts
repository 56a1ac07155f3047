// Wrong uses of the client: the compiler must refuse the line after each `@ts-expect-error`.

import { Guard, Mirror, NavigationClient, NavigationError, launchToken } from "/navigation-client.js";
import type { Guards, LatestValue, PerformOptions, Question, Status } from "/navigation-client.js";

declare const client: NavigationClient;
declare const bar: LatestValue;
const state = await client.state("kiosk");

// Options.
// @ts-expect-error - misspelt
await NavigationClient.connect({ tokens: "abc" });
// @ts-expect-error - a page without a token is refused
await NavigationClient.connect();
// @ts-expect-error - a number, not a text
new NavigationClient({ token: null, hb: "5s" });
// @ts-expect-error - misspelt, so that the guard would be missing
await client.perform("kiosk", [{ pop: {} }], { iff: Guard.top(state) });
// @ts-expect-error - misspelt
client.watch("kiosk", { everyrevision: true });
// @ts-expect-error - there is no such view
client.watch("kiosk", { view: "toolbar" });
// @ts-expect-error - `state` reads no views
await client.state("kiosk", { view: "bar" });
// @ts-expect-error - misspelt
await client.get("kiosk", { whta: "log" });
// @ts-expect-error - a signal, not its controller
await client.state("kiosk", { signal: new AbortController() });
// @ts-expect-error - not a way to wait
const busy: PerformOptions = { onBusy: "wait" };
// @ts-expect-error - misspelt
await launchToken({ uri: location.origin });

// Arguments.
// @ts-expect-error - no nav
await client.state();
// @ts-expect-error - no nav
client.watch({ everyRevision: true });
// @ts-expect-error - only `get` reads the daemon itself
await client.perform(null, [{ pop: {} }]);
// @ts-expect-error - a list of operations, not one
await client.perform("kiosk", { pop: {} });
// @ts-expect-error - misspelt
await client.perform("kiosk", [{ popp: {} }]);
// @ts-expect-error - there is no such value
await client.get("kiosk", { what: "logs" });
// @ts-expect-error - the names of operations without their arguments
await client.perform("kiosk", ["pop"]);
// @ts-expect-error - the state that the user saw, not the name of the nav
await client.pop("kiosk");
// @ts-expect-error - a result is JSON
await client.pop(state, { result: () => 1 });
// @ts-expect-error - no screen
await client.result("kiosk");
// @ts-expect-error - no function that answers
await client.delegate("kiosk", { roles: ["veto"] });
// @ts-expect-error - there is no such role
await client.delegate("kiosk", { roles: ["vote"] }, () => true);
// @ts-expect-error - roles are a list
await client.delegate("kiosk", { roles: "veto" }, () => true);

// Guards.
// @ts-expect-error - from a state, not from a screen
Guard.top(state.top);
// @ts-expect-error - from a full state, not from a value of a view
Guard.top(bar);
// @ts-expect-error - a member that the protocol has not
const unknown: Guards = { topp: "home" };
// @ts-expect-error - `any` is true or absent
const never: Guards = { any: false };
// @ts-expect-error - frozen
Guard.override.any = true;
// @ts-expect-error - fixed
Guard.override = {};

// What the client gives is frozen.
// @ts-expect-error - the list of screens
state.screens.push({ id: "a", ver: 1 });
// @ts-expect-error - a screen
state.screens[0].title = "Home";
// @ts-expect-error - the revision
state.rev += 1;
// @ts-expect-error - a part
state.parts.bar = { ver: 1 };
// @ts-expect-error - the status
client.status = "closed";
// @ts-expect-error - an error's code
new NavigationError("desync", "no").code = "ok";
// @ts-expect-error - a mirror's state
new Mirror("kiosk").state = null;

// What may be missing.
// @ts-expect-error - an empty stack has no top
state.top.id;
// @ts-expect-error - a directory has no parts
state.parts.transition.ver;
// @ts-expect-error - there is no such status
const status: Status = "open";
// @ts-expect-error - there is no such comparison
if (client.status === "online") console.info(status);
// @ts-expect-error - a function that ends the roles, not a promise of its end
(await client.delegate("kiosk", { roles: ["veto"] }, (question: Question) => question.askk)).then();
// @ts-expect-error - a misspelt member of a question
await client.delegate("kiosk", { roles: ["veto"] }, ({ detail }) => detail);
// @ts-expect-error - `lost` is a promise
(await client.lease("kiosk")).lost.code;
// @ts-expect-error - `close` gives no value
const closed: boolean = await client.close();
console.info(busy, unknown, never, closed);
