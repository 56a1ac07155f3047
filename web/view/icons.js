// Pictures are drawn from this table only. The `ref` of an image is a name here, never an address.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

// Strokes on a grid of 24 units.
const ICON_PATHS = {
  chevron: ["M15 4 L7 12 L15 20"],
  disclosure: ["M9 5 L16 12 L9 19"],
  info: ["M12 2.5 a9.5 9.5 0 1 0 .01 0", "M12 11 V17", "M12 7 V7.2"],
  gear: ["M12 8.6 a3.4 3.4 0 1 0 .01 0", "M12 2.6 v3 M12 18.4 v3 M2.6 12 h3 M18.4 12 h3 M5.4 5.4 l2.1 2.1 M16.5 16.5 l2.1 2.1 M5.4 18.6 l2.1 -2.1 M16.5 7.5 l2.1 -2.1"],
  wifi: ["M2.5 9.5 a13.5 13.5 0 0 1 19 0", "M6 13 a8.5 8.5 0 0 1 12 0", "M9.5 16.5 a3.6 3.6 0 0 1 5 0", "M12 19.6 v.1"],
  globe: ["M12 2.5 a9.5 9.5 0 1 0 .01 0", "M2.5 12 h19", "M12 2.5 c5 5 5 14 0 19 c-5 -5 -5 -14 0 -19"],
  moon: ["M20 14.5 A8.5 8.5 0 1 1 9.5 4 a6.6 6.6 0 0 0 10.5 10.5 z"],
  sun: ["M12 7.5 a4.5 4.5 0 1 0 .01 0", "M12 1.8 v2.4 M12 19.8 v2.4 M1.8 12 h2.4 M19.8 12 h2.4 M4.8 4.8 l1.7 1.7 M17.5 17.5 l1.7 1.7 M4.8 19.2 l1.7 -1.7 M17.5 6.5 l1.7 -1.7"],
  bluetooth: ["M6.5 7.5 L17 16.5 L12 21 V3 L17 7.5 L6.5 16.5"],
  link: ["M10 14 a4 4 0 0 0 6 .3 l3.2 -3.2 a4 4 0 0 0 -5.7 -5.7 L12 7", "M14 10 a4 4 0 0 0 -6 -.3 L4.8 12.9 a4 4 0 0 0 5.7 5.7 L12 17"],
  screen: ["M3 4.5 h18 v12 H3 z", "M8.5 20 h7"],
  pencil: ["M4 20 l1 -4.5 L16.5 4 l3.5 3.5 L8.5 19 z", "M14 6.5 l3.5 3.5"],
  lock: ["M5.5 10.5 h13 v10 h-13 z", "M8 10.5 V7.5 a4 4 0 0 1 8 0 v3"],
  check: ["M4.5 12.5 L10 18 L19.5 6.5"],
  plus: ["M12 4 V20", "M4 12 H20"],
  minus: ["M4 12 H20"],
  erase: ["M9 5 H21 V19 H9 L2.5 12 z", "M12 9 l6 6 M18 9 l-6 6"],
  window: ["M4 8 h12 v12 H4 z", "M8 8 V4 h12 v12 h-4"],
  cross: ["M5 5 L19 19", "M19 5 L5 19"],
  refresh: ["M20 12 a8 8 0 1 1 -2.4 -5.7", "M20.5 2.8 V7 H16.2"],
  search: ["M10.5 3.5 a7 7 0 1 0 .01 0", "M15.8 15.8 L21 21"],
  trash: ["M4 6.5 h16", "M9 6.5 V3.5 h6 v3", "M6 6.5 l1 14 h10 l1 -14"],
  share: ["M12 15 V3", "M7.5 7 L12 2.8 L16.5 7", "M7 11 H5 v10 h14 V11 h-2"],
  compose: ["M13 4.5 H5 V20 h15 v-8", "M10 14 l.8 -3 L19 2.8 l2.4 2.4 L13 13.4 z"],
  reply: ["M10 5 L3.5 11.5 L10 18 M3.5 11.5 H14 a6.5 6.5 0 0 1 6.5 6.5"],
  folder: ["M3 5.5 h6.5 l2 2.5 H21 v11 H3 z"],
  book: ["M12 6 c-3 -2 -6 -2 -9 -1 v14 c3 -1 6 -1 9 1 c3 -2 6 -2 9 -1 V5 c-3 -1 -6 -1 -9 1 z M12 6 V20"],
  camera: ["M3 7.5 h4.5 l1.5 -3 h6 l1.5 3 H21 V19.5 H3 z", "M12 9.6 a3.6 3.6 0 1 0 .01 0"],
  play: ["M6.5 4 L19.5 12 L6.5 20 z"],
  pause: ["M8 4.5 V19.5 M16 4.5 V19.5"],
  rewind: ["M12 5 L4 12 L12 19 z M21 5 L13 12 L21 19 z"],
  forward: ["M12 5 L20 12 L12 19 z M3 5 L11 12 L3 19 z"],
  undo: ["M8 4 L3.5 8.5 L8 13 M3.5 8.5 H14.5 a5.5 5.5 0 0 1 0 11 H9"],
  redo: ["M16 4 L20.5 8.5 L16 13 M20.5 8.5 H9.5 a5.5 5.5 0 0 0 0 11 H15"],
};

