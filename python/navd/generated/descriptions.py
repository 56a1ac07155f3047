"""Screens, items and buttons as operations describe them; see GeneratedTests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, Union

from ..descriptions import Description, check_id
from ..wire import JSON

__all__ = [
    "AnyButton", "AnyScreen", "ButtonDescription", "ItemDescription", "ScreenDescription",
]


class ButtonDescription(Description):
    """A button of the bar or of the toolbar.

    A new button has exactly one of `title`, `image` (perhaps with `title`), `system_item` and
    `custom_view`.

    Members:
      id: Its id; None lets the daemon choose one.
      title: The text.
      image: The image.
      landscape_image: The image on a phone in landscape.
      system_item: The standard button that it is.
      custom_view: The custom view, by the description from which displays make it.
      style: How much it stands out: `done` is bold, `prominent` the main action.
      action: The name of the application's action for a tap.
      is_enabled: Whether a tap does anything; a back button ignores it.
      is_selected: Whether displays show it as selected.
      accessibility_label: What a screen reader says in place of the face.
      accessibility_hint: What the button does, said after the label.
      accessibility_identifier: A name for tests, never said.
      menu: The menu that it opens, on a tap if it has no action.
      changes_selection_as_primary_action: Whether a choice selects an element of its menu;
        without a menu, whether a tap toggles it.
      is_hidden: Whether it is hidden and takes no room.
      badge: A number, a text, or true for a badge without content.
    """

    __slots__ = ()

    def __init__(
        self, *,
        id: str | None = None, title: str | None = None,
        image: str | Mapping[str, JSON] | None = None,
        landscape_image: str | Mapping[str, JSON] | None = None, system_item: str | None = None,
        custom_view: JSON = None, style: Literal["plain", "done", "prominent"] | None = None,
        action: str | None = None, is_enabled: bool | None = None,
        is_selected: bool | None = None, accessibility_label: str | None = None,
        accessibility_hint: str | None = None, accessibility_identifier: str | None = None,
        menu: Sequence[Mapping[str, JSON]] | None = None,
        changes_selection_as_primary_action: bool | None = None, is_hidden: bool | None = None,
        badge: int | str | bool | None = None,
    ) -> None:
        super().__init__({
            "id": None if id is None else check_id(id, "the id of a button"), "title": title,
            "image": image, "landscapeImage": landscape_image, "systemItem": system_item,
            "customView": custom_view, "style": style, "action": action, "isEnabled": is_enabled,
            "isSelected": is_selected, "accessibilityLabel": accessibility_label,
            "accessibilityHint": accessibility_hint,
            "accessibilityIdentifier": accessibility_identifier, "menu": menu,
            "changesSelectionAsPrimaryAction": changes_selection_as_primary_action,
            "isHidden": is_hidden, "badge": badge})


#: A button: a new one, its record as a dict, or the id of one that the nav knows.
AnyButton: TypeAlias = Union[ButtonDescription, Mapping[str, JSON], str]


class ItemDescription(Description):
    """The contents that a screen gives to the bar.

    Members:
      title: The text in the middle, in place of the screen's title.
      prompt: A line above the bar.
      title_view: A view in the middle, in place of any title.
      back_bar_button_item: The back button that leads to this screen.
      back_button_title: The text of the back button that leads to this screen.
      back_button_display_mode: Which texts the back button that leads to this screen may
        show.
      hides_back_button: Whether the bar shows no back button.
      left_items_supplement_back_button: Whether the left buttons stand beside the back
        button rather than in its place.
      left_items: Buttons on the left, left-most first.
      right_items: Buttons on the right, right-most first.
      large_title_display_mode: Whether its title is large, if the bar prefers large titles.
      accessibility_label: What a screen reader says in place of the title.
      language: The language of title and prompt, a tag of BCP 47; without it, the screen's.
      appearance: The appearances of the bar while this screen is on top, by state; they
        replace others.
      back_action: The button that a tap on this screen's back button activates, in place of
        the pop.
      style: How the item is laid out.
      subtitle: The text below the title.
      subtitle_view: A view below the title, in place of the subtitle.
      large_title: The text of the large title, in place of the title.
      large_subtitle: The text below the large title, in place of the subtitle.
      large_subtitle_view: A view below the large title, in place of any subtitle.
      title_alignment: Where the title stands in the bar.
      title_menu: The menu at the title.
      preferred_search_bar_placement: Where the search field stands; without it there is
        none.
      is_search_active: Whether a person searches; `ui.back` ends that before it pops.
    """

    __slots__ = ()

    def __init__(
        self, *,
        title: str | None = None, prompt: str | None = None, title_view: JSON = None,
        back_bar_button_item: AnyButton | None = None, back_button_title: str | None = None,
        back_button_display_mode: Literal["default", "generic", "minimal"] | None = None,
        hides_back_button: bool | None = None,
        left_items_supplement_back_button: bool | None = None,
        left_items: Sequence[AnyButton] | None = None,
        right_items: Sequence[AnyButton] | None = None,
        large_title_display_mode: Literal["automatic", "always", "never"] | None = None,
        accessibility_label: str | None = None, language: str | None = None,
        appearance: Mapping[str, JSON] | None = None, back_action: AnyButton | None = None,
        style: Literal["navigator", "browser", "editor"] | None = None,
        subtitle: str | None = None, subtitle_view: JSON = None, large_title: str | None = None,
        large_subtitle: str | None = None, large_subtitle_view: JSON = None,
        title_alignment: Literal["automatic", "leading", "center"] | None = None,
        title_menu: Sequence[Mapping[str, JSON]] | None = None,
        preferred_search_bar_placement: str | None = None, is_search_active: bool | None = None,
    ) -> None:
        super().__init__({
            "title": title, "prompt": prompt, "titleView": title_view,
            "backBarButtonItem": back_bar_button_item, "backButtonTitle": back_button_title,
            "backButtonDisplayMode": back_button_display_mode, "hidesBackButton": hides_back_button,
            "leftItemsSupplementBackButton": left_items_supplement_back_button,
            "leftItems": left_items, "rightItems": right_items,
            "largeTitleDisplayMode": large_title_display_mode,
            "accessibilityLabel": accessibility_label, "language": language, "appearance": appearance,
            "backAction": back_action, "style": style, "subtitle": subtitle,
            "subtitleView": subtitle_view, "largeTitle": large_title, "largeSubtitle": large_subtitle,
            "largeSubtitleView": large_subtitle_view, "titleAlignment": title_alignment,
            "titleMenu": title_menu, "preferredSearchBarPlacement": preferred_search_bar_placement,
            "isSearchActive": is_search_active})


class ScreenDescription(Description):
    """A new screen: an id, a title, and what the program needs to find its content.

    Everything that may read the nav sees `args`, so no secret belongs there.

    Members:
      id: Its id; None lets the daemon choose one.
      title: The title, which the bar shows, and the back button of the screen above.
      route: The route, by which the application finds the content.
      args: Further data for the application, at most 64 KiB.
      item: Its content in the bar.
      kind: What it holds.
      restoration_id: The id for saving and restoring.
      prefers_bar_hidden: Whether the bar is hidden while the screen is the top.
      prefers_toolbar_hidden: Whether the toolbar is hidden while the screen is the top.
      hides_bottom_bar_when_pushed: Whether the toolbar is hidden while the screen is the
        top, if it has no other preference.
      wants_full_screen_layout: Whether the screen extends under every bar.
      extends_under_opaque_bars: Whether the screen also extends under opaque bars.
      can_pop: Whether a person may pop the screen while it is the top; programs always may.
      modal_in_presentation: Whether a person cannot swipe the screen away while it is
        presented.
      edges: The edges at which the screen extends under bars.
      toolbar_items: The buttons in the toolbar, in display order.
      accessibility_label: What a screen reader says when the screen comes on display.
      language: The language of the screen, a tag of BCP 47.
    """

    __slots__ = ()

    def __init__(
        self, *,
        id: str | None = None, title: str | None = None, route: str | None = None,
        args: JSON = None, item: ItemDescription | Mapping[str, JSON] | None = None,
        kind: Literal["content", "tabBar", "navigation"] | None = None,
        restoration_id: str | None = None, prefers_bar_hidden: bool | None = None,
        prefers_toolbar_hidden: bool | None = None,
        hides_bottom_bar_when_pushed: bool | None = None,
        wants_full_screen_layout: bool | None = None,
        extends_under_opaque_bars: bool | None = None, can_pop: bool | None = None,
        modal_in_presentation: bool | None = None, edges: Sequence[str] | None = None,
        toolbar_items: Sequence[AnyButton] | None = None, accessibility_label: str | None = None,
        language: str | None = None,
    ) -> None:
        super().__init__({
            "id": None if id is None else check_id(id, "the id of a screen"), "title": title,
            "route": route, "args": args, "item": item, "kind": kind, "restorationID": restoration_id,
            "prefersBarHidden": prefers_bar_hidden, "prefersToolbarHidden": prefers_toolbar_hidden,
            "hidesBottomBarWhenPushed": hides_bottom_bar_when_pushed,
            "wantsFullScreenLayout": wants_full_screen_layout,
            "extendsUnderOpaqueBars": extends_under_opaque_bars, "canPop": can_pop,
            "modalInPresentation": modal_in_presentation, "edges": edges,
            "toolbarItems": toolbar_items, "accessibilityLabel": accessibility_label,
            "language": language})


#: A screen: a new one, its record as a dict, or the id of one that the nav knows.
AnyScreen: TypeAlias = Union[ScreenDescription, Mapping[str, JSON], str]
