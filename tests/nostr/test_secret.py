from __future__ import annotations

import base64
import copy
import logging
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nostr.samples import ALICE, BOT, BOT_NPUB, BOT_NSEC, BOT_SECRET
from uniun_bots.errors import KeyRefused
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.reference import spell_note
from uniun_bots.nostr.secret import (
    SecretText,
    Spellings,
    lock,
    new_secret,
    read_secret,
    spelled_in,
    spells,
    spells_a_secret,
    unlock,
)
from uniun_bots.nostr.signer import LocalSigner

WRONG_CHECKSUM = BOT_NSEC[:-1] + "q"
OUT_OF_RANGE = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
PASSPHRASE = "correct horse"


def locked(log_n: int = 16, version: int = 2) -> str:
    return encode("ncryptsec", bytes([version, log_n]) + bytes(89))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOT_NPUB, r"this is a public key \(npub\)"),
        (WRONG_CHECKSUM, "wrong checksum"),
        (BOT_NSEC[:40], "too short: an nsec has 63 characters, this one has 40"),
        ("nsecret1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsujgz6n", "unknown prefix"),
        ("nsecx1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsujgz6n", "unknown prefix"),
        (BOT_NSEC + BOT_SECRET, "two keys in one field"),
        (f"{BOT_NSEC}\n{BOT_SECRET}", "two keys in one field"),
        (f"{BOT_NPUB} {BOT_NSEC}", "two keys in one field"),
        (f"{BOT_NSEC} {locked()}", "two keys in one field"),
        (BOT_SECRET * 2, "two keys in one field"),
        (OUT_OF_RANGE, "out of range for secp256k1"),
        ("0" * 64, "out of range for secp256k1"),
        (encode("nsec", bytes(32)), "out of range for secp256k1"),
        (encode("nsec", bytes(31)), "too short"),
        (BOT_SECRET[:-1], "64 characters, this one has 63"),
        (BOT_SECRET + "0", "64 characters, this one has 65"),
        (BOT_NSEC + "qqq", "too long: an nsec has 63 characters, this one has 66"),
        (BOT_NSEC[:20].upper() + BOT_NSEC[20:], "mixed"),
        (BOT_NSEC[:-4] + "bbbb", "does not use"),
        (f'"{BOT_NSEC}"', "a character that no key has"),
        (f"{BOT_NSEC[:30]} {BOT_NSEC[30:]}", "a character that no key has"),
        (spell_note(ALICE), r"this names a note \(note\)"),
        (locked()[:-1], "too short: an ncryptsec has 162 characters"),
        (locked()[:-1] + "7", "wrong checksum"),
        (locked(version=1), "unknown version"),
        (locked(log_n=60), r"asks for 2\^60 rounds"),
        ("", "no key was given"),
        (" \n", "no key was given"),
        ("hunter2", "unknown prefix"),
        ("пароль", "a character that no key has"),
    ],
)
def test_what_is_no_secret_key_is_refused_without_repeating_it(
    text: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """D07: lax code took short keys, or any text that began with nsec."""
    with pytest.raises(KeyRefused, match=message) as caught:
        read_secret(text)
    logging.getLogger("test").error("refused", exc_info=caught.value)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    secret_parts = [text[at : at + 8] for at in range(6, max(6, len(text) - 8), 8)]
    assert not [part for part in secret_parts if part in told]
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (BOT_NSEC, "nsec"),
        (f"  {BOT_NSEC}\t\n", "nsec"),
        (BOT_NSEC.upper(), "nsec"),
        (BOT_SECRET, "hex"),
        (BOT_SECRET.upper(), "hex"),
    ],
)
def test_every_spelling_of_a_key_gives_one_identity(text: str, form: str) -> None:
    """D08: the nsec text itself was used as key bytes, which gave two identities."""
    secret = read_secret(text)
    assert (secret.form, secret.reveal) == (form, BOT_SECRET)
    assert LocalSigner(secret).public_key == BOT


def test_a_locked_key_is_opened_by_its_passphrase_alone() -> None:
    secret = read_secret(lock(read_secret(BOT_NSEC), PASSPHRASE).upper())
    assert secret.form == "ncryptsec" and secret.locked
    with pytest.raises(KeyRefused, match="locked"):
        LocalSigner(secret)
    with pytest.raises(KeyRefused, match="passphrase does not open") as caught:
        unlock(secret, "wrong")
    assert caught.value.__suppress_context__
    with pytest.raises(KeyRefused, match="locked already"):
        lock(secret, PASSPHRASE)
    assert unlock(secret, PASSPHRASE).reveal == BOT_SECRET


