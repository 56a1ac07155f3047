"""The operations whose functions follow from the table of navd; see GeneratedTests."""

from __future__ import annotations

from ..descriptions import check_id
from ..operation import Operation, operation
from ..wire import JSON

__all__ = [
    "attach", "back_key", "back_menu", "back_tap", "cancel_gesture", "close", "complete_transition",
    "detach", "finish_gesture", "pop", "pop_item", "pop_to_root", "release_button",
    "release_screen", "revert", "set_bar_hidden", "set_toolbar_hidden", "swipe_down", "tap",
    "update_gesture",
]


def close() -> Operation:
    """Close the nav.

    It stands alone in its list. It needs a guard by revision, digest or stack.
    """
    return operation("nav.close")


def attach() -> Operation:
    """Put the nav on display; it must have a root screen."""
    return operation("attach")


def detach() -> Operation:
    """Take the nav off the display."""
    return operation("detach")


def pop(*, result: JSON = None) -> Operation:
    """Remove the top screen; the root stays.

    It needs a guard. `result`, at most 4 KiB, is for the client that waits for the screen.
    """
    return operation("pop", result=result)


def pop_to_root() -> Operation:
    """Remove all screens above the root."""
    return operation("popToRoot")


def revert(rev: int) -> Operation:
    """Restore ids and order of an earlier stack; the screens keep their present content.

    It needs a guard by revision, digest or stack.
    """
    return operation("revert", rev=rev)


def release_screen(screen: str) -> Operation:
    """Forget a screen that is not shown."""
    return operation("screen.release", screen=check_id(screen, "screen"))


def release_button(button: str) -> Operation:
    """Forget a button that is not in use."""
    return operation("button.release", button=check_id(button, "button"))


def set_bar_hidden(hidden: bool) -> Operation:
    """Set whether the bar is hidden."""
    return operation("bar.setHidden", hidden=hidden)


def set_toolbar_hidden(hidden: bool) -> Operation:
    """Set whether the toolbar is hidden."""
    return operation("toolbar.setHidden", hidden=hidden)


def pop_item() -> Operation:
    """Remove the top item of a standalone bar.

    It needs a guard.
    """
    return operation("popItem")


def back_tap() -> Operation:
    """Tap the back button.

    Under a presentation, except a popover, navd refuses it as `covered`. It needs a guard.
    """
    return operation("ui.backTap")


def back_menu(screen: str) -> Operation:
    """Choose a screen in the menu of the back button: a person goes back to it.

    If the screen is the top already, nothing changes.
    """
    return operation("ui.backMenu", screen=check_id(screen, "screen"))


def back_key() -> Operation:
    """Press the Back key: end a search, dismiss, or pop; at the root watches get `backAtRoot`.

    It needs a guard by `visible`, revision or digest.
    """
    return operation("ui.back")


def swipe_down(*, result: JSON = None) -> Operation:
    """Swipe the outermost presented screen down, as a person does.

    navd refuses it as `dismiss-blocked` with `modalInPresentation`, and in the styles `fullScreen`
    and `overFullScreen`. It needs a guard by `visible`, revision or digest. `result`, at most 4
    KiB, is for the client that waits for the screen.
    """
    return operation("ui.dismiss", result=result)


def tap() -> Operation:
    """Tap the content, which may hide the bars."""
    return operation("ui.tap")


def update_gesture(value: float) -> Operation:
    """Report how far the gesture is, from 0 to 1."""
    return operation("gesture.update", value=value)


def finish_gesture() -> Operation:
    """End the gesture with a pop."""
    return operation("gesture.finish")


def cancel_gesture() -> Operation:
    """End the gesture without a pop."""
    return operation("gesture.cancel")


def complete_transition(tid: int) -> Operation:
    """Report that the display has shown a transition to its end.

    The event `transitionBegan` has its number.
    """
    return operation("transition.complete", tid=tid)
