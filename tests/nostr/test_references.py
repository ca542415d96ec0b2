from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import (
    Coordinate,
    EventId,
    Kind,
    Nip19Coordinate,
    Nip19Event,
    Nip19Profile,
    PublicKey,
    RelayUrl,
)

from tests.nostr.samples import ALICE, BOB, BOT, BOT_NPUB, BOT_NSEC, FIRST, PUBLISHER, SIGNED, an_event
from uniun_bots.errors import BadBech32, BadReference
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.reference import read_reference, spell_note, spell_npub
from uniun_bots.nostr.references import (
    REFERENCES_READ,
    TOPICS_READ,
    make_inert,
    notes_named,
    own_words,
    parse_reference,
    pubkeys_named,
    topics_of,
)

LONG_NPROFILE = (
    "nprofile1qqsxgd24dagavkpy4t6jespsvz37weanpq9nwq3yj7zec7gldc36qegpzpmhxue69uhhyvpwv4uxzmtsd3jszyrhwden5te0wgc"
    "juetcv9khqmr9qyg8wumn8ghj7u3j9ejhsctdwpkx2qgswaehxw309aerxtn90psk6urvv5q3qamnwvaz7tmjxshx27rpd4cxcegpzpmhxue"
    "69uhhydfwv4uxzmtsd3jsn6szed"
)
NADDR = "naddr1qqzhg6tyv4esyg8tgq3qneus99jl8u8udnlmfhycpk7s3a3sff9fh8n38kld439t0upsgqqqw4rsaq7n64"
NOTE = spell_note(FIRST)
NEVENT = Nip19Event(
    event_id=EventId.parse(FIRST),
    author=PublicKey.parse(ALICE),
    kind=Kind(1),
    relays=[RelayUrl.parse("wss://r.example")],
).to_bech32()


def test_a_profile_with_many_relays_is_decoded() -> None:
    """A43: the 90-character limit of bech32 does not hold here."""
    found = read_reference(LONG_NPROFILE)
    assert (found.form, found.target) == ("nprofile", BOT)
    assert found.relays == tuple(f"wss://r{n}.example" for n in range(6))
    assert pubkeys_named(f"hello nostr:{LONG_NPROFILE}!") == {BOT}


def test_an_address_is_not_an_id_however_long_its_d_tag_is() -> None:
    """A44: d tags of up to 64 characters were taken for event ids."""
    found = read_reference(NADDR)
    assert (found.target, found.author) == (f"30023:{PUBLISHER}:tides", PUBLISHER)
    coordinate = Coordinate(kind=Kind(30023), public_key=PublicKey.parse(PUBLISHER), identifier="x" * 32)
    naddr = Nip19Coordinate(coordinate=coordinate, relays=[]).to_bech32()
    assert read_reference(naddr).target == f"30023:{PUBLISHER}:{'x' * 32}"
    assert notes_named(f"nostr:{NADDR} {naddr}") == set()


def test_a_note_with_author_and_relay_is_decoded() -> None:
    found = read_reference(NEVENT)
    assert (found.form, found.target, found.author) == ("nevent", FIRST, ALICE)
    assert found.relays == ("wss://r.example",)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x00\x20abc", "cut off"),
        (b"\x00", "cut off"),
        (b"\x00\x03abc", "3 bytes, 32"),
        (b"\x01\x01r", "what it names"),
    ],
)
def test_a_reference_with_broken_insides_is_refused(payload: bytes, reason: str) -> None:
    with pytest.raises(BadBech32, match=reason):
        read_reference(encode("nprofile", payload))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("npub1", False),
        ("nostr:npub1 is a format", False),
        (f"{BOT_NPUB}up", False),
        (f"({BOT_NPUB}), thanks", True),
        (BOT_NPUB.upper(), True),
        (f"nostr:{BOT_NPUB}'s bot", True),
        (BOT_NPUB[:30].upper() + BOT_NPUB[30:], False),
        (f"x{BOT_NPUB}", False),
        (f"NOSTR:{BOT_NPUB.upper()}.", True),
        (f"@{BOT_NPUB},", True),
        (f"你好{BOT_NPUB}你好", True),
        (f"*_{BOT_NPUB}_*", True),
        (f"https://njump.me/{BOT_NPUB}", True),
        (f"{BOT_NPUB}\u212a", True),
    ],
)
def test_a_person_is_named_only_by_a_whole_valid_key(text: str, named: bool) -> None:
    """A45: bare prefixes, glued text and mixed case became half-decoded keys."""
    assert pubkeys_named(text) == ({BOT} if named else set())


def test_notes_are_named_by_note_and_nevent() -> None:
    assert notes_named(f"see nostr:{NOTE} and {spell_note(BOB)}, {BOT_NPUB}") == {FIRST, BOB}
    assert notes_named(NEVENT) == {FIRST}


def test_a_text_full_of_references_is_read_up_to_a_cap() -> None:
    text = " ".join(spell_npub(f"{n:064x}") for n in range(3000))
    assert len(pubkeys_named(text)) == REFERENCES_READ


def test_topics_are_lower_case_distinct_and_capped() -> None:
    event = an_event(
        ["t", "Tides"], ["t", "#tides "], ["t", ""], ["t", "#"], ["t"], ["t", "Meer\x00es"], ["t", "x" * 200]
    )
    assert topics_of(event) == ("tides", "meeres")
    assert len(topics_of(an_event(*(["t", str(n)] for n in range(5000))))) == TOPICS_READ


