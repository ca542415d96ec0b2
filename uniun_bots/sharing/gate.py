"""All that a person is shown before a yes, in the order in which it is read: the text, warnings, who signed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from uniun_bots.relays.nip05 import Nip05
from uniun_bots.sharing.event import SKILL, Manifest
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.preview import Preview, lines_of, preview
from uniun_bots.sharing.signer_info import SignerInfo, signer_lines, who_signed
from uniun_bots.sharing.visible import visible_line
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.library import PREFIX


class Offered(Protocol):
    """Something verified, or a local file: a skill or a template that waits for a yes."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def manifest(self) -> Manifest | None: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Gate:
    offered: Offered
    preview: Preview
    signer: SignerInfo | None
    """None for a local file."""

    def lines(self, columns: int | None = None) -> Iterator[str]:
        yield from lines_of(self.preview, columns)
        manifest = self.offered.manifest
        if manifest is None:
            yield f"from {visible_line(self.offered.source)}: nobody signed it"
        else:
            yield f"version {manifest.version}, event {manifest.event.id}: id, signature and hash are right"
            yield f"good until {_day(manifest.expires_at)}"
        if self.signer is not None:
            yield from signer_lines(self.signer)
        if self.preview.what == SKILL.what and self.offered.name in BUILTINS:
            yield f"a predefined skill has that name: the model calls this one {PREFIX}{self.offered.name}"
        yield from (f"not taken along: {visible_line(name)}" for name in self.offered.left_out)

    def as_json(self) -> dict[str, Any]:
        """For programs: the text as it is, so not for a terminal."""
        manifest, signer = self.offered.manifest, self.signer
        told: dict[str, Any] = {
            "name": self.offered.name,
            "what": self.preview.what,
            "hash": self.preview.spelled_hash,
            "text": self.offered.text,
            "shown": self.preview.text,
            "warnings": [asdict(one) for one in self.preview.warnings],
            "similar": list(self.preview.similar),
            "left_out": list(self.offered.left_out),
        }
        if manifest is not None:
            told |= {
                "version": str(manifest.version),
                "event_id": manifest.event.id,
                "address": manifest.address,
                "expires_at": manifest.expires_at,
            }
        if signer is not None:
            told["signer"] = asdict(signer) | {"nip05": str(signer.nip05) if signer.nip05 else None}
        return told

    @property
    def warned_by(self) -> tuple[str, ...]:
        """Ids of the labels that a yes is said in spite of."""
        return tuple(dict.fromkeys(label.event_id for label in self.signer.malicious)) if self.signer else ()


def _day(at: int) -> str:
    """In UTC. Authors may write any second, also beyond all calendars."""
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "further than a calendar goes"


async def look(
    offered: Offered,
    where: Where | None,
    names: Nip05,
    *,
    owner: str | None,
    known: Iterable[str] = (),
    what: str = SKILL.what,
) -> Gate:
    """`where` is None for a local file; `known` are the names that this one must not be taken for."""
    shown = preview(offered.text, offered.name, what=what, known=known)
    signer = None
    if where is not None and offered.manifest is not None:
        signer = await who_signed(where, offered.manifest, owner, names)
    return Gate(offered, shown, signer)
