from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import NSEC, SECRET, persona, told
from uniun_bots.personas.shown import shown


def test_a_value_is_repeated_short_and_on_one_line() -> None:
    assert shown("birch") == "`birch`"
    assert shown("a\nb\u202ec") == "`a b c`"
    assert shown("x" * 10_000) == f"`{'x' * 40}…`"
    assert (shown([1]), shown({})) == ("a list", "a mapping")


def test_what_may_be_a_secret_is_not_repeated() -> None:
    for secret in (NSEC, NSEC.upper(), SECRET, SECRET.upper(), f"x{SECRET}", "ncryptsec1qgg", "nsec1"):
        assert shown(secret) == "that text"


@pytest.mark.parametrize("key", ["mode", "max_tokens", "temperature", "agentic", "every", "trigger", "manas"])
def test_a_hex_key_in_a_wrong_line_is_not_repeated(tmp_path: Path, key: str) -> None:
    lines = () if key == "trigger" else (f"{key}: {SECRET}",)
    found = told(tmp_path, persona(*lines, **({"trigger": SECRET} if key == "trigger" else {})))
    assert found
    assert SECRET[:12] not in str(found)


@pytest.mark.parametrize("text", [SECRET, f"env:{SECRET}x", f"nsec: {SECRET}"])
def test_a_hex_key_as_a_key_or_an_identity_is_not_repeated(tmp_path: Path, text: str) -> None:
    for found in (told(tmp_path, persona(f"{text}: 1")), told(tmp_path, persona(identity=f"'{text}'"))):
        assert SECRET[:12] not in str(found)
