"""Events and keys that the tests of this room share. All keys are throw-away keys."""

from __future__ import annotations

import json
from pathlib import Path

from uniun_bots.nostr.event import Event

BOT = "6435556f51d65824aaf52cc03060a3e767b3080b37022497859c791f6e23a065"
BOT_NPUB = "npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy"
BOT_SECRET = "6b52b64bab2c2d9c0f0814540f607980aafe91791c49dcfc9a38c10e2df17071"
BOT_NSEC = "nsec1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsqcvpzm"
ALICE = "d23d30861aa5f307eb9331096d719e362ca39acf38212e3c70e20167c3f51a63"
BOB = "e9d0b937d34ad801cac9a6397b5b9422a8e4116feafe5a2cad12268578566511"
PUBLISHER = "eb402209e7902965f3f0fc6cffb4dc980dbd08f6304a4a9b9e713dbedac4ab7f"
CHANNEL = "69e36568cd8b4659389b9fcfbe1167547f6421e78168bfb439dada2ffddb0146"
FIRST = "4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2"
SECOND = "e47125968b3b71049fbc4802d1e40a71ea1359decfabacf70b34588037d4ff0c"
THIRD = "da925a30e31f7fdaa7044e3e5ba4ae17670de82d677b0e7adf5700428a137a36"

SIGNED: dict[str, str] = json.loads((Path(__file__).parent / "events.json").read_text())
"""Events as JSON text, by what is special about them."""


def an_event(*tags: list[str], kind: int = 1, content: str = "", author: str = ALICE) -> Event:
    """Not signed: for the readers that come after the border."""
    return Event(
        id="0" * 64,
        author=author,
        created_at=1_750_000_000,
        kind=kind,
        tags=tuple(map(tuple, tags)),
        content=content,
        raw=b"",
    )
