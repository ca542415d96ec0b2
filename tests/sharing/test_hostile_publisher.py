"""Every row of the table of attacks: refused by the right step, or shown as it is; never written, never speaking."""

from __future__ import annotations

import contextlib
import unicodedata
from dataclasses import replace

import pytest

from tests.factory import NOW
from tests.sharing.hostile import ATTACKS, ESCAPES, HONEST, Attack, Liar
from tests.stores import count
from uniun_bots.database.store import Store
from uniun_bots.errors import NotAccepted, SharingRefused
from uniun_bots.relays.nip05 import Nip05
from uniun_bots.sharing.candidate import Candidate, look_up
from uniun_bots.sharing.consent import ask_consent
from uniun_bots.sharing.event import hash_of
from uniun_bots.sharing.gate import look
from uniun_bots.sharing.preview import preview
from uniun_bots.sharing.take import Parcel, parcel_of, take
from uniun_bots.skills.catalogue import BUILTINS

TRUE_BUT_NOT_ASKED_FOR = [
    "another author under the name",
    "a relay that swaps the event",
    "a stranger claims to have followed",
    "a relay that hides the deletion",
    "a relay that hides the deletion of the address",
]
"""An event that is right in itself; what is wrong is told by the reference, or by what other relays have."""


def inert(line: str) -> bool:
    """Nothing in it moves a cursor, rings, or changes the direction of writing."""
    return not any(
        unicodedata.category(char) in ("Cc", "Cs")
        or "\u202a" <= char <= "\u202e"
        or "\u2066" <= char <= "\u2069"
        for char in line
    )


async def shown_of(attack: Attack) -> tuple[Candidate, list[str]]:
    where = Liar(attack.relays).where
    candidate = await look_up(where, attack.reference, NOW)
    gate = await look(candidate, where, Nip05(proxied=True), owner=None, known=BUILTINS)
    return candidate, list(gate.lines(columns=80))


def test_the_table_is_long() -> None:
    assert len(ATTACKS) >= 100


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_is_refused_by_its_step_or_shown_as_it_is(attack: str) -> None:
    built = await ATTACKS[attack]()
    if built.refused is None:
        candidate, lines = await shown_of(built)
        assert all(inert(line) for line in lines)
        assert built.told in "\n".join(lines)
        with pytest.raises(NotAccepted):
            ask_consent(preview(candidate.text, candidate.name), None, None)
        return
    with pytest.raises(built.refused) as caught:
        await shown_of(built)
    told = str(caught.value)
    assert built.told in told
    assert all(inert(line) for line in told.split("\n")), told


async def test_a_yes_beforehand_gets_past_no_step_of_the_verification(store: Store) -> None:
    """A script says yes to exactly the bytes of an attack: only what is true by itself is taken."""
    taken = []
    for attack, build in ATTACKS.items():
        built = await build()
        event = next((event for relay in built.relays for event in relay if event.kind != 5), None)
        if built.refused is None or event is None:
            continue
        yes = Parcel(event.content, hash_of(event.content), built.reference, "eve", event.raw.decode())
        with contextlib.suppress(SharingRefused):
            await take(store, yes, NOW)
            taken.append(attack)
    assert taken == TRUE_BUT_NOT_ASKED_FOR
    assert await store.read(lambda tx: count(tx, "skills")) == 1


@pytest.mark.parametrize("what", HONEST)
async def test_honest_text_comes_before_a_person_without_a_warning(what: str) -> None:
    _, lines = await shown_of(await ATTACKS[f"honest: {what}"]())
    assert "0 warnings" in lines
    assert not any("⟦" in line for line in lines)


async def test_a_yes_is_for_the_bytes_that_were_shown_and_no_others(store: Store) -> None:
    built = await ATTACKS["a second frontmatter in the body"]()
    candidate, _ = await shown_of(built)
    parcel = parcel_of(candidate, hash_of("other"), "ada")
    with pytest.raises(NotAccepted, match="other bytes"):
        await take(store, parcel, NOW)
    swapped = replace(parcel_of(candidate, candidate.content_hash, "ada"), content=candidate.text + "!")
    with pytest.raises(NotAccepted):
        await take(store, swapped, NOW)
    assert await store.read(lambda tx: count(tx, "skills")) == 0


def test_the_escapes_of_the_table_are_not_inert() -> None:
    assert not inert(ESCAPES)
