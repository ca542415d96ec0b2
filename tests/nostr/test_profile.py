from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nostr.samples import ALICE, an_event
from uniun_bots.nostr.profile import LONGEST_ABOUT, LONGEST_NAME, Profile, read_profile


def read(content: str) -> Profile:
    return read_profile(an_event(kind=0, content=content))


def test_a_profile_says_name_about_and_bot() -> None:
    profile = read('{"name":"Harbour","about":"Tides.\\n#nobot","bot":true,"lud16":"x@y"}')
    assert profile == Profile(ALICE, "Harbour", "Tides.\n#nobot", True, 1_750_000_000)


@pytest.mark.parametrize(
    ("said", "is_bot"),
    [("true", True), ('"true"', True), ("false", False), ('"false"', False), ("1", False), ('"yes"', False)]
    + [("null", False), ("[true]", False)],
)
def test_only_true_says_bot(said: str, is_bot: bool) -> None:
    assert read(f'{{"bot":{said}}}').is_bot is is_bot


@pytest.mark.parametrize(
    "content", ["", "not json", "[]", "null", '"x"', "[" * 100_000, '{"name":7,"about":[]}']
)
def test_a_broken_profile_is_a_human_without_a_name(content: str) -> None:
    assert read(content) == Profile(ALICE, "", "", False, 1_750_000_000)


def test_a_name_is_one_short_line_without_control_characters() -> None:
    profile = read(json.dumps({"name": "Har\x1b[2Jbour\n\nMaster " + "x" * 500, "about": "y" * 9000}))
    assert profile.name.startswith("Har[2Jbour Master xxx") and len(profile.name) == LONGEST_NAME
    assert len(profile.about) == LONGEST_ABOUT


def test_the_display_name_stands_in_for_a_missing_name() -> None:
    assert read('{"name":" ","display_name":"Harbour"}').name == "Harbour"
    assert read('{"displayName":"half \\ud83d"}').name == "half \ufffd"


@given(st.text())
def test_any_content_is_read(content: str) -> None:
    assert read(content).pubkey == ALICE
