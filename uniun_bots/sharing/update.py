"""What an installed skill would become: whether there is anything newer, and what is different in it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from enum import StrEnum

from uniun_bots.sharing.candidate import Candidate
from uniun_bots.sharing.reference import Wanted
from uniun_bots.sharing.versions import read_version
from uniun_bots.sharing.visible import visible_file
from uniun_bots.sharing.warnings import warnings_in
from uniun_bots.skills.provenance import Installed, Origin


class News(StrEnum):
    SAME = "up to date"
    OLDER = "the relays have nothing newer"
    """What they have was signed before what is installed."""
    NEWER = "newer"
    RENEWED = "the same text, good for longer"


def wanted_for(origin: Origin) -> Wanted:
    """The address of the author whose skill was installed: nobody else's."""
    _, author, name = origin.address.split(":", 2)
    return Wanted(author=author, d=name, hints=origin.relays)


def news(before: Installed, candidate: Candidate, before_created_at: int) -> News:
    manifest, origin = candidate.manifest, before.origin
    if manifest is None or origin is None or manifest.event.id == origin.event_id:
        return News.SAME
    if manifest.event.created_at < before_created_at:
        return News.OLDER
    if candidate.content_hash != before.content_hash:
        return News.NEWER
    return News.RENEWED if manifest.expires_at > origin.expires_at else News.SAME


def difference(before: Installed, candidate: Candidate) -> Iterator[str]:
    """Of the text and of the warnings, line by line; everything that hides is made visible."""
    old, new = visible_file(before.content).split("\n"), visible_file(candidate.text).split("\n")
    was = f"{before.name} {before.origin.version if before.origin else 'as installed'}"
    becomes = f"{candidate.name} {candidate.manifest.version if candidate.manifest else 'as in the file'}"
    yield from unified_diff(old, new, was, becomes, lineterm="")
    yield ""
    yield from warning_changes(before.content, candidate.text)
    if falls(before, candidate):
        yield "its version is LOWER than the installed one: an older text may be sold as a newer one"


def warning_changes(old: str, new: str) -> Iterator[str]:
    """By what they say, whatever line they stand in now."""
    known = {(one.kind, one.message) for one in warnings_in(old)}
    now = {(one.kind, one.message) for one in warnings_in(new)}
    added = [one for one in warnings_in(new) if (one.kind, one.message) not in known]
    gone = [one for one in warnings_in(old) if (one.kind, one.message) not in now]
    yield f"{len(added)} new {'warning' if len(added) == 1 else 'warnings'}, {len(gone)} gone"
    yield from (f"  + {one}" for one in added)
    yield from (f"  - {one}" for one in gone)


def falls(before: Installed, candidate: Candidate) -> bool:
    if candidate.manifest is None or before.origin is None:
        return False
    installed = read_version(before.origin.version)
    return installed is not None and candidate.manifest.version < installed
