"""The Python client of navd, which keeps the navigation stacks of a device (docs/python.md).

`connect` makes a client with methods that block; `navd.aio.connect` makes one for asyncio.
"""

from . import aio, operations
from .bar import BackButton, Bar, BarButton, MenuEntry, Slot
from .client import Client, Duty, Removal, Statuses, Watch, connect
from .core.actions import Status
from .errors import NavigationError, Retry, TopChange
from .generated.descriptions import ButtonDescription, ItemDescription, ScreenDescription
from .guards import Guard
from .operations import Operation
from .questions import Animation, Orientations, Question
from .reply import Pong, Reply
from .state import Author, Event, Latest, Presentation, Screen, State
from .wire import JSON

__all__ = [
    "JSON", "Animation", "Author", "BackButton", "Bar", "BarButton", "ButtonDescription", "Client",
    "Duty", "Event", "Guard", "ItemDescription", "Latest", "MenuEntry", "NavigationError",
    "Operation", "Orientations", "Pong", "Presentation", "Question", "Removal", "Reply", "Retry",
    "Screen", "ScreenDescription", "Slot", "State", "Status", "Statuses", "TopChange", "Watch",
    "aio", "connect", "operations",
]
