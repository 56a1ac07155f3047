"""The kiosk in a browser, and what a person does with it."""
import itertools

from selenium.webdriver.common.keys import Keys

from harness import TOKENS, eventually

# Runs before the page's own scripts.
WITNESS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
window.moved = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  moved.push(...frames.flatMap((frame) => Object.keys(frame)));
  return animate.call(this, frames, options);
};
"""


class Kiosk:
    """The kiosk in a browser, on a nav of its own."""

    numbers, openings = itertools.count(1), itertools.count(1)

    def __init__(self, driver, daemon, gateway):
        self.driver, self.daemon, self.gateway, self.nav = driver, daemon, gateway, None
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITNESS})

    def size(self, width, height, scale=1):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})
        # The page learns of it in a later frame, and moves what a test clicks on.
        self.frames()

    def frames(self):
        """Waits for two frames."""
        self.driver.execute_async_script("""
          const done = arguments[0];
          requestAnimationFrame(() => requestAnimationFrame(() => done()));""")

    def prefer(self, **features):
        """Sets media features, such as prefers_reduced_motion="reduce"."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def open(self, who="alice", *, nav=None, create=True, wait=True, query=""):
        self.nav = nav or f"kiosk/{next(self.numbers)}"
        if create:
            self.daemon.control.create(self.nav)
        # By its query it is another document. A blank page in between would take a process of its own.
        self.driver.get(f"http://{self.gateway.host}/?nav={self.nav}&opening={next(self.openings)}{query}#t={TOKENS[who]}")
        if wait:
            self.settled()

    def page(self):
        return self.driver.execute_script("return {...document.documentElement.dataset}")

    def position(self):
        rev, digest = self.daemon.control.position(self.nav)
        return str(rev), digest

    def settled(self):
        """Waits until the page shows the newest state, and nothing moves."""
        def is_settled():
            page = self.page()
            return (page.get("moving") == "false" and page.get("display") != "free"
                    and (page.get("drawn"), page.get("dig")) == self.position()
                    and "tid" not in self.daemon.control.get(self.nav)["transition"])
        eventually("the newest state", is_settled)

    def do(self, *operations, animated=False):
        members = {"animated": True} if animated else {}
        self.daemon.control.request("op", nav=self.nav, do=list(operations), client=self.daemon.control.own,
                                    name="control", onBusy="queue", **{"if": {"any": True}}, **members)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, what, script, *arguments):
        return eventually(what, lambda: self.run(script, *arguments))

    def top(self, screen):
        self.until(f"{screen} on top", "return document.documentElement.dataset.top === arguments[0]", screen)
        self.settled()

    def visible(self, screen):
        self.until(f"{screen} visible", "return document.documentElement.dataset.visible === arguments[0]", screen)
        self.settled()

    # --- A person ---------------------------------------------------------------------------------

    def key(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focus(self):
        """The slot, the key or the text of what has the focus."""
        return self.run("""
          const { activeElement: one } = document;
          return one === document.body ? "nothing" : one.dataset.slot ?? one.dataset.key ?? one.textContent;""")

    def tab_to(self, wanted, key=Keys.TAB):
        passed = []
        for _ in range(30):
            self.key(key)
            passed.append(self.focus())
            if passed[-1] == wanted:
                return
        raise AssertionError(f"{wanted} is not among {passed}")

    def mouse(self, kind, x, y):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    def box(self, selector):
        return self.run("""
          const { left, top, width, height } = [...document.querySelectorAll(arguments[0])].at(-1).getBoundingClientRect();
          return { left, top, width, height };""", selector)

    def click(self, selector):
        box = self.box(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, box["left"] + box["width"] / 2, box["top"] + box["height"] / 2)

    def speak(self, language):
        """Sets the language of the browser for the pages that are opened next; "" for its own."""
        self.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {
            "userAgent": language and "kiosk", "acceptLanguage": language})

    def drag(self, share, side=1):
        """Puts a finger to the left edge, and moves it so far over the width; with `side` -1 from the right edge.

        The finger stays there.
        """
        box = self.box("[data-part=glass]")
        width = side * box["width"]
        x, y = box["left"] + (side < 0) * box["width"] + side * 4, box["top"] + box["height"] / 2
        self.mouse("mousePressed", x, y)
        for step in range(1, 13):
            self.mouse("mouseMoved", x + width * share * step / 12, y)
        eventually("the gesture", lambda: self.daemon.control.get(self.nav)["transition"].get("phase") == "interactive")
        # Standing still, it has no speed when it is lifted.
        for _ in range(8):
            self.mouse("mouseMoved", x + width * share, y)
        return x + width * share, y

    def lift(self, place):
        self.mouse("mouseReleased", *place)
