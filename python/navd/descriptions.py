"""Screens, items and buttons as operations describe them (docs/protocol.md, §10.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, Union

from .wire import JSON, Body

__all__ = ["AnyButton", "AnyScreen", "ButtonDescription", "ItemDescription", "ScreenDescription"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _Description:
    """Members of a record; those that are None are left out."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members: Body = {
            name: _written(value) for name, value in members.items() if value is not None}

    @property
    def members(self) -> Body:
        """The record as the protocol writes it."""
        return dict(self._members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Description) and self._members == other._members

    __hash__ = None  # type: ignore[assignment]  # it has lists

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._members!r})"


class ButtonDescription(_Description):
    """A button of the bar or of the toolbar.

    A new button has exactly one of `title`, `image` (perhaps with `title`), `system_item` and
    `custom_view`. A screen reader says `accessibility_label` for it, then `accessibility_hint`.
    """

    __slots__ = ()

    def __init__(
        self, *, id: str | None = None, title: str | None = None, action: str | None = None,
        image: str | Mapping[str, JSON] | None = None,
        landscape_image: str | Mapping[str, JSON] | None = None, system_item: str | None = None,
        custom_view: JSON = None, style: Literal["plain", "done"] | None = None,
        is_enabled: bool | None = None, is_selected: bool | None = None,
        accessibility_label: str | None = None, accessibility_hint: str | None = None,
        accessibility_identifier: str | None = None,
    ) -> None:
        super().__init__({
            "id": None if id is None else check_id(id, "the id of a button"), "title": title,
            "action": action, "image": image, "landscapeImage": landscape_image,
            "systemItem": system_item, "customView": custom_view, "style": style,
            "isEnabled": is_enabled, "isSelected": is_selected,
            "accessibilityLabel": accessibility_label, "accessibilityHint": accessibility_hint,
            "accessibilityIdentifier": accessibility_identifier})


#: A button: a new one, its record as a dict, or the id of one that the nav knows.
AnyButton: TypeAlias = Union[ButtonDescription, Mapping[str, JSON], str]


class ItemDescription(_Description):
    """The contents that a screen gives to the bar; index 0 of a side is the outermost.

    A screen reader says `accessibility_label` for the title, in `language` (BCP 47).
    """

    __slots__ = ()

    def __init__(
        self, *, title: str | None = None, prompt: str | None = None, title_view: JSON = None,
        back_button: AnyButton | None = None, left_items: Sequence[AnyButton] | None = None,
        right_items: Sequence[AnyButton] | None = None, hides_back_button: bool | None = None,
        left_items_supplement_back_button: bool | None = None,
        large_title_display_mode: Literal["automatic", "always", "never"] | None = None,
        back_button_title: str | None = None,
        back_button_display_mode: Literal["default", "generic", "minimal"] | None = None,
        appearance: Mapping[str, JSON] | None = None, accessibility_label: str | None = None,
        language: str | None = None,
    ) -> None:
        super().__init__({
            "title": title, "prompt": prompt, "titleView": title_view,
            "backBarButtonItem": back_button, "leftItems": left_items, "rightItems": right_items,
            "hidesBackButton": hides_back_button,
            "leftItemsSupplementBackButton": left_items_supplement_back_button,
            "largeTitleDisplayMode": large_title_display_mode, "appearance": appearance,
            "backButtonTitle": back_button_title,
            "backButtonDisplayMode": back_button_display_mode,
            "accessibilityLabel": accessibility_label, "language": language})


class ScreenDescription(_Description):
    """A new screen: an id, a title, and what the program needs to find its content.

    Without an id the daemon chooses one. Everything that may read the nav sees `args`, so no secret
    belongs there.
    """

    __slots__ = ()

    def __init__(
        self, *, id: str | None = None, title: str | None = None, route: str | None = None,
        args: JSON = None, item: ItemDescription | Mapping[str, JSON] | None = None,
        toolbar_items: Sequence[AnyButton] | None = None, restoration_id: str | None = None,
        kind: Literal["content", "tabBar", "navigation"] | None = None,
        prefers_bar_hidden: bool | None = None, prefers_toolbar_hidden: bool | None = None,
        hides_bottom_bar_when_pushed: bool | None = None, can_pop: bool | None = None,
        modal_in_presentation: bool | None = None, edges: Sequence[str] | None = None,
        wants_full_screen_layout: bool | None = None, extends_under_opaque_bars: bool | None = None,
        accessibility_label: str | None = None, language: str | None = None,
    ) -> None:
        super().__init__({
            "id": None if id is None else check_id(id, "the id of a screen"), "title": title,
            "route": route, "args": args, "item": item, "toolbarItems": toolbar_items,
            "restorationID": restoration_id, "kind": kind, "prefersBarHidden": prefers_bar_hidden,
            "prefersToolbarHidden": prefers_toolbar_hidden,
            "hidesBottomBarWhenPushed": hides_bottom_bar_when_pushed,
            "canPop": can_pop, "modalInPresentation": modal_in_presentation, "edges": edges,
            "wantsFullScreenLayout": wants_full_screen_layout,
            "extendsUnderOpaqueBars": extends_under_opaque_bars,
            "accessibilityLabel": accessibility_label, "language": language})


#: A screen: a new one, its record as a dict, or the id of one that the nav knows.
AnyScreen: TypeAlias = Union[ScreenDescription, Mapping[str, JSON], str]


def check_id(id: object, what: str) -> str:
    """Return the id of a screen or of a button."""
    if not isinstance(id, str):
        raise TypeError(f"{what} is a text such as 'wifi', not {type(id).__name__}")
    if not _ID.fullmatch(id):
        raise ValueError(f"{what} is {id!r:.80}: write 1 to 64 letters, digits, . _ -,"
                         " a letter or digit first, such as 'wifi'")
    return id


def written_screen(screen: object, what: str = "a screen") -> JSON:
    """Return a screen as the protocol writes it."""
    if isinstance(screen, str):
        return check_id(screen, f"the id of {what}")
    if isinstance(screen, (ScreenDescription, Mapping)):
        return _written(screen)
    raise TypeError(f"{what} is a ScreenDescription, a dict such as {{'id': 'wifi'}},"
                    f" or the id of a screen that the nav knows, not {type(screen).__name__}")


def _written(value: object) -> JSON:
    if isinstance(value, _Description):
        return value.members
    if isinstance(value, Mapping):
        return {name: _written(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(each) for each in value]
    # What JSON does not have is refused when the message is encoded.
    return value  # type: ignore[return-value]
