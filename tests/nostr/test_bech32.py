from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import EventId

from uniun_bots.errors import BadBech32
from uniun_bots.nostr.bech32 import LONGEST, decode, encode
from uniun_bots.nostr.reference import spell_note


@given(st.from_regex(r"[a-z]{1,10}", fullmatch=True), st.binary(max_size=300))
def test_what_is_encoded_is_decoded_in_both_cases(prefix: str, payload: bytes) -> None:
    text = encode(prefix, payload)
    assert decode(text) == decode(text.upper()) == (prefix, payload)


@given(st.binary(min_size=32, max_size=32))
def test_ids_are_spelled_as_the_sdk_spells_them(raw: bytes) -> None:
    assert spell_note(raw.hex()) == EventId.from_bytes(raw).to_bech32()


@given(st.data())
def test_one_wrong_character_is_always_noticed(data: st.DataObject) -> None:
    text = encode("note", bytes(32))
    at = data.draw(st.integers(len("note1"), len(text) - 1))
    other = data.draw(
        st.sampled_from([char for char in "qpzry9x8gf2tvdw0s3jn54khce6mua7l" if char != text[at]])
    )
    with pytest.raises(BadBech32, match="checksum"):
        decode(text[:at] + other + text[at + 1 :])


@given(st.text(max_size=80))
def test_any_other_text_is_refused_and_nothing_else(text: str) -> None:
    with pytest.raises(BadBech32):
        decode(text)


def test_long_is_never_called_a_wrong_checksum() -> None:
    """A43: libraries with the 90-character limit give a misleading checksum error."""
    longest = encode("nevent", bytes(3100))
    assert len(longest) < LONGEST
    assert decode(longest)[1] == bytes(3100)
    with pytest.raises(BadBech32, match="too long: 5014 characters, at most 5000"):
        decode("nevent1" + "q" * 5007)


def test_mixed_case_is_told() -> None:
    with pytest.raises(BadBech32, match="mixed"):
        decode("Npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy")