def test_the_words_of_a_quote_are_not_the_words_of_its_author() -> None:
    """A22: a second bot kept quoting the first one's trigger words."""
    assert own_words(read_event(SIGNED["quote of the bot"]).content) == "says: ask me about tides!"
    assert own_words(f"nostr:{NOTE}") == ""
    assert own_words(f" {NEVENT}\n\nnostr:{NADDR} ") == ""
    assert own_words("> ask me about tides\n  > and more\nno thanks") == "no thanks"
    assert own_words("> ask me") == ""


def test_addressing_a_person_is_part_of_the_authors_words() -> None:
    text = f"nostr:{BOT_NPUB} is 3 > 2? see note1 and https://r.example"
    assert own_words(text) == text


def test_a_person_who_is_not_allowed_is_readable_but_no_mention() -> None:
    text = f"thanks nostr:{BOT_NPUB} and @{spell_npub(ALICE)}!"
    assert make_inert(text, {BOT, ALICE}) == text
    assert (
        make_inert(text, {BOT})
        == f"thanks nostr:{BOT_NPUB} and @{spell_npub(ALICE)[:12]}…{spell_npub(ALICE)[-4:]}!"
    )


def test_notes_and_addresses_that_are_not_allowed_are_inert_too() -> None:
    assert (
        make_inert(f"nostr:{NEVENT} {NADDR}", {FIRST, f"30023:{PUBLISHER}:tides"})
        == f"nostr:{NEVENT} {NADDR}"
    )
    assert notes_named(make_inert(f"nostr:{NEVENT} nostr:{NADDR}", set())) == set()
    assert "naddr" in make_inert(NADDR, set()) and NADDR not in make_inert(NADDR, set())


@pytest.mark.parametrize("glued", [f"{BOT_NPUB}up", f"x{BOT_NPUB}", BOT_NPUB.title(), f"npub1{BOT_NPUB}"])
def test_glued_and_mixed_case_keys_are_inert_because_clients_differ(glued: str) -> None:
    assert BOT_NPUB not in make_inert(f"nostr:{glued}", {BOT}).lower()


def test_text_about_references_is_left_alone() -> None:
    text = "an npub1 or nostr:npub1… is a key; note1 too; nostr: is a scheme"
    assert make_inert(text, set()) == text


spelled = st.sampled_from([BOT_NPUB, spell_npub(ALICE), BOT_NPUB.upper(), LONG_NPROFILE, NOTE, NEVENT, NADDR])
pieces = st.lists(
    spelled | st.sampled_from(["nostr:", "@", " ", "x", "npub1", "…"]) | st.text(max_size=5), max_size=8
)


@given(pieces, st.sets(st.sampled_from([BOT, ALICE, FIRST])))
def test_after_make_inert_nobody_is_named_who_is_not_allowed(parts: list[str], allowed: set[str]) -> None:
    inert = make_inert("".join(parts), allowed)
    assert pubkeys_named(inert) | notes_named(inert) <= allowed
    assert make_inert(inert, allowed) == inert


@pytest.mark.parametrize(
    "text",
    [
        BOT_NPUB,
        BOT_NPUB.upper(),
        BOT,
        BOT.upper(),
        f" nostr:{BOT_NPUB}\n",
        LONG_NPROFILE,
        f"nostr:{LONG_NPROFILE}",
    ],
)
def test_a_person_in_a_setting_becomes_lower_case_hex(text: str) -> None:
    """A28, D12: relays compare lower-case hex and answer nothing for the rest."""
    assert parse_reference(text, "pubkey") == BOT


@pytest.mark.parametrize("text", [FIRST, FIRST.upper(), NOTE, NEVENT, f"nostr:{NEVENT}"])
def test_a_note_in_a_setting_becomes_lower_case_hex(text: str) -> None:
    assert parse_reference(text, "note") == FIRST


@pytest.mark.parametrize(
    ("text", "want", "message"),
    [
        ("nobody", "pubkey", r"^'nobody' is no key or id: write a person: 64 hex .* npub1… or nprofile1…$"),
        (NOTE, "pubkey", r"names a note \(note\): write a person"),
        (NEVENT, "pubkey", r"names a note \(nevent\): write a person"),
        (BOT_NPUB, "note", r"^'npub1vs642m6….cuy' names a person \(npub\): write a note"),
        (LONG_NPROFILE, "note", r"names a person \(nprofile\): write a note"),
        (NADDR, "note", r"names an address, which names whatever version is newest, \(naddr\): write a note"),
        (BOT_NPUB[:-1] + "q", "pubkey", r"wrong checksum.*: write a person"),
        (BOT_NPUB[:-2], "pubkey", "cannot be read"),
        (BOT[:-1], "pubkey", "has 63 hex characters: write a person"),
        ("nprofile1" + "q" * 5000, "pubkey", "too long: 5009 characters"),
        ("", "pubkey", "is no key or id"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_write(text: str, want: str, message: str) -> None:
    with pytest.raises(BadReference, match=message):
        parse_reference(text, "note" if want == "note" else "pubkey")


@pytest.mark.parametrize("text", [BOT_NSEC, BOT_NSEC.upper(), f"nostr:{BOT_NSEC}", BOT_NSEC[:-3]])
def test_a_secret_in_a_setting_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadReference, match="a secret key does not belong here") as caught:
        parse_reference(text, "pubkey")
    assert BOT_NSEC[5:15] not in str(caught.value).lower()


@pytest.mark.parametrize(("key", "want"), [(BOT, "npub"), (FIRST, "note")])
def test_keys_and_notes_are_spelled_for_people(key: str, want: str) -> None:
    spelled = spell_npub(key) if want == "npub" else spell_note(key)
    assert spelled.startswith(f"{want}1") and read_reference(spelled).target == key
    assert Nip19Profile(public_key=PublicKey.parse(ALICE), relays=[]).public_key().to_bech32() == spell_npub(
        ALICE
    )
