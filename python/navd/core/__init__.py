"""The decisions of a client, without clock and I/O.

`Cluster` takes events with the time in seconds, and gives back actions for a shell. It has a
`Session` for each daemon, and each session has a `Mirror` for each nav that it watches.
"""

from .actions import Action, Address
from .cluster import Cluster
from .digest import checksum
from .mirror import Mirror
from .session import Options, Session

__all__ = ["Action", "Address", "Cluster", "Mirror", "Options", "Session", "digest"]
