"""Authors, releases and signed events for tests of what is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.factory import NOW
from tests.skills.samples import skill_file
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import read_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.sharing.event import Manifest, Release, drafts
from uniun_bots.sharing.versions import Version

YEAR_S = 365 * 86_400
TEXT = skill_file("tide-table", body="Say when the tide comes.")
ADA = LocalSigner(read_secret("a1" * 32))
EVE = LocalSigner(read_secret("e7" * 32))


def release(text: str = TEXT, **changes: Any) -> Release:
    """Of `tide-table` 1.0.0, a minute old and good for a year."""
    plain = Release(
        name="tide-table",
        version=Version("1.0.0"),
        description="Tides",
        text=text,
        expires_at=NOW + YEAR_S,
        created_at=NOW - 60,
    )
    if "version" in changes:
        changes["version"] = Version(changes["version"])
    return replace(plain, **changes)


async def published(
    given: Release | None = None,
    by: LocalSigner = ADA,
    before: Manifest | None = None,
    pinned_before: Manifest | None = None,
) -> tuple[Event, Event]:
    """The event of the version and that of the name."""
    made = drafts(given or release(), by.public_key, before=before, pinned_before=pinned_before)
    return await by.sign(made[0]), await by.sign(made[1])


async def signed(draft: Draft, by: LocalSigner = ADA) -> Event:
    return await by.sign(draft)


def head_draft(text: str = TEXT, **changes: Any) -> Draft:
    """Of the name, to be spoilt before it is signed."""
    return drafts(release(text, **changes), ADA.public_key)[1]


def with_tag(draft: Draft, name: str, *values: str | None) -> Draft:
    """Each tag of that name replaced by one for each value; None stands for no tag."""
    others = tuple(tag for tag in draft.tags if tag[0] != name)
    return replace(draft, tags=(*((name, value) for value in values if value is not None), *others))


async def deletion(*tags: Sequence[str], by: LocalSigner = ADA, at: int = NOW, why: str = "") -> Event:
    return await by.sign(Draft(5, why, tuple(map(tuple, tags)), at))
