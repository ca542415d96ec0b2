"""Whatever a person gets wrong is told in a line or two, with an exit code and never with a traceback."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.child import cli
from tests.cli.test_check_init_keys import run
from tests.personas.folder import persona, write
from uniun_bots.database.store import connect

Make = Callable[[Path], Path]


def missing(folder: Path) -> Path:
    return folder / "nowhere"


def a_file(folder: Path) -> Path:
    (folder / "file").write_text("I am no folder")
    return folder / "file"


def empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def without_settings(folder: Path) -> Path:
    return write(folder / "bots", personas__tide_md=persona())


def broken_settings(folder: Path) -> Path:
    return write(folder / "bots", personas__tide_md=persona(), host_yaml="pow: [\n")


def broken_persona(folder: Path) -> Path:
    return write(folder / "bots", personas__tide_md=persona("colour: blue"), host_yaml="{}")


def new(folder: Path) -> Path:
    assert run("init", folder / "bots").exit_code == 0
    return folder / "bots"


def no_database(folder: Path) -> Path:
    where = new(folder)
    (where / "data").mkdir()
    (where / "data" / "uniun-bots.sqlite").write_bytes(b"no database, but some text " * 500)
    return where


def newer_database(folder: Path) -> Path:
    where = new(folder)
    (where / "data").mkdir()
    conn = connect(where / "data" / "uniun-bots.sqlite")
    conn.execute("PRAGMA user_version=9999")
    conn.close()
    return where


def data_is_a_file(folder: Path) -> Path:
    where = new(folder)
    (where / "data").write_text("not a folder")
    return where


FOLDERS: tuple[Make, ...] = (
    missing,
    a_file,
    empty,
    without_settings,
    broken_settings,
    broken_persona,
    new,
    no_database,
    newer_database,
    data_is_a_file,
)
COMMANDS = (
    "status --dir",
    "explain 00000000000000000000000000000000000000000000000000000000000000aa --dir",
    "runs list --dir",
    "runs list --dead --json --dir",
    "runs show 1 --dir",
    "runs retry 1 --dir",
    "runs retract 1 --dir",
    "persona list --dir",
    "persona show tide --dir",
    "persona enable tide --dir",
    "persona disable tide --dir",
    "pause --all --dir",
    "resume tide --dir",
    "keys list --dir",
    "keys show tide --dir",
    "check",
)


@pytest.mark.parametrize("make", FOLDERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_a_traceback(tmp_path: Path, command: str, make: Make) -> None:
    folder = make(tmp_path)
    result = run(*command.split(), folder)
    assert result.exception is None or isinstance(result.exception, SystemExit), (
        f"{result.exception!r} from `{command}` on {make.__name__}"
    )
    assert result.exit_code in (0, 1, 2)
    if result.exit_code:
        assert result.output.strip()
        assert len(result.output.splitlines()) <= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_is_no_project_is_told_and_left_as_it_is(tmp_path: Path, command: str) -> None:
    folder = empty(tmp_path)
    result = run(*command.split(), folder)
    assert (result.exit_code, "is no project folder" in result.output) == (2, True), result.output
    assert list(folder.iterdir()) == []


def test_a_question_writes_nothing_where_no_host_ever_ran(tmp_path: Path) -> None:
    folder = new(tmp_path)
    before = sorted(folder.rglob("*"))
    for command in ("status --dir", "runs list --dir", "runs retract 1 --dir", "doctor --dir"):
        assert run(*command.split(), folder).exit_code == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (missing, 2),
        (a_file, 2),
        (broken_settings, 2),
        (broken_persona, 2),
        (no_database, 1),
        (newer_database, 1),
        (data_is_a_file, 1),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
async def test_a_host_that_cannot_start_says_why(tmp_path: Path, make: Make, code: int) -> None:
    ended = await cli("run", make(tmp_path))
    assert (ended.code, "Traceback" in ended.all) == (code, False), ended.all
    assert ended.err.strip()


async def test_a_missing_key_is_told_with_the_file_that_names_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "bots", personas__tide_md=persona("mode: live"), host_yaml="{}")
    write(folder, relays__local_yaml="relays: ['ws://127.0.0.1:9']")
    for command in ("run", "tick"):
        ended = await cli(command, folder)
        assert (ended.code, "Traceback" in ended.all) == (2, False)
        assert "tide.md:3:11 `identity`: TIDE_NSEC is not set" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs", "show", "twelve"),
        ("runs",),
        ("explain",),
        ("nonsense",),
        ("relay", "--port", "70000"),
        ("relay", "--faults", "/nowhere.yaml"),
        ("persona", "enable", "tide", "--mode", "loud"),
        ("backup",),
    ],
)
def test_a_wrong_command_line_ends_with_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 2


def test_backup_overwrites_nothing_and_tells_what_is_in_the_way(tmp_path: Path) -> None:
    folder = new(tmp_path)
    nothing_yet = run("backup", tmp_path / "copy.sqlite", "--dir", folder)
    assert (nothing_yet.exit_code, "nothing has run here" in nothing_yet.output) == (1, True)
    assert run("pause", "--all", "--dir", folder).exit_code == 0
    assert run("backup", tmp_path / "copy.sqlite", "--dir", folder).exit_code == 0
    before = (tmp_path / "copy.sqlite").read_bytes()
    again = run("backup", tmp_path / "copy.sqlite", "--dir", folder)
    assert (again.exit_code, "exists" in again.output) == (1, True)
    assert (tmp_path / "copy.sqlite").read_bytes() == before
    blocked = run("backup", folder / "host.yaml" / "copy.sqlite", "--dir", folder)
    assert isinstance(blocked.exception, SystemExit) and blocked.exit_code == 1


def test_a_backup_is_a_whole_database(tmp_path: Path) -> None:
    folder = new(tmp_path)
    assert run("pause", "--all", "--dir", folder).exit_code == 0
    assert run("backup", tmp_path / "copy.sqlite", "--dir", folder).exit_code == 0
    conn = sqlite3.connect(tmp_path / "copy.sqlite")
    assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert conn.execute("SELECT paused FROM ganas").fetchall() == [("paused by a person",)]
    conn.close()
