"""A Manas: what one file `manas/<name>.yaml` names as knowledge."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from uniun_bots.errors import BadBech32
from uniun_bots.nostr.event_id import is_id
from uniun_bots.nostr.reference import read_reference
from uniun_bots.nostr.references import normal_topic
from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT, Line
from uniun_bots.personas.references import event_id_hex, public_key_hex
from uniun_bots.personas.shown import shown

LONG_FORM = 30023


def address(written: str) -> str:
    """`30023:<public key>:<d>`, also for an naddr."""
    given = written.removeprefix("nostr:")
    if given.startswith("naddr1"):
        try:
            given = read_reference(given).target
        except BadBech32 as error:
            raise ValueError(f"is not usable: the naddr cannot be read ({error})") from None
    kind, _, rest = given.partition(":")
    author, colon, name = rest.partition(":")
    if not colon or not is_id(author.lower()):
        raise ValueError(f"must be an address such as 30023:<public key in hex>:<d>, not {shown(written)}")
    if kind != str(LONG_FORM):
        raise ValueError(f"has kind {shown(kind)}: only long-form notes ({LONG_FORM}:…) are kept")
    return f"{kind}:{author.lower()}:{name}"


def topic(written: str) -> str:
    if not (found := normal_topic(written)):
        raise ValueError("must be a topic such as gardening")
    return found


class Named(BaseModel):
    """Any mix; a note that any of these names belongs to it."""

    model_config = STRICT

    notes: Annotated[
        tuple[Annotated[str, scalars.checked(event_id_hex, "note id")], ...],
        scalars.list_of("note ids (note, nevent or hex)", 10_000),
    ] = ()
    """Read from relays by their ids."""
    authors: Annotated[
        tuple[Annotated[str, scalars.checked(public_key_hex, "public key")], ...],
        scalars.list_of("public keys (npub, nprofile or hex)", 1000),
    ] = ()
    """Everything they write in public: short notes, long-form notes, messages in groups that are read."""
    topics: Annotated[
        tuple[Annotated[str, scalars.checked(topic, "topic")], ...], scalars.list_of("topics", 1000)
    ] = ()
    """Notes with this `t` tag, of those that are read for some other reason."""
    groups: Annotated[
        tuple[Annotated[str, scalars.checked(event_id_hex, "id of a kind-40 event")], ...],
        scalars.list_of("ids of kind-40 events", 100),
    ] = ()
    """All messages of a public group."""
    addresses: Annotated[
        tuple[Annotated[str, scalars.checked(address, "`30023:KEY:D` or naddr")], ...],
        scalars.list_of("addresses (30023:KEY:D or naddr)", 1000),
    ] = ()
    """Long-form notes, each in its newest version."""
    files: Annotated[tuple[Line, ...], scalars.list_of("markdown files and folders", 1000)] = ()
    """Markdown files, or folders with everything in them, relative to `manas/`. They become drafts."""


class Manas(Named):
    name: str
    file: str
    """Path as it is told to people."""
    description: Line | None = None
    """For people; models do not see it."""
    exclude: Named = Named()
    """Never a member, whatever else names it."""

    @property
    def is_remote(self) -> bool:
        """Whether relays are asked for anything."""
        return bool(self.notes or self.authors or self.groups or self.addresses)

    @property
    def is_empty(self) -> bool:
        return not (self.is_remote or self.topics or self.files)
