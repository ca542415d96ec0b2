from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from tests.personas.folder import NSEC, PUBKEY, SECRET
from uniun_bots.errors import AlreadyThere, KeyRefused, NotFound, UniunError
from uniun_bots.nostr.secret import lock, new_secret, read_secret
from uniun_bots.personas.keys import (
    KeyFile,
    given_passphrase,
    list_key_files,
    open_key,
    read_key_file,
    resolve_identity,
    save_key,
)


def nobody(purpose: str) -> str:
    raise KeyRefused("nobody is here to ask")


def saved(data_dir: Path, name: str = "tide") -> KeyFile:
    return save_key(data_dir, name, read_secret(NSEC), "open")


def test_a_saved_key_is_locked_and_only_ours_to_read(tmp_path: Path) -> None:
    key = saved(tmp_path)
    assert key.path == tmp_path / "keys/tide.ncryptsec"
    assert key.path.stat().st_mode & 0o777 == 0o600
    assert key.path.parent.stat().st_mode & 0o777 == 0o700
    text = key.path.read_text()
    assert text.startswith("ncryptsec1")
    assert SECRET not in text and NSEC not in text
    assert os.listdir(key.path.parent) == ["tide.ncryptsec"]


def test_a_folder_that_others_could_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o755)
    saved(tmp_path)
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_a_saved_key_opens_with_its_passphrase_only(tmp_path: Path) -> None:
    key = saved(tmp_path)
    assert open_key(read_key_file(tmp_path, "tide"), "open").reveal == SECRET
    with pytest.raises(KeyRefused, match="passphrase does not open"):
        open_key(key, "Open")


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    before = saved(tmp_path).path.read_bytes()
    with pytest.raises(AlreadyThere):
        save_key(tmp_path, "tide", new_secret(), "open")
    assert (tmp_path / "keys/tide.ncryptsec").read_bytes() == before


def test_a_key_that_appears_while_saving_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def somebody_was_first(source: str, target: Path) -> None:
        Path(target).write_text("theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", somebody_was_first)
    with pytest.raises(AlreadyThere):
        saved(tmp_path)
    assert (tmp_path / "keys/tide.ncryptsec").read_text() == "theirs"
    assert os.listdir(tmp_path / "keys") == ["tide.ncryptsec"]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        saved(tmp_path)
    assert os.listdir(tmp_path / "keys") == []


def test_an_ncryptsec_keeps_its_own_passphrase(tmp_path: Path) -> None:
    locked = lock(read_secret(SECRET), "theirs")
    with pytest.raises(KeyRefused):
        save_key(tmp_path, "tide", read_secret(locked), "mine")
    key = save_key(tmp_path, "tide", read_secret(locked), "theirs")
    assert key.path.read_text().split()[0] == locked
    assert key.public_key == PUBKEY


def test_an_empty_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyRefused, match="empty passphrase"):
        save_key(tmp_path, "tide", new_secret(), "")


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/x", "a/b", "", ".", "Tide", "tide.1", "x" * 65, "a\0b", "a-"]
)
def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeyRefused, match="a key's name"):
        save_key(tmp_path, name, new_secret(), "open")
    with pytest.raises(KeyRefused, match="a key's name"):
        read_key_file(tmp_path, name)


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path).path
    path.chmod(0o640)
    with pytest.raises(KeyRefused, match="can be read by others: chmod 600"):
        read_key_file(tmp_path, "tide")


def test_a_key_file_without_the_npub_can_be_used(tmp_path: Path) -> None:
    path = saved(tmp_path).path
    path.write_text(path.read_text().split()[0])
    key = read_key_file(tmp_path, "tide")
    assert key.public_key is None
    assert open_key(key, "open").reveal == SECRET


def test_a_key_file_whose_npub_is_anothers_is_refused(tmp_path: Path) -> None:
    key, other = saved(tmp_path), save_key(tmp_path, "other", new_secret(), "open")
    key.path.write_text(key.path.read_text().split()[0] + "\n" + other.path.read_text().split()[1])
    with pytest.raises(KeyRefused, match="another key than the npub"):
        resolve_identity("key:tide", tmp_path, {"UNIUN_BOTS_PASSPHRASE": "open"}, nobody)


