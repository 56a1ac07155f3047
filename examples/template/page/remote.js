// The remote: shows where the kiosk is, and changes it. Each tap carries the state that its user saw.
import { Guard, launchToken, NavigationClient } from "/navigation-client.js";

const nav = new URLSearchParams(location.search).get("nav") ?? "kiosk";
const [title, place, message, position] = ["h1", "#place", "#message", "small"].map((each) => document.querySelector(each));
const [back, news, home] = document.querySelectorAll("button");
const client = new NavigationClient({ token: await launchToken(), name: "remote" });
let seen = null;
back.onclick = () => tap({ "ui.backTap": {} }, { ...Guard.top(seen), ...Guard.visible(seen) });
news.onclick = () => tap({ open: { route: "news" } }, Guard.stack(seen));
home.onclick = () => tap({ popToRoot: {} }, Guard.stack(seen));

async function tap(operation, guard) {
  draw("");
  await client.perform(nav, [operation], { if: guard, within: 2000 })
    .catch((error) => draw(error.code === "desync" ? "The kiosk has changed. Look, then tap again." : error.message));
}

function draw(text) {
  if (text !== undefined) message.textContent = text;
  for (const each of [back, news, home]) each.disabled = !seen || client.status !== "connected";
  if (!seen) return;
  back.disabled ||= !seen.bar?.left.some((slot) => slot.back);
  title.textContent = seen.visible?.title ?? "Nothing";
  place.textContent = seen.screens.map((screen) => screen.title ?? screen.id).join(" › ");
  position.textContent = `revision ${seen.rev} · ${seen.dig.slice(0, 8)}`;
}

(async () => { for await (const status of client.statuses()) draw(status === "disconnected" ? "Connection lost" : ""); })();
for await (seen of client.watch(nav, { wait: true })) draw();
