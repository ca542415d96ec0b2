"""A named set of relays: one file `relays/<name>.yaml`."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from nostr_sdk import NostrSdkError, RelayUrl
from pydantic import BaseModel, model_validator

from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT, Flag


@lru_cache(4096)
def relay_url(written: str) -> str:
    """One spelling per relay: lower-case host, no default port, no slash after a bare host."""
    for web, relay in (("https://", "wss://"), ("http://", "ws://")):
        if written.startswith(web):
            raise ValueError(f"must be a websocket address: write {relay} instead of {web}")
    example = "must be a relay address such as wss://relay.example or ws://127.0.0.1:7777"
    if "://" not in written:
        raise ValueError(example)
    if "@" in written.split("://", 1)[1].partition("/")[0]:
        raise ValueError(f"{example}: a name and password before `@` would not be sent")
    try:
        url = str(RelayUrl.parse(written))
    except NostrSdkError:
        raise ValueError(example) from None
    return url[:-1] if url.endswith("/") and url.count("/") == 3 else url


class RelayAddress(BaseModel):
    model_config = STRICT

    url: Annotated[str, scalars.checked(relay_url, "`wss://…`, or `ws://…` in your own network")]
    read: Flag = True
    """Listen here."""
    write: Flag = True
    """Publish here."""
    auth: Flag = False
    """May this relay make us log in (NIP-42)?"""
    pow: Annotated[int, scalars.whole(0, 40)] | None = None
    """Leading zero bits (NIP-13) that this relay wants; without one: as it says itself (NIP-11)."""
    pace: Annotated[int, scalars.whole(1, 100_000)] | None = None
    """Events a minute that we send at most; without one: as fast as it takes them."""

    @model_validator(mode="before")
    @classmethod
    def _read_lone_url(cls, given: Any) -> Any:
        return {"url": given} if isinstance(given, str) else given


class RelaySet(BaseModel):
    model_config = STRICT

    name: str
    relays: Annotated[tuple[RelayAddress, ...], scalars.list_of("relays", 50, at_least=1)]
