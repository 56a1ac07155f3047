"""What the navigation bar shows, computed by the daemon (docs/protocol.md, §10.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, Union, cast

from .wire import Body, copied

__all__ = ["BackButton", "Bar", "BarButton", "MenuEntry", "Slot"]


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A screen in the menu of the back button."""

    #: The id of the screen.
    screen: str
    #: Its text; None where the back button above it has none.
    text: str | None
    #: What a screen reader says in place of the text.
    accessibility_label: str | None
    #: The language of the text (BCP 47); None for that of the display.
    language: str | None


@dataclass(frozen=True, slots=True)
class BackButton:
    """The back button."""

    #: None for an image, or for the indicator alone.
    text: str | None
    #: The screens below the top, nearest first.
    menu: tuple[MenuEntry, ...]
    #: What a screen reader says in place of the text.
    accessibility_label: str | None
    #: The language of the text (BCP 47); None for that of the display.
    language: str | None
    _details: Body

    @property
    def details(self) -> Body:
        """All members, as a copy."""
        return cast(Body, copied(self._details))


@dataclass(frozen=True, slots=True)
class BarButton:
    """A button of the bar or of the toolbar."""

    id: str
    #: None for a button with an image, a system item or a view.
    title: str | None
    #: The word that the event `buttonActivated` brings.
    action: str | None
    #: Whether a tap does anything.
    is_enabled: bool
    #: Whether it is drawn as selected.
    is_selected: bool
    #: What a screen reader says in place of the face, and what the button does.
    accessibility_label: str | None
    accessibility_hint: str | None
    #: A number, a text, or True for a badge without content.
    badge: int | str | bool | None
    #: The elements of its menu: records with `id`, `title`, `state`, `children` (§10.1).
    menu: tuple[Body, ...]
    _details: Body

    @property
    def details(self) -> Body:
        """All members, as a copy."""
        return cast(Body, copied(self._details))


#: An element of the bar.
Slot: TypeAlias = Union[BackButton, BarButton]


class Bar:
    """`resolved` of a state: a header draws it, and computes nothing."""

    __slots__ = ("_details",)

    def __init__(self, details: Body) -> None:
        self._details = details

    @property
    def left(self) -> tuple[Slot, ...]:
        """The elements on the left, left-most first; the back button is the first, if it shows."""
        return tuple(map(_slot, self._details.get("left", [])))

    @property
    def right(self) -> tuple[Slot, ...]:
        """The elements on the right, right-most first."""
        return tuple(map(_slot, self._details.get("right", [])))

    @property
    def title(self) -> str | None:
        """The title in the middle; None for an empty middle or a view."""
        title: str | None = (self._details.get("middle") or {}).get("title")
        return title

    @property
    def subtitle(self) -> str | None:
        """The text below the title; None without one, or for a view."""
        subtitle: str | None = (self._details.get("middle") or {}).get("subtitle")
        return subtitle

    @property
    def title_accessibility_label(self) -> str | None:
        """What a screen reader says in place of the title."""
        label: str | None = (self._details.get("middle") or {}).get("accessibilityLabel")
        return label

    @property
    def title_language(self) -> str | None:
        """The language of the title (BCP 47); None for that of the display."""
        language: str | None = (self._details.get("middle") or {}).get("language")
        return language

    @property
    def view(self) -> Any:
        """The description of the view in the middle, as a copy; None without one."""
        return copied((self._details.get("middle") or {}).get("customView"))

    @property
    def toolbar(self) -> tuple[BarButton, ...]:
        """The buttons of the toolbar in display order; empty while it is hidden."""
        toolbar = self._details.get("toolbar") or {}
        return tuple(map(_button, toolbar.get("items", []))) if toolbar.get("visible") else ()

    @property
    def height(self) -> float:
        """The height in points."""
        height: float = self._details.get("height", 0)
        return height

    @property
    def swipes_back(self) -> bool:
        """Whether a gesture may pop the top."""
        return bool(self._details.get("swipeBack"))

    @property
    def details(self) -> Body:
        """All members, as a copy."""
        return cast(Body, copied(self._details))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bar) and self._details == other._details

    __hash__ = None  # type: ignore[assignment]  # it has members that have no hash

    def __repr__(self) -> str:
        return f"Bar({self._details!r})"


def _slot(slot: Body) -> Slot:
    back = slot.get("back")
    if back is None:
        return _button(slot)
    menu = tuple(MenuEntry(entry["screen"], entry.get("text"), *_spoken(entry))
                 for entry in back.get("menu", []))
    return BackButton(back.get("text"), menu, *_spoken(back), back)


def _spoken(record: Body) -> tuple[str | None, str | None]:
    return record.get("accessibilityLabel"), record.get("language")


def _button(slot: Body) -> BarButton:
    return BarButton(
        slot.get("button", ""), slot.get("title"), slot.get("action"), slot.get("isEnabled", True),
        slot.get("isSelected", False), slot.get("accessibilityLabel"),
        slot.get("accessibilityHint"), slot.get("badge"),
        tuple(copied(slot.get("menu", []))), slot)
