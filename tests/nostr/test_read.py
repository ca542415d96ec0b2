from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import Event as SdkEvent

from tests.nostr.samples import ALICE, BOT, SIGNED
from uniun_bots.errors import BadEvent
from uniun_bots.nostr.event import Draft
from uniun_bots.nostr.event_id import event_id
from uniun_bots.nostr.read import LAST_SECOND, SIZE_CAP_BYTES, from_sdk, read_event, verify
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.nostr.text import clean

GOOD = SIGNED["every NIP-01 escape"]


def changed(**fields: Any) -> str:
    return json.dumps(json.loads(GOOD) | fields)


def test_a_good_event_is_read_and_verified() -> None:
    event = read_event(GOOD)
    assert (event.author, event.kind, event.created_at) == (ALICE, 1, 1_750_000_000)
    assert event.tags == (("p", BOT),)
    assert event.content == 'hi 🙂 é <b>&/\\"\n\t\x7f\u2028'
    assert verify(event)


def test_the_same_event_with_other_escapes_is_the_same_event() -> None:
    """A36: ids over escaped emoji, `&` or slashes threw valid events away."""
    escaped = json.dumps(json.loads(GOOD), ensure_ascii=True, indent=2).replace("/", "\\/")
    assert "\\ud83d\\ude42" in escaped
    assert read_event(escaped) == read_event(GOOD) == read_event(GOOD.encode())


def test_foreign_fields_do_not_reach_the_stored_bytes() -> None:
    assert read_event(changed(seen_on=["wss://r.example"], content_html="<b>")).raw == read_event(GOOD).raw


def test_control_characters_count_for_the_id_and_stay_in_the_signed_bytes() -> None:
    """A37: JSON cannot hold them raw; the id is computed over \\u00XX."""
    event = read_event(SIGNED["control characters"])
    assert verify(event)
    assert b"\\u0007" in event.raw and b"\\u0000" in event.raw
    assert clean(event.content) == "bell  esc  nul "


def test_an_id_that_fits_the_other_reading_of_control_characters_is_not_valid() -> None:
    removed = json.loads(SIGNED["control characters"]) | {"content": "bell  esc  nul "}
    assert not verify(read_event(json.dumps(removed)))


@pytest.mark.parametrize("name", ["content changed", "signature of somebody else"])
def test_an_event_that_a_relay_changed_or_made_up_does_not_verify(name: str) -> None:
    """A34: id and signature were left to the relay."""
    assert not verify(read_event(SIGNED[name]))


def test_fields_that_differ_from_the_signed_bytes_do_not_verify() -> None:
    event = read_event(GOOD)
    assert not verify(replace(event, content="pay mallory"))
    assert not verify(replace(event, raw=read_event(SIGNED["control characters"]).raw))
    assert not verify(replace(event, raw=b"\xff"))


def test_an_upper_case_author_is_refused_and_told() -> None:
    """A28: the same author would be stored under two spellings."""
    with pytest.raises(BadEvent, match="pubkey is in upper-case hex"):
        read_event(SIGNED["upper-case author"])
    with pytest.raises(BadEvent, match="id is in upper-case hex"):
        read_event(changed(id=json.loads(GOOD)["id"].upper()))


def test_half_a_surrogate_pair_is_refused_and_its_neighbours_are_kept() -> None:
    """A38: it passes json.loads and raises at the first encode, and rolled whole batches back."""
    batch = [GOOD, SIGNED["half a surrogate pair"], SIGNED["control characters"]]
    kept, refused = [], []
    for raw in batch:
        try:
            kept.append(read_event(raw))
        except BadEvent as error:
            refused.append(str(error))
    assert len(kept) == 2
    assert len(refused) == 1 and "surrogate" in refused[0]


def test_half_a_surrogate_pair_in_the_given_text_itself_is_refused() -> None:
    with pytest.raises(BadEvent, match="surrogate"):
        read_event(GOOD.replace("hi", "hi \ud83d"))


@pytest.mark.parametrize(
    "number",
    ["NaN", "1e400", "-Infinity", "1750000000.0", "-5", "9" * 20, '"1750000000"', "9" * 5000, "true", "null"]
    + [str(2**63), str(-(2**63) - 1), str(LAST_SECOND + 1), "[]"],
)
def test_a_time_that_is_no_whole_number_in_range_is_refused(number: str) -> None:
    """A39, E14: stamps that Python takes and SQLite does not."""
    with pytest.raises(BadEvent):
        read_event(GOOD.replace("1750000000", number))


