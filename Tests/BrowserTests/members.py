"""The members that a client may choose, each with the place where the kiosk shows its text.

MEMBERS has a row for each member that docs/protocol.md names for what a client sends, but for those that are `refused`;
`documented` reads that page.
"""
import os
import re


class Row:
    """Where a text of a member is to be seen, or why it is not."""

    def __init__(self, *places, limit=None, refused=None, why=None):
        self.places, self.limit, self.refused, self.why = places, limit, refused, why

    def fit(self, text):
        """The text as long as the member may be, in octets."""
        return text if self.limit is None else text.encode()[:self.limit].decode(errors="ignore")


def shown(*places, limit=None):
    """Shown in these places: a scene, and elements whose text is the text."""
    return Row(*places, limit=limit)


def hidden(limit=None):
    """The daemon takes any text here; the kiosk shows it nowhere."""
    return Row(limit=limit)


def refused(*codes):
    """The daemon refuses a text that is not one of its own words."""
    return Row(refused=codes or ("invalid-argument",))


def derived(why):
    """Not chosen by a client."""
    return Row(why=why)


FIXED = refused("readonly")
NAVD = derived("navd computes it")
COLOUR = hidden(256)

MEMBERS = {
    "hello.ver": refused("400"), "hello.client": refused("400"), "hello.nonce": hidden(64),
    "hello.name": shown(("views", ".log-author bdi"), ("sheets", "[data-key=display] .row-value bdi"), limit=128),
    "hello.window": refused("400"), "hello.hb": refused("400"),
    "hello.actor": derived("from the token"), "hello.flow": derived("the gateway's"),
    "hello.actor.name": derived("from the token"), "hello.actor.role": derived("from the token"),
    "hello.actor.navs": derived("from the token"),

    "screen.ver": FIXED, "screen.kind": FIXED,
    "screen.title": shown(("stack", "h1[data-slot=title] bdi"),
                          ("stack", "[data-slot=page][data-screen=top] @aria-label"),
                          ("menu", "[data-slot=back-menu-entry][data-screen=home] bdi as back text"),
                          ("sheets", "[data-screen=details] h2[data-slot=sheet-title] bdi")),
    "screen.route": shown(("stack", "[data-screen=top] [data-key=route] .row-value bdi")),
    "screen.restorationID": hidden(),
    "screen.args": shown(("stack", "[data-screen=top] [data-key=args] bdi as JSON"),
                         ("sheets", "[data-screen=details] [data-key=args] bdi as JSON"),
                         ("sheets", "[data-screen=network] [data-key='settings/network/wifi'] .row-value bdi"),
                         ("sheets", "[data-screen=wifi2] [data-key=networks] .row-value bdi"),
                         ("sheets", "[data-screen=wifi2] [data-field=channel] @value"),
                         ("sheets", "[data-screen=dns] [data-field=server] @value"),
                         ("sheets", "[data-screen=rename] [data-field=name] @value")),

    "screen.item": FIXED, "screen.accessibilityLabel": shown(("stack", "[data-slot=page][data-screen=top] @aria-label")),

    "item.title": shown(("views", "[data-slot=page][data-screen=second] @aria-label"),
                        ("sheets", "[data-screen=status] h2[data-slot=sheet-title] bdi")),
    "item.prompt": shown(("stack", "[data-slot=prompt] bdi")),
    "item.titleView": shown(("views", "h1[data-slot=title] bdi")),
    "item.titleView.view": shown(("views", "h1[data-slot=title] bdi")),
    "item.backBarButtonItem": refused("unknown-button"), "item.backAction": refused("unknown-button"),

    "item.backButtonTitle": shown(("menu", "[data-slot=back-menu-entry][data-screen=home] bdi as back text")),
    "item.accessibilityLabel": shown(("stack", "h1[data-slot=title] @aria-label")),
    "item.subtitle": shown(("stack", "[data-slot=subtitle] bdi")),
    "item.subtitleView": hidden(), "item.largeTitle": hidden(), "item.largeSubtitle": hidden(),
    "item.largeSubtitleView": hidden(),
    **{f"item.appearance.{slot}": hidden() for slot in ("standard", "compact", "scrollEdge", "compactScrollEdge")},

    "button.title": shown(("stack", "[data-button=left] bdi"), ("stack", "[data-button=constructor] bdi"),
                          ("stack", "[data-button=tool] bdi"), ("stack", "[data-slot=back] @data-text"),
                          ("stack", "[data-slot=back] @aria-label as label"),
                          ("menu", "[data-slot=back-menu-entry][data-screen=wifi] bdi as back text")),
    "button.action": hidden(),
    "button.image": shown(("stack", "[data-button=picture] bdi"), ("views", "[data-slot=back] bdi")),
    "button.landscapeImage": hidden(),
    "button.customView": shown(("stack", "[data-button=view] bdi"), ("stack", "[data-button=named] bdi")),
    "button.accessibilityLabel": shown(("stack", "[data-button=left] @aria-label")),
    "button.accessibilityHint": shown(("stack", "[data-button=left] @aria-description")),
    "button.accessibilityIdentifier": shown(("stack", "[data-button=left] @data-testid")),
    "button.badge": shown(("stack", "[data-slot=badge] bdi")),
    "image.ref": shown(("stack", "[data-button=referred] bdi")),

    "bar.class": FIXED, "bar.hidden": FIXED, "bar.hiddenElsewhere": FIXED, "bar.hid": FIXED,
    "bar.hid.cause": FIXED, "bar.hid.toolbar": FIXED,
    "bar.tintColor": COLOUR, "bar.backgroundColor": COLOUR,
    "bar.barTintColor": COLOUR,
    "bar.titleTextAttributes.font": hidden(), "bar.titleTextAttributes.color": COLOUR,
    "bar.titleTextAttributes.shadowColor": COLOUR, "bar.titleTextAttributes.shadowOffset": hidden(),
    "bar.shadowImage": hidden(),
    "bar.backIndicatorImage": hidden(), "bar.backIndicatorMask": hidden(),
    "toolbar.class": FIXED, "toolbar.hidden": FIXED, "toolbar.hiddenElsewhere": FIXED,
    "toolbar.tintColor": COLOUR,
    "toolbar.barTintColor": COLOUR,

    "presented.screen": derived("a screen"), "presented.from": refused("invalid-argument", "unknown-screen"),
    "presented.covers": NAVD, "presented.contextOwner": NAVD,

    **{f"transition.{name}": NAVD for name in (
        "tid", "op", "from", "to", "phase", "style", "deadline", "barChange", "barChange.hidden",
        "barChange.animated", "barChange.jump")},
    "transition.owner": derived("hello.name"), "transition.animator": hidden(),
    "transition.duration": derived("a number"),
    "transition.driver": hidden(),

    "environment.owner": FIXED, "environment.orientations": FIXED, "environment.orientations.supported": FIXED,
    "environment.orientations.preferred": FIXED,

    "environment.locale": shown(("stack", "[data-device] @lang"), limit=64),


    "settings.attached": FIXED, "settings.container": hidden(), "settings.restorationID": hidden(),

    "settings.simultaneous": hidden(),




    "settings.proxy": FIXED, "settings.routes": hidden(),
}

