// Bookmarks of revisions, and lists that a person adds to and takes from. Pure functions.

/** The maximum number of pins, and also of bookmarks, that the address of the page holds. */
export const MAXIMUM_ITEMS = 32;

/**
 * A bookmark as a text, such as `kiosk@08c13bc71017e8f4.42`. The text has no epoch if the journal does not name it.
 *
 * @param {{nav: string, epoch?: string|null, rev: number}} revision
 */
export function formatBookmark({ nav, epoch, rev }) {
  return `${nav}@${/^[^@.\s]+$/.test(epoch ?? "") ? epoch : ""}.${rev}`;
}

/** Reads a bookmark; null if the text is none. A name may contain `@` and dots. @param {string} text */
export function parseBookmark(text) {
  const [, nav, epoch, digits] = /^(.+)@([^@.\s]*)\.(\d{1,16})$/s.exec(text) ?? [];
  const rev = Number(digits);
  return nav && Number.isSafeInteger(rev) ? { nav, epoch: epoch || null, rev } : null;
}

/** The list with the item added, or removed if it was there; a full list drops its oldest item. @param {readonly string[]} list @param {string} item */
export function toggled(list, item) {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item].slice(-MAXIMUM_ITEMS);
}
