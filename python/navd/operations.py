"""The operations of `perform` (docs/protocol.md, §9.6).

Each function writes one operation; it sends nothing. A dict such as `{"pop": {}}` does the same,
and also has what only a newer daemon knows. navd refuses removals by position as
`guard-required` without a guard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from .descriptions import check_id, written_screen
from .generated import operations as generated
from .generated.descriptions import (
    AnyScreen, ButtonDescription, ItemDescription, ScreenDescription)
from .generated.operations import *  # noqa: F403
from .operation import Operation, operation as _operation
from .wire import JSON, Body

__all__ = [
    "OnDuplicate", "Operation", "activate_button", "begin_gesture", "configure", "create", "create_bar",
    "create_button", "create_screen", "dismiss", "insert", "open_route", "pop_to", "pop_to_route",
    "present", "push", "push_item", "remove", "replace", "restore", "segue", "set_appearance",
    "set_bar", "set_button", "set_environment", "set_item", "set_items", "set_proxy", "set_screen",
    "set_stack", "set_title", "set_toolbar", "show", "swipe",
]
__all__ += generated.__all__

#: What a push does if the screen is on the stack.
OnDuplicate: TypeAlias = Literal["error", "ignore", "popTo", "update", "moveToTop", "ignoreRoute"]


def _set(name: str, members: Mapping[str, JSON], **arguments: JSON) -> Operation:
    """Keep members that are None: they set a default."""
    if not isinstance(members, Mapping):
        raise TypeError(f"the members of {name} are a dict, not {type(members).__name__}")
    return Operation(name, {**arguments, **members})


def _ids(screens: object, what: str) -> list[str]:
    if isinstance(screens, (str, Mapping)) or not isinstance(screens, Sequence):
        raise TypeError(f"{what} is a list of ids such as ['wifi'], not {type(screens).__name__}")
    return [check_id(screen, f"the id in {what}") for screen in screens]


# The nav.

def create(root: AnyScreen, *, settings: Mapping[str, JSON] | None = None) -> Operation:
    """Make the nav with a root screen; it must be the first operation of a list."""
    return _operation("nav.create", root=written_screen(root, "root"), settings=settings)


def create_bar(*, settings: Mapping[str, JSON] | None = None) -> Operation:
    """Make the nav as a standalone bar with items; it must be the first operation of a list."""
    return _operation("nav.create", kind="bar", settings=settings)


def configure(settings: Mapping[str, JSON]) -> Operation:
    """Set settings of the nav (§10.2); None sets a default."""
    return _set("nav.configure", settings)


# The stack.

def push(
    screen: AnyScreen, *, on_duplicate: OnDuplicate | None = None, sender: JSON = None
) -> Operation:
    """Put a screen on top of the stack; `sender` goes into the log."""
    return _operation(
        "push", screen=written_screen(screen), onDuplicate=on_duplicate, sender=sender)


def show(
    screen: AnyScreen, *, on_duplicate: OnDuplicate | None = None, sender: JSON = None
) -> Operation:
    """Show a screen in the way of the container, which pushes it; animated by default."""
    return _operation(
        "show", screen=written_screen(screen), onDuplicate=on_duplicate, sender=sender)


def segue(
    screen: AnyScreen, *, kind: Literal["show", "showDetail"] = "show",
    on_duplicate: OnDuplicate | None = None,
) -> Operation:
    """Push a screen with the cause `segue`, or present it with `showDetail`."""
    return _operation(
        "segue", kind=kind, screen=written_screen(screen), onDuplicate=on_duplicate)


def pop_to(screen: str, *, inclusive: bool = False, result: JSON = None) -> Operation:
    """Remove all screens above a screen; with `inclusive` that screen too, but never the root."""
    return _operation("popTo", screen=check_id(screen, "screen"),
                      inclusive=inclusive or None, result=result)


def pop_to_route(
    route: str, *, match: Literal["top", "unique"] = "top", inclusive: bool = False,
    result: JSON = None,
) -> Operation:
    """Remove all screens above the topmost one with this route; `unique` allows only one."""
    return _operation(
        "popTo", route=route, match=match, inclusive=inclusive or None, result=result)


def set_stack(screens: Sequence[AnyScreen]) -> Operation:
    """Replace the whole stack, bottom first. It needs a guard by stack or revision."""
    if isinstance(screens, (str, Mapping, ScreenDescription)):
        raise TypeError("screens is a list of screens, bottom first")
    return _operation("setStack", screens=[written_screen(screen) for screen in screens])


def replace(
    new: AnyScreen, *, screen: str | None = None, direction: Literal["back"] | None = None,
    result: JSON = None,
) -> Operation:
    """Put a new screen in the place of `screen`, or of the top; then it needs a guard."""
    return _operation(
        "replace", **{"with": written_screen(new)}, direction=direction, result=result,
        screen=None if screen is None else check_id(screen, "screen"))


def insert(
    screen: AnyScreen, *, below: str | None = None, above: str | None = None, at: int | None = None
) -> Operation:
    """Put a screen into the stack; with `at` it needs a guard by stack or revision."""
    if [below, above, at].count(None) != 2:
        raise ValueError("insert takes one place: write below='wifi', above='wifi' or at=1")
    return _operation("insert", screen=written_screen(screen), below=below, above=above, at=at)


def remove(screens: Sequence[str]) -> Operation:
    """Take screens out of the stack by their ids, wherever they are; one must stay."""
    return _operation("remove", screens=_ids(screens, "screens"))


def open_route(route: str, *, over: bool | None = None) -> Operation:
    """Set the stack that the templates of the setting `routes` have for a route; needs a guard.

    With `over` it dismisses first what is presented; None leaves that to `dismissesOnOpen`.
    """
    return _operation("open", route=route, over=over)


def restore(payload: Mapping[str, JSON], *, root: AnyScreen | None = None) -> Operation:
    """Set the stack that `get` `restoration` saved; `root` if nothing is left. Needs a guard."""
    return _operation("restore", payload=dict(payload),
                      root=None if root is None else written_screen(root, "root"))


# Presentations.

def present(
    screen: AnyScreen, *, presenter: str | None = None, style: str | None = None
) -> Operation:
    """Present a screen over what is visible, or over `presenter`."""
    return _operation(
        "present", screen=written_screen(screen), style=style, **{"from": presenter})


def dismiss(*, presenter: str | None = None, result: JSON = None) -> Operation:
    """Dismiss what `presenter` presents, and all above; by default all presented screens."""
    return _operation("dismiss", result=result, **{"from": presenter})


# Screens, items and buttons.

def create_screen(
    screen: ScreenDescription | Mapping[str, JSON], *, replace: bool = False
) -> Operation:
    """Make a screen without showing it; with `replace` in the place of a detached one."""
    record = written_screen(screen)
    if not isinstance(record, Mapping):
        raise TypeError("screen is a ScreenDescription or a dict: an id alone describes nothing")
    return _set("screen.create", record, **({"replace": True} if replace else {}))


def set_screen(screen: str, members: Mapping[str, JSON]) -> Operation:
    """Set members of a screen (§10.1); None sets a default."""
    return _set("screen.set", members, screen=check_id(screen, "screen"))


def set_item(
    screen: str, item: ItemDescription | Mapping[str, JSON], *, require_on_stack: bool = False
) -> Operation:
    """Set members of the item of a screen, which need not be on the stack."""
    members = item.members if isinstance(item, ItemDescription) else item
    more: Body = {"requireOnStack": True} if require_on_stack else {}
    return _set("item.set", members, screen=check_id(screen, "screen"), **more)


def set_title(screen: str, title: str | None) -> Operation:
    """Set the title that the bar shows for a screen; None shows that of the screen itself."""
    return _set("item.set", {"title": title}, screen=check_id(screen, "screen"))


def create_button(button: ButtonDescription | Mapping[str, JSON]) -> Operation:
    """Make a button without showing it."""
    members = button.members if isinstance(button, ButtonDescription) else button
    return _set("button.create", members)


def set_button(button: str, members: Mapping[str, JSON]) -> Operation:
    """Set members of a button, wherever it is shown; None sets a default."""
    return _set("button.set", members, button=check_id(button, "button"))


# Bars.

def set_bar(members: Mapping[str, JSON]) -> Operation:
    """Set members of the bar (§10.2); None sets a default."""
    return _set("bar.set", members)


def set_toolbar(members: Mapping[str, JSON]) -> Operation:
    """Set members of the toolbar; None sets a default."""
    return _set("toolbar.set", members)


def set_appearance(
    slot: Literal["standard", "compact", "scrollEdge", "compactScrollEdge"],
    object: Mapping[str, JSON] | None, *, screen: str | None = None,
) -> Operation:
    """Set an appearance of the bar, or of a screen; None removes it."""
    more: Body = {} if screen is None else {"screen": check_id(screen, "screen")}
    return _set("appearance.set", {"slot": slot, "object": object}, **more)


def set_proxy(members: Mapping[str, JSON], *, bar_class: str = "NavigationBar") -> Operation:
    """Set the look of all bars of a class; an operation of the nav `$appearance`."""
    return _set("proxy.set", members, **{"class": bar_class})


def push_item(item: str | Mapping[str, JSON]) -> Operation:
    """Put an item on a standalone bar: an id, or `{"id": …, "item": …}`."""
    return _operation("pushItem", item=item)


def set_items(items: Sequence[str | Mapping[str, JSON]]) -> Operation:
    """Replace all items of a standalone bar, bottom first; needs a guard."""
    return _operation("setItems", items=list(items))


# What a person does, and the display.

def activate_button(button: str | None, *, element: str | None = None) -> Operation:
    """Press a visible button, or choose an action in its menu; without `button`, in the title's.

    Watches get `buttonActivated`, or its action `nav.pop` pops.
    """
    return _operation(
        "button.activate", button=None if button is None else check_id(button, "button"),
        element=None if element is None else check_id(element, "element"))


def swipe(direction: Literal["up", "down"]) -> Operation:
    """Swipe over the content, which may hide the bars."""
    return _operation("ui.swipe", dir=direction)


def begin_gesture(
    *, kind: Literal["edge", "fullScreen"] = "edge", translation: float | None = None
) -> Operation:
    """Begin a swipe back, which belongs to this client. It needs a guard."""
    return _operation("gesture.begin", kind=kind, translation=translation)


def set_environment(members: Mapping[str, JSON]) -> Operation:
    """Set facts about the display (§10.2); None sets a default."""
    return _set("env.set", members)