/** Whether there is an icon with this name. */
export const hasIcon = (name) => typeof name === "string" && Object.hasOwn(ICON_PATHS, name);

/** Draws an icon. It is hidden from screen readers, which read the label of its button. */
export function icon(name, key = null) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  if (key) svg.setAttribute("data-key", key);
  for (const shape of ICON_PATHS[name]) {
    const path = document.createElementNS(SVG_NAMESPACE, "path");
    path.setAttribute("d", shape);
    svg.append(path);
  }
  return svg;
}

// System items that are a word, and those that are a picture with a word for screen readers.
const SYSTEM_ITEM_TITLES = { done: "Done", cancel: "Cancel", edit: "Edit", save: "Save", undo: "Undo", redo: "Redo", close: "Close" };
const SYSTEM_ITEM_ICONS = {
  add: ["plus", "Add"], compose: ["compose", "Compose"], reply: ["reply", "Reply"], action: ["share", "Share"], organize: ["folder", "Organize"],
  bookmarks: ["book", "Bookmarks"], search: ["search", "Search"], refresh: ["refresh", "Refresh"], stop: ["cross", "Stop"],
  camera: ["camera", "Camera"], trash: ["trash", "Delete"], play: ["play", "Play"], pause: ["pause", "Pause"],
  rewind: ["rewind", "Rewind"], fastForward: ["forward", "Fast forward"],
};

/**
 * How the page draws a button of a bar: as a text, as an icon with a label, or as a space.
 *
 * @param {object} slot a button of `resolved`
 * @returns {{space?: "fixed"|"flexible", picture?: string, text?: string, label?: string}}
 */
export function buttonFace(slot) {
  if (slot.customView !== undefined) return { text: customViewText(slot.customView) };
  if (slot.image !== undefined) {
    return hasIcon(slot.image) ? { picture: slot.image, label: slot.title ?? slot.image } : { text: slot.title ?? slot.image };
  }
  if (slot.title !== undefined) return { text: slot.title };
  if (slot.systemItem === "flexibleSpace") return { space: "flexible" };
  if (slot.systemItem === "fixedSpace") return { space: "fixed" };
  const item = slot.systemItem ?? "";
  if (Object.hasOwn(SYSTEM_ITEM_ICONS, item)) return { picture: SYSTEM_ITEM_ICONS[item][0], label: SYSTEM_ITEM_ICONS[item][1] };
  return { text: (Object.hasOwn(SYSTEM_ITEM_TITLES, item) ? SYSTEM_ITEM_TITLES[item] : item) || slot.button };
}

/** The text that this page shows for a custom view, which is any JSON. */
export function customViewText(view) {
  if (typeof view === "string") return view;
  if (view && typeof view === "object") {
    for (const name of ["title", "text", "name", "view"]) if (typeof view[name] === "string") return view[name];
  }
  return JSON.stringify(view);
}
