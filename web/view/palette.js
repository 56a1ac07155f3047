// Colours come from clients. Only the forms below reach the style of an element.

// Names that follow the light or the dark scheme. Their values are custom properties in colours.css.
const SCHEME_COLOURS = new Set(["blue", "green", "indigo", "orange", "pink", "purple", "red", "teal", "yellow", "gray"]);
const PLAIN_COLOURS = new Set([
  "black", "white", "silver", "maroon", "olive", "lime", "aqua", "navy", "fuchsia", "brown", "cyan", "magenta", "gold", "crimson",
  "coral", "salmon", "tomato", "khaki", "plum", "orchid", "violet", "skyblue", "steelblue", "slategray", "darkgreen", "darkblue",
  "darkred", "beige", "ivory", "lavender",
]);
const HEX_PATTERN = /^#(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/;
const RGB_PATTERN = /^rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,\s*(0|1|0?\.\d{1,4})\s*)?\)$/;

/** Returns a CSS colour for a text of a client, or null if the text has none of the allowed forms. */
export function cssColour(text) {
  if (typeof text !== "string" || text.length > 64) return null;
  const word = text.trim().toLowerCase();
  if (word === "clear" || word === "transparent") return "transparent";
  if (word === "grey") return "var(--gray)";
  if (SCHEME_COLOURS.has(word)) return `var(--${word})`;
  if (PLAIN_COLOURS.has(word) || HEX_PATTERN.test(word)) return word;
  const parts = RGB_PATTERN.exec(word);
  if (!parts) return null;
  const [red, green, blue] = parts.slice(1, 4).map(Number);
  if (Math.max(red, green, blue) > 255) return null;
  return `rgb(${red} ${green} ${blue} / ${parts[4] ?? 1})`;
}

/** Sets a custom property to an allowed colour; removes it otherwise. */
export function setColour(element, property, text) {
  const value = cssColour(text);
  if (value === null) element.style.removeProperty(property);
  else element.style.setProperty(property, value);
}

/**
 * The colours of the bar and its texts, from `resolved`; null for the colour of the light or dark scheme.
 *
 * navd describes the default bar as black on white; this page draws that pair in the colours of its
 * scheme. A client has chosen any other pair, and the page draws it as it is.
 *
 * @param {object} bar `resolved`
 * @param {object|null} object the appearance object that applies, if one does
 */
export function barColours(bar, object) {
  const tint = bar.tintColor ?? "blue";
  if (bar.appearance) {
    const clear = bar.appearance.transparent;
    return { background: clear ? "clear" : object?.background ?? null, text: object?.titleColor ?? null, tint, shadow: clear ? "clear" : object?.shadow ?? null };
  }
  const isDefault = bar.background === "white" && bar.textColor === "black";
  return {
    background: isDefault ? null : bar.background ?? null,
    text: isDefault ? null : bar.textColor ?? null,
    tint,
    shadow: bar.shadow?.none ? "clear" : null,
  };
}