def test_a_passphrase_opens_in_every_unicode_spelling() -> None:
    secret = read_secret(lock(read_secret(BOT_NSEC), "caf\u00e9"))
    assert unlock(secret, "cafe\u0301").reveal == BOT_SECRET


def test_an_open_key_needs_no_passphrase() -> None:
    secret = new_secret()
    assert unlock(secret, "") is secret
    assert secret != new_secret()


def test_a_secret_is_not_shown_pickled_or_copied() -> None:
    secret = read_secret(BOT_NSEC)
    assert repr(secret) == str(secret) == "SecretText(form='nsec')"
    assert f"{[secret]}" == "[SecretText(form='nsec')]"
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            attempt(secret)


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my key as you asked: {BOT_NSEC}",
        f"glued{BOT_NSEC}glued",
        BOT_NSEC.upper(),
        BOT_NSEC.title(),
        WRONG_CHECKSUM,
        " ".join(BOT_NSEC[at : at + 8] for at in range(0, 63, 8)),
        "\u200b".join(BOT_NSEC),
        "-".join(BOT_NSEC),
        "".join(chr(ord(char) + 0xFEE0) for char in BOT_NSEC),
        f"nostr:{locked()}",
    ],
)
def test_a_secret_key_in_a_text_is_seen_however_it_is_written(text: str) -> None:
    """B28: once an nsec is out, the key is gone."""
    assert spells_a_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "an nsec1 is secret, an ncryptsec1 is locked",
        f"write nsec1… or {BOT_NSEC[:30]}…",
        BOT_NPUB,
        f"see {ALICE}",
        f"nostr:{spell_note(ALICE)}",
        "nsec1 keys begin with nsec1 and nobody should post one of them in a public place, whoever may ask",
    ],
)
def test_public_keys_ids_and_talk_about_keys_are_no_secrets(text: str) -> None:
    assert not spells_a_secret(text)
    assert not spells(BOT_SECRET, text)


RAW = bytes.fromhex(BOT_SECRET)


@pytest.mark.parametrize(
    "text",
    [
        BOT_SECRET,
        BOT_SECRET.upper(),
        f"0x{BOT_SECRET}",
        BOT_NSEC,
        BOT_NSEC.upper(),
        ":".join(BOT_SECRET[at : at + 2] for at in range(0, 64, 2)),
        base64.b64encode(RAW).decode(),
        base64.b64encode(RAW).decode().rstrip("="),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.b64encode(BOT_SECRET.encode()).decode(),
        base64.b64encode(BOT_NSEC.encode()).decode(),
    ],
)
def test_a_known_key_is_seen_in_all_its_spellings(text: str) -> None:
    assert spells(BOT_SECRET, f"take this: {text}!")
    assert spelled_in(f"it is\n{text}", [LocalSigner(read_secret(BOT_NSEC)).spellings])
    assert not spells(new_secret().reveal, text)


@pytest.mark.parametrize(
    "text",
    [
        "sk-very-secret-0123456789",
        "SK VERY SECRET 0123456789",
        "sk_very_secret\n0123456789",
        base64.b64encode(b"sk-very-secret-0123456789").decode(),
    ],
)
def test_another_secret_is_seen_in_its_spellings_too(text: str) -> None:
    found = Spellings.of_text("sk-very-secret-0123456789")
    assert found and "secret" not in repr(found)
    assert spelled_in(f"take this: {text}!", [found])
    assert not spelled_in("a very secret matter, 0123456789", [found])


@pytest.mark.parametrize("text", ["", "EMPTY", "sk-no-key-required", "----------------------"])
def test_what_ordinary_words_could_spell_is_no_secret(text: str) -> None:
    assert Spellings.of_text(text) is None


@given(st.text(max_size=200))
def test_ordinary_text_spells_no_secret(text: str) -> None:
    assert not spells_a_secret(text)
    assert not spells(BOT_SECRET, text)


@given(st.text(max_size=170) | st.text("nsec1ncrypt0123456789abcdefq", max_size=170))
def test_any_text_is_a_key_or_refused_and_nothing_else(text: str) -> None:
    try:
        secret = read_secret(text)
    except KeyRefused:
        return
    assert isinstance(secret, SecretText)
