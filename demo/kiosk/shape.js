// The shape of the device: a panel that lies, one that stands, or a phone. In a small window the device is the window.

const HAS_ROOM = matchMedia("(min-width: 720px) and (min-height: 430px)");

/** Whether the device is as large as a tablet, whatever the points of its window are. */
export const isPanel = () => ["landscape", "portrait"].includes(document.documentElement.dataset.shape);

/**
 * Keeps the shape that a person chose, and the text size of the browser, in the style of the page.
 *
 * @param {HTMLFieldSetElement} choice radio buttons, each with a shape as its value
 * @param {HTMLElement} probe an element that is 10 rem wide
 */
export function keepShape(choice, probe) {
  const { dataset, style } = document.documentElement;
  const radios = /** @type {HTMLInputElement[]} */ ([...choice.querySelectorAll("input")]);
  let chosen = new URLSearchParams(location.search).get("shape");
  const follow = () => {
    if (!radios.some(({ value }) => value === chosen)) chosen = null;
    const shape = chosen ?? (innerWidth < innerHeight ? "portrait" : "landscape");
    for (const radio of radios) radio.checked = radio.value === shape;
    dataset.shape = HAS_ROOM.matches ? shape : "window";
  };
  choice.addEventListener("change", (event) => {
    chosen = /** @type {HTMLInputElement} */ (event.target).value;
    follow();
  });
  addEventListener("resize", follow);
  new ResizeObserver(() => {
    const text = probe.offsetWidth / 160;
    style.setProperty("--text", String(text));
    dataset.text = text > 1.3 ? "large" : "usual";
  }).observe(probe);
  follow();
}
