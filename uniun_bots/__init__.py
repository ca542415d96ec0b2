"""uniun-bots: persona bots on Nostr relays, one declarative file each.

`from uniun_bots import Host` is the whole product as a library: `async with Host("my-bots") as host: …`
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uniun_bots.host.host import Host

__all__ = ["Host", "__version__"]
__version__ = version("uniun-bots")


def __getattr__(name: str) -> Any:
    """Host is loaded when it is asked for: the model's worker imports this package and needs none of it."""
    if name != "Host":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from uniun_bots.host.host import Host

    return Host