def test_the_last_second_is_read() -> None:
    assert read_event(changed(created_at=LAST_SECOND)).created_at == LAST_SECOND


@pytest.mark.parametrize("kind", [True, 70000, -1, 1.0, "1", None])
def test_a_kind_out_of_range_or_type_is_refused(kind: object) -> None:
    with pytest.raises(BadEvent, match="kind must be a whole number from 0 to 65535"):
        read_event(changed(kind=kind))


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[",
        "null",
        "7",
        '"text"',
        '["EVENT","bot",{}]',
        "[" * 100_000,
        '{"a":' * 50_000,
        "\ufeff" + GOOD,
        "{}",
    ],
)
def test_what_is_no_event_object_is_refused(raw: str) -> None:
    with pytest.raises(BadEvent):
        read_event(raw)


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    with pytest.raises(BadEvent):
        read_event(GOOD.encode().replace(b"hi", b"h\xff"))


@pytest.mark.parametrize("tags", [None, {}, "p", [[]], ["p"], [["p", 1]], [["p", None]], [[["p"]]]])
def test_tags_that_are_no_lists_of_strings_are_refused(tags: object) -> None:
    with pytest.raises(BadEvent, match="tag"):
        read_event(changed(tags=tags))


@pytest.mark.parametrize("name", ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"])
def test_a_missing_field_is_named(name: str) -> None:
    fields = json.loads(GOOD)
    del fields[name]
    with pytest.raises(BadEvent, match=f"{name} is missing"):
        read_event(json.dumps(fields))


def test_a_huge_event_with_thousands_of_tags_is_read() -> None:
    """A40: real contact lists carry thousands of tags."""
    event = read_event(changed(content="x" * 100_000, tags=[["p", f"{n:064x}"] for n in range(5000)]))
    assert len(event.tags) == 5000


def test_an_event_above_the_size_cap_is_refused_with_both_sizes() -> None:
    with pytest.raises(BadEvent, match=rf"has \d{{7}} bytes, at most {SIZE_CAP_BYTES} are read"):
        read_event(changed(content="x" * SIZE_CAP_BYTES))


def test_the_live_path_reads_the_same_as_the_strict_one() -> None:
    for name in ("every NIP-01 escape", "control characters", "channel reply"):
        assert from_sdk(SdkEvent.from_json(SIGNED[name])) == read_event(SIGNED[name])


def test_the_live_path_knows_one_spelling_of_an_author() -> None:
    assert from_sdk(SdkEvent.from_json(SIGNED["upper-case author"])).author == ALICE


def test_the_live_path_refuses_what_the_sdk_lets_through() -> None:
    with pytest.raises(BadEvent, match="created_at"):
        from_sdk(SdkEvent.from_json(changed(created_at=LAST_SECOND + 1)))
    with pytest.raises(BadEvent, match="bytes"):
        from_sdk(SdkEvent.from_json(changed(content="x" * SIZE_CAP_BYTES)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from(["id", "pubkey", "created_at", "kind", "tags", "content", "sig"]),
    json_values,
)
def test_any_value_in_any_field_is_read_or_refused_and_nothing_else(name: str, value: object) -> None:
    try:
        event = read_event(changed(**{name: value}))
    except BadEvent:
        return
    assert event.raw


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_are_refused_and_nothing_else(raw: bytes | str) -> None:
    with pytest.raises(BadEvent):
        read_event(raw)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(texts, st.lists(st.lists(texts, min_size=1, max_size=4), max_size=4))
async def test_ids_and_signatures_agree_with_the_sdk(content: str, tags: list[list[str]]) -> None:
    signer = LocalSigner(new_secret())
    draft = Draft(kind=42, content=content, tags=tuple(map(tuple, tags)), created_at=1_750_000_000)
    event = await signer.sign(draft)
    foreign = SdkEvent.from_json(event.raw.decode())
    assert foreign.verify()
    assert from_sdk(foreign) == event
    assert event_id(signer.public_key, draft) == event.id