@pytest.mark.parametrize("content", ["", "rubbish", NSEC, "\xff" * 500])
def test_a_key_file_that_holds_no_locked_key_is_refused(tmp_path: Path, content: str) -> None:
    path = saved(tmp_path).path
    path.write_text(content)
    with pytest.raises(KeyRefused) as caught:
        read_key_file(tmp_path, "tide")
    assert NSEC[5:20] not in str(caught.value)


def test_keys_are_listed_by_name_without_a_passphrase(tmp_path: Path) -> None:
    assert list_key_files(tmp_path) == ()
    for name in ("tide", "birch"):
        saved(tmp_path, name)
    assert [(key.name, key.public_key) for key in list_key_files(tmp_path)] == [
        ("birch", PUBKEY),
        ("tide", PUBKEY),
    ]


def test_the_passphrase_comes_from_a_file_a_variable_or_a_person(tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text("from file \n")
    by_file = {"UNIUN_BOTS_PASSPHRASE_FILE": str(file)}
    assert given_passphrase(by_file, nobody, "x") == "from file "
    assert given_passphrase({"UNIUN_BOTS_PASSPHRASE": "from variable"}, nobody, "x") == "from variable"
    assert given_passphrase({}, lambda purpose: f"asked for {purpose}", "x") == "asked for x"
    with pytest.raises(KeyRefused, match="both set"):
        given_passphrase({**by_file, "UNIUN_BOTS_PASSPHRASE": "y"}, nobody, "x")
    with pytest.raises(KeyRefused, match="cannot be read"):
        given_passphrase({"UNIUN_BOTS_PASSPHRASE_FILE": str(tmp_path / "none")}, nobody, "x")
    file.write_text("\n")
    with pytest.raises(KeyRefused, match="is empty"):
        given_passphrase(by_file, nobody, "x")


@pytest.mark.parametrize("written", [NSEC, SECRET, f"  {NSEC}\n", SECRET.upper()])
def test_every_spelling_of_one_key_is_one_identity(tmp_path: Path, written: str) -> None:
    """D08: the text of an nsec was used as key bytes, so nsec and hex gave two identities."""
    signer = resolve_identity("env:TIDE", tmp_path, {"TIDE": written}, nobody)
    assert signer.public_key == PUBKEY


def test_a_locked_key_in_a_variable_is_opened(tmp_path: Path) -> None:
    environ = {"TIDE": lock(read_secret(SECRET), "open"), "UNIUN_BOTS_PASSPHRASE": "open"}
    assert resolve_identity("env:TIDE", tmp_path, environ, nobody).public_key == PUBKEY


def test_a_key_file_is_an_identity(tmp_path: Path) -> None:
    saved(tmp_path)
    asked: list[str] = []

    def ask(purpose: str) -> str:
        asked.append(purpose)
        return "open"

    assert resolve_identity("key:tide", tmp_path, {}, ask).public_key == PUBKEY
    assert asked == ["Passphrase of key:tide"]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy", "this is a public key (npub)"),
        ("nsec1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsqcvpzq", "checksum"),
        ("nsec1ddftvjat9skecrcgz32q7cresz40ayter3y", "too short"),
        ("nsecret1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsujgz6n", "unknown prefix"),
        (NSEC + SECRET, "two keys in one field"),
        ("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", "out of range"),
        ("0" * 64, "out of range"),
        ("", "is not set"),
        (" \n", "is not set"),
    ],
)
def test_what_people_paste_instead_of_a_key_is_refused_by_name_and_never_repeated(
    tmp_path: Path, written: str, fault: str
) -> None:
    """D07."""
    with pytest.raises(UniunError) as caught:
        resolve_identity("env:TIDE", tmp_path, {"TIDE": written}, nobody)
    assert fault in str(caught.value)
    assert str(caught.value).startswith("TIDE")
    shown = "".join(traceback.format_exception(caught.value))
    assert not written.strip() or written.strip()[6:30] not in shown


def test_a_key_that_is_not_there_is_told_with_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="uniun-bots keys new tide"):
        resolve_identity("key:tide", tmp_path, {}, nobody)
    with pytest.raises(KeyRefused, match="env:NAME or key:NAME"):
        resolve_identity(NSEC, tmp_path, {}, nobody)
