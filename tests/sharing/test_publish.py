"""Versions that follow each other on a real relay, and taking them back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factory import NOW
from tests.sharing import samples
from tests.sharing.samples import ADA, EVE, TEXT, published
from tests.sharing.town import Town
from tests.skills.samples import skill_file
from uniun_bots.errors import Deleted, NotFetched, NotFound, SharingRefused, TooLarge
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.signer import difficulty_of
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.sharing.event import LARGEST_BYTES, read_manifest
from uniun_bots.sharing.fetch import fetch
from uniun_bots.sharing.publish import (
    Before,
    Published,
    difficulty_for,
    next_version,
    published_before,
    release_of,
    revocation,
    send,
    sign_release,
    strangers_among,
    written_version,
)
from uniun_bots.sharing.reference import read_wanted, spell_name
from uniun_bots.sharing.verify import skill_of, verified_skill
from uniun_bots.sharing.versions import Version

KEY = ADA.public_key
NOTHING = Before(None, None)


async def give_out(town: Town, text: str = TEXT, version: str | None = None, now: float = NOW) -> Published:
    before = await published_before(town.where, KEY, "tide-table")
    release = release_of("tide-table", "Tides", text, before, version=version, good_for_s=60, now=now)
    made = await sign_release(release, ADA, before)
    for receipts in await send(town.door, (made.of_version, made.of_name), town.urls):
        assert all(receipt.fate.delivered for receipt in receipts)
    return made


async def test_each_version_stays_under_its_own_address_and_the_name_follows(town: Town) -> None:
    first = await give_out(town)
    second = await give_out(town, TEXT + "And when it goes.\n")
    stored = await town.door.fetch([Filter(kinds=(33400,), authors=(KEY,))])
    assert {event.id for event in stored} == {first.of_version.id, second.of_version.id, second.of_name.id}
    found = read_manifest(second.of_name)
    assert (str(found.version), found.previous) == ("1.0.1", (first.of_name.id,))
    assert read_manifest(second.of_version).previous == (first.of_version.id, first.of_name.id)


async def test_two_versions_in_one_second_are_one_after_the_other(town: Town) -> None:
    first, second = await give_out(town), await give_out(town)
    assert second.of_name.created_at == first.of_name.created_at + 1
    assert (await give_out(town, now=NOW - 1000)).of_name.created_at > second.of_name.created_at


async def test_windows_line_ends_are_published_as_the_canonical_bytes(town: Town) -> None:
    made = await give_out(town, "\ufeff" + TEXT.replace("\n", "\r\n"))
    assert made.of_name.content == TEXT
    assert verified_skill(made.of_name, NOW)


@pytest.mark.parametrize(
    ("before", "given", "found"),
    [
        (None, None, "1.0.0"),
        ("1.0.0", None, "1.0.1"),
        ("1.0.0", "2.0.0", "2.0.0"),
        ("2.0.0-rc.1", None, "2.0.0"),
    ],
)
def test_the_next_version_is_the_given_one_or_one_patch_up(
    before: str | None, given: str | None, found: str
) -> None:
    assert str(next_version(Version(before) if before else None, given)) == found


@pytest.mark.parametrize(
    ("given", "told"), [("1.0.0", "published already"), ("0.9.0", "such as 1.0.1"), ("1", "such as")]
)
def test_a_version_never_takes_the_place_of_one_that_is_out(given: str, told: str) -> None:
    with pytest.raises(SharingRefused, match=told):
        next_version(Version("1.0.0"), given)


async def test_the_version_in_the_file_counts_when_it_is_above_what_is_out() -> None:
    text = skill_file("tide-table", "metadata: {version: '1.4.0'}")
    skill = skill_of(text, "tide-table")
    assert written_version(skill, NOTHING) == "1.4.0"
    out = read_manifest((await published(samples.release(version="1.4.0")))[1])
    assert written_version(skill, Before(out, None)) is None


def test_what_readers_would_refuse_for_its_size_is_not_signed() -> None:
    text = skill_file("tide-table", body="€" * (LARGEST_BYTES // 3))
    with pytest.raises(TooLarge):
        release_of("tide-table", "Tides", text, NOTHING, version=None, good_for_s=60, now=NOW)


async def test_without_an_answer_from_any_relay_no_version_is_made(town: Town) -> None:
    away = replace(town.where, relays=("ws://127.0.0.1:1",), patience_s=0.2)
    with pytest.raises(NotFetched, match="none of the relays answered"):
        await published_before(away, KEY, "tide-table")


async def test_a_revocation_takes_every_version_back(town: Town) -> None:
    first, second = await give_out(town), await give_out(town)
    await town.put(*await published(by=EVE))
    gone = await revocation(town.where, ADA, "tide-table", "wrong port", NOW)
    assert set(gone.tag_values("e")) == {first.of_version.id, second.of_version.id, second.of_name.id}
    assert set(gone.tag_values("a")) == {
        f"33400:{KEY}:{d}" for d in ("tide-table", "tide-table@1.0.0", "tide-table@1.0.1")
    }
    assert gone.tag_values("k") == ["33400"]
    await town.put(gone)
    for d in ("tide-table", "tide-table@1.0.0", "tide-table@1.0.1"):
        with pytest.raises(Deleted, match="wrong port"):
            await fetch(town.where, read_wanted(spell_name(KEY, d)))
    assert (await fetch(town.where, read_wanted(spell_name(EVE.public_key, "tide-table")))).event


async def test_a_version_after_a_revocation_stands(town: Town) -> None:
    await give_out(town)
    gone = await revocation(town.where, ADA, "tide-table", "", NOW)
    await town.put(gone)
    made = await give_out(town, version="1.1.0", now=gone.created_at + 1)
    found = await fetch(town.where, read_wanted(spell_name(KEY, "tide-table")))
    assert found.event == made.of_name
    assert verified_skill(found.event, NOW, found.deletions)


async def test_work_is_mined_into_both_events_and_the_hardest_relay_decides(town: Town) -> None:
    before = await published_before(town.where, KEY, "tide-table")
    release = release_of("tide-table", "Tides", TEXT, before, version=None, good_for_s=60, now=NOW)
    made = await sign_release(release, ADA, before, difficulty=8)
    for event in (made.of_version, made.of_name):
        assert difficulty_of(event.id) >= 8 and verified_skill(event, NOW)
    relays = [RelayAddress(url=town.urls[0], pow=bits) for bits in (0, 12, 3)]
    assert await difficulty_for(town.door, relays, 5) == 12
    assert await difficulty_for(town.door, relays[:1], 5) == 5


async def test_nothing_is_revoked_that_no_relay_has(town: Town) -> None:
    with pytest.raises(NotFound, match="by this key is on .*`--to SET`"):
        await revocation(town.where, ADA, "tide-table", "", NOW)


def test_relays_out_in_the_world_are_told_from_our_own() -> None:
    near = ["ws://127.0.0.1:7777", "ws://localhost:80", "ws://[::1]:7777", "ws://192.168.1.4:7777"]
    far = ["wss://relay.example", "wss://93.184.216.34", "ws://localhost.example"]
    assert strangers_among([*near, *far]) == far
