from __future__ import annotations

import pytest

from tests.sharing.samples import ADA
from uniun_bots.errors import Unresolved
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.reference import read_reference, spell_note, spell_npub
from uniun_bots.sharing.reference import Wanted, read_wanted, spell_address, spell_event, spell_name

KEY, ID = ADA.public_key, "0f" * 32
RELAYS = ("wss://relay.example",)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (ID, Wanted(ID)),
        (ID.upper(), Wanted(ID)),
        (spell_note(ID), Wanted(ID)),
        (f"nostr:{spell_note(ID)}", Wanted(ID)),
        (spell_event(ID, KEY, 33400, RELAYS), Wanted(ID, KEY, hints=RELAYS)),
        (spell_address(33400, KEY, "tides", RELAYS), Wanted(None, KEY, "tides", RELAYS)),
        (spell_name(KEY, "tides"), Wanted(None, KEY, "tides")),
        (f" {spell_npub(KEY)}/tides@1.0.0 ", Wanted(None, KEY, "tides@1.0.0")),
        (f"{KEY}/tides", Wanted(None, KEY, "tides")),
    ],
)
def test_every_form_of_a_reference_is_understood(written: str, found: Wanted) -> None:
    assert read_wanted(written) == found


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("tides", "write note1"),
        (spell_npub(KEY), "names a person: write npub1…/name"),
        (f"{spell_npub(KEY)}/../../etc", "no name of a skill"),
        (f"{spell_npub(KEY)}/tides@latest", "write the name, or name@1.0.0"),
        (f"{spell_npub(KEY)}/", "no name of a skill"),
        ("nobody/tides", "names nobody"),
        (spell_address(30023, KEY, "tides"), "kind 30023; a skill is of kind 33400"),
        (spell_note(ID)[:-1] + "q", "wrong checksum"),
        (encode("nsec", bytes.fromhex(ID)), "that text is no reference"),
    ],
)
def test_what_names_nothing_is_told_with_what_to_write(written: str, told: str) -> None:
    with pytest.raises(Unresolved, match=told):
        read_wanted(written)


def test_what_is_spelled_is_read_by_others_as_nip_19_has_it() -> None:
    found = read_reference(spell_address(33400, KEY, "tides@1.0.0", RELAYS))
    assert (found.target, found.relays) == (f"33400:{KEY}:tides@1.0.0", RELAYS)