# Arguments of operations (§9.6) that are no member of a record. The others are words, numbers and ids.
ARGUMENTS = {"sender": 900, "result": 3000, "route": None}
NO_TEXTS = set(
    "root classes bar toolbar kind settings screen onDuplicate error ignore popTo update moveToTop ignoreRoute show showDetail "
    "screens match top unique inclusive with direction back below above at payload rev from style replace id ver item "
    "leftBarButtonItem rightBarButtonItem leftBarButtonItems rightBarButtonItems requireOnStack title image systemItem customView button class hidden hiddenElsewhere hid "
    "element over slot standard compact scrollEdge compactScrollEdge object items dir up down edge fullScreen translation value tid "
    "owner orientations horizontal regular environment controller nav.configure "
    "NavigationBar get restoration".split())

SETTERS = {
    "screen": lambda members: {"screen.set": {"screen": "home", **members}},
    "item": lambda members: {"item.set": {"screen": "home", **members}},
    "button": lambda members: {"button.create": {"id": "refused", "title": "x", **members}},
    "image": lambda members: {"button.create": {"id": "refused", "image": {"ref": "x", **members}}},
    "bar": lambda members: {"bar.set": members},
    "toolbar": lambda members: {"toolbar.set": members},
    "presented": lambda members: {"present": {"screen": {"id": "refused"}, **members}},
    "environment": lambda members: {"env.set": members},
    "settings": lambda members: {"nav.configure": members},
}


# --- What docs/protocol.md names -------------------------------------------------------------------

def names_in(cell):
    """The names in a cell, and those inside its objects."""
    return re.findall(r"`([A-Za-z]\w*)`", cell)


def objects_in(cell):
    found = [names for names in re.findall(r"`\{([^}`]*)\}", cell)]
    return [re.match(r"\"?(\w+)", name.strip())[1] for names in found for name in names.split(",")]


def tables(text):
    """The tables of a text: the first cell of the head, and the rows as lists of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in block.splitlines()]
        yield rows[0][0].strip().strip("`"), [row for row in rows[2:]]


def documented(text):
    """The members of records that clients send or see, as `record.member`."""
    found = set()
    sections = dict(re.findall(r"^#+ ([\d.]+) [^\n]*\n(.*?)(?=^## |^### |\Z)", text, re.M | re.S))
    for number, records in (("4.", {"hello"}),
                            ("10.1", {"screen", "item", "button"}),
                            ("10.2", {"bar", "transition", "environment", "settings"})):
        seen = set()
        for record, rows in tables(sections[number]):
            if record not in records:
                continue
            seen.add(record)
            for row in rows:
                members = names_in(row[0])
                found.update(f"{record}.{name}" for name in members)
                # Several members share a row; the objects belong to the last of them.
                if len(row) > 1:
                    found.update(f"{record}.{members[-1]}.{name}" for name in objects_in(row[1]))
        if seen != records:
            raise AssertionError(f"section {number}: no table of {records - seen}")
    parts = sections["10.2"]
    line = re.sub(r"\([^)]*\)", "", re.search(r"`toolbar` has, as the bar does, (.*)", parts)[1])
    found.update(f"toolbar.{name}" for name in names_in(line))
    line = re.search(r"Its entries are `\{(.*?)\}`", parts)[1]
    found.update(f"presented.{name}" for name in re.findall(r'"(\w+)"', line))
    line = re.search(r"An image is `\{(.*?)\}`", sections["10.1"])[1]
    found.update(f"image.{name}" for name in re.findall(r'"(\w+)"', line))
    arguments = set()
    for head, rows in tables(sections["9.6"]):
        if head == "op":
            for row in rows:
                arguments.update(re.findall(r"`([A-Za-z][\w.]*)`", row[1]))
                arguments.update(objects_in(row[1]))
    return found, arguments


with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "protocol.md"), encoding="utf-8") as protocol:
    MEMBERS = {**dict.fromkeys(documented(protocol.read())[0], refused()), **MEMBERS}


# --- The browser -----------------------------------------------------------------------------------

# Runs before the scripts of each page, so that nothing of the page can be earlier.
