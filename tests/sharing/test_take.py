"""The last gate before the store: verified once more, and about exactly the bytes that were said yes to."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from tests.factory import NOW
from tests.sharing.samples import TEXT, YEAR_S, published, release
from tests.skills.samples import skill_file
from uniun_bots.database.store import Store
from uniun_bots.errors import Expired, NotAccepted, NotText, SharingRefused, TooLarge, WrongSignature
from uniun_bots.sharing.event import LARGEST_BYTES, hash_of
from uniun_bots.sharing.take import Parcel, read_parcel, take
from uniun_bots.skills.installed import installed_skills


async def parcel(text: str = TEXT) -> Parcel:
    event = (await published(release(text)))[1]
    return Parcel(
        text, hash_of(text), "npub1…/tide-table", "ada", event.raw.decode(), ("ws://a",), ("f" * 64,)
    )


def local(text: str) -> Parcel:
    return Parcel(text, hash_of(text), "/home/ada/x.md", "ada")


async def test_a_yes_is_kept_with_all_that_is_known_of_where_it_came_from(store: Store) -> None:
    await take(store, read_parcel(json.loads(json.dumps(asdict(await parcel())))), NOW)
    (found,) = await store.read(installed_skills)
    assert (found.name, found.content, found.approved_by, found.approved_at) == (
        "tide-table",
        TEXT,
        "ada",
        NOW,
    )
    assert found.origin is not None
    assert (found.origin.relays, found.origin.labels, found.origin.version) == (
        ("ws://a",),
        ("f" * 64,),
        "1.0.0",
    )


async def test_a_local_file_is_kept_with_its_path(store: Store) -> None:
    await take(store, local(skill_file("tone")), NOW)
    (found,) = await store.read(installed_skills)
    assert (found.name, found.origin, found.source) == ("tone", None, "/home/ada/x.md")


@pytest.mark.parametrize(
    ("spoilt", "error"),
    [
        (lambda one: replace(one, content=TEXT + "!"), NotAccepted),
        (lambda one: replace(one, content=TEXT + "!", agreed_hash=hash_of(TEXT + "!")), NotAccepted),
        (lambda one: replace(one, agreed_hash="0" * 64), NotAccepted),
        (lambda one: replace(one, raw=one.raw.replace("tide comes", "tide went!")), WrongSignature),
        (lambda one: local(skill_file("tone", "type: js")), NotText),
        (lambda one: local(skill_file("tone") + "\r\n"), NotAccepted),
        (lambda one: local(skill_file("tone", body="x" * LARGEST_BYTES)), TooLarge),
    ],
)
async def test_whatever_else_comes_is_refused_and_nothing_is_written(
    store: Store, spoilt: object, error: type[SharingRefused]
) -> None:
    assert callable(spoilt)
    with pytest.raises(error):
        await take(store, spoilt(await parcel()), NOW)
    assert await store.read(installed_skills) == []


async def test_what_expired_between_the_look_and_the_yes_is_refused(store: Store) -> None:
    with pytest.raises(Expired):
        await take(store, await parcel(), NOW + YEAR_S)
    assert await store.read(installed_skills) == []
