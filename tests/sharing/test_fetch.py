"""What a reference leads to, with relays that lack, hide or are late, and what is said when nothing is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factory import NOW
from tests.sharing.samples import ADA, EVE, deletion, head_draft, published, release, signed
from tests.sharing.town import Town
from uniun_bots.errors import Deleted, Gone, NotFetched
from uniun_bots.nostr.reference import spell_note
from uniun_bots.sharing.event import read_manifest
from uniun_bots.sharing.fetch import fetch
from uniun_bots.sharing.reference import read_wanted, spell_address, spell_event, spell_name
from uniun_bots.sharing.verify import verified_skill

KEY = ADA.public_key
NAME = spell_name(KEY, "tide-table")


async def test_an_id_leads_to_exactly_that_event_and_says_where_it_was(two_relays: Town) -> None:
    of_version, of_name = await published()
    await two_relays.put(of_version, of_name)
    await two_relays.put(*await published(release(version="1.1.0", created_at=NOW)), at=[0])
    found = await fetch(two_relays.where, read_wanted(spell_note(of_version.id)))
    assert (found.event, found.relays) == (of_version, two_relays.urls)
    old = await fetch(two_relays.where, read_wanted(of_name.id))
    assert (old.event, old.relays) == (of_name, two_relays.urls[1:])


async def test_a_name_leads_to_the_newest_version_that_any_relay_has(two_relays: Town) -> None:
    await two_relays.put(*await published(), at=[0])
    newer = await published(release(version="1.1.0", created_at=NOW))
    await two_relays.put(*newer, at=[1])
    for written in (NAME, spell_address(33400, KEY, "tide-table")):
        assert (await fetch(two_relays.where, read_wanted(written))).event == newer[1]
    assert (await fetch(two_relays.where, read_wanted(f"{NAME}@1.1.0"))).event == newer[0]


async def test_of_two_versions_in_one_second_the_lower_id_counts(two_relays: Town) -> None:
    one = await signed(head_draft(description="One"))
    other = await signed(head_draft(description="Other"))
    await two_relays.put(one, at=[0])
    await two_relays.put(other, at=[1])
    found = await fetch(two_relays.where, read_wanted(NAME))
    assert found.event.id == min(one.id, other.id)


async def test_a_name_of_one_author_never_leads_to_an_event_of_another(town: Town) -> None:
    await town.put(*await published(by=EVE))
    with pytest.raises(NotFetched, match="none of the relays has it"):
        await fetch(town.where, read_wanted(NAME))


async def test_a_relay_that_hides_a_deletion_hides_it_in_vain(two_relays: Town) -> None:
    of_version, of_name = await published()
    await two_relays.put(of_version, of_name, at=[0])
    await two_relays.put(await deletion(("e", of_version.id)), at=[1])
    found = await fetch(two_relays.where, read_wanted(of_version.id))
    with pytest.raises(Deleted):
        verified_skill(found.event, NOW, found.deletions)


async def test_deletions_by_others_are_not_even_taken(two_relays: Town) -> None:
    of_version, _ = await published()
    await two_relays.put(of_version, at=[0])
    await two_relays.put(await deletion(("e", of_version.id), by=EVE), at=[1])
    assert (await fetch(two_relays.where, read_wanted(of_version.id))).deletions == ()


@pytest.mark.parametrize("form", ["name", "nevent"])
async def test_what_its_author_took_back_is_told_apart_from_what_was_never_there(
    town: Town, form: str
) -> None:
    of_version, of_name = await published()
    await town.put(of_version, of_name)
    address = f"33400:{KEY}:tide-table"
    await town.put(await deletion(("e", of_name.id), ("a", address), why="wrong port"))
    written = NAME if form == "name" else spell_event(of_name.id, KEY, 33400)
    with pytest.raises(Deleted, match="wrong port"):
        await fetch(town.where, read_wanted(written))


async def test_an_id_that_is_gone_says_which_version_replaced_it_and_how_to_get_it(town: Town) -> None:
    old = await published()
    await town.put(*old)
    for number, version in enumerate(("1.1.0", "1.2.0")):
        before, version_before = map(read_manifest, reversed(old))
        made = release(version=version, created_at=NOW + number)
        old = await published(made, before=before, pinned_before=version_before)
        await town.put(*old)
        if number == 0:
            first_head = before.event
    with pytest.raises(Gone, match="replaced it by tide-table 1.2.0") as gone:
        await fetch(town.where, read_wanted(spell_event(first_head.id, KEY, 33400)))
    found = await fetch(town.where, read_wanted(gone.value.replaced_by))
    assert str(verified_skill(found.event, NOW).manifest.version) == "1.2.0"


async def test_the_author_of_a_lost_id_may_be_known_from_before(town: Town) -> None:
    old = await published()
    newer = release(version="1.1.0", created_at=NOW)
    await town.put(*await published(newer, before=read_manifest(old[1]), pinned_before=read_manifest(old[0])))
    wanted = read_wanted(spell_note(old[1].id))
    with pytest.raises(NotFetched, match="nevent1… or npub1…/name") as nobody:
        await fetch(town.where, wanted)
    assert not isinstance(nobody.value, Gone)
    with pytest.raises(Gone):
        await fetch(town.where, wanted, author_of={old[1].id: KEY}.get)


async def test_a_stranger_cannot_claim_to_have_replaced_a_version(town: Town) -> None:
    old = await published()
    usurped = release(version="1.1.0", created_at=NOW)
    await town.put(*await published(usurped, by=EVE, before=read_manifest(old[1])))
    with pytest.raises(NotFetched) as caught:
        await fetch(town.where, read_wanted(spell_event(old[1].id, KEY, 33400)))
    assert not isinstance(caught.value, Gone)


async def test_relays_that_do_not_answer_are_told_apart_from_relays_without_it(town: Town) -> None:
    away = replace(town.where, relays=("ws://127.0.0.1:1",), patience_s=0.3)
    with pytest.raises(NotFetched, match="none of the relays answered: ws://127.0.0.1:1"):
        await fetch(away, read_wanted(NAME))


async def test_a_relay_that_is_away_does_not_hide_what_another_has(town: Town) -> None:
    await town.put(*await published())
    where = replace(town.where, relays=("ws://127.0.0.1:1", *town.urls), patience_s=1.0)
    assert (await fetch(where, read_wanted(NAME))).relays == town.urls


async def test_hints_of_a_reference_are_followed_to_public_addresses_only(town: Town) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["93.184.216.34"] if host == "public.example" else ["10.0.0.1"]

    hints = ("wss://private.example", "wss://public.example", "ws://plain.example", "wss://127.0.0.1")
    where = replace(town.where, resolve=resolve)
    found = await where.with_hints(hints)
    assert found.relays == (*town.urls, "wss://public.example")
    assert "plain.example" not in asked
    assert (await replace(where, follow_hints=False).with_hints(hints)).relays == town.urls
