"""`notes import` and `notes export`, as people use them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import resource
import signal
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.child import Child, cli
from tests.cli.test_check_init_keys import run
from tests.host.stage import GROUP, Stage, decided, until
from uniun_bots.clock import WallClock
from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE, connect
from uniun_bots.errors import StoreError
from uniun_bots.graph.import_dump import BATCH_LINES
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

NOW = 1_750_000_000


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    assert run("init", tmp_path / "bots").exit_code == 0
    return tmp_path / "bots"


def signed(count: int, kind: int = 1, *tags: tuple[str, ...], content: str = "note") -> list[Event]:
    async def sign() -> list[Event]:
        by = LocalSigner(new_secret())
        drafts = [Draft(kind, f"{content} {number}", tags, NOW + number) for number in range(count)]
        return [await by.sign(draft) for draft in drafts]

    return asyncio.run(sign())


def dump(folder: Path, lines: Iterable[bytes], name: str = "dump.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def rows(bots: Path, sql: str) -> list[Any]:
    return read_file(bots / "data" / FILE, lambda tx: [tuple(row) for row in tx.execute(sql)])


def imported(path: Path, bots: Path, code: int = 0) -> dict[str, Any]:
    result = run("notes", "import", path, "--dir", bots, "--json")
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_dump_becomes_notes_and_a_second_time_changes_nothing(bots: Path, tmp_path: Path) -> None:
    events = signed(3) + signed(1, 30023, ("d", "tides"))
    path = dump(tmp_path, [event.raw for event in events])
    first, again = imported(path, bots), imported(path, bots)
    assert (first["lines"], first["new"], first["known"], first["bad"]) == (4, 4, 0, 0)
    assert (again["lines"], again["new"], again["known"], again["bad"]) == (4, 0, 4, 0)
    assert {row[0] for row in rows(bots, "SELECT id FROM notes")} == {event.id for event in events}
    assert rows(bots, "SELECT * FROM imports") == [], "through"


def test_bad_lines_are_told_with_their_numbers_and_stop_nothing(bots: Path, tmp_path: Path) -> None:
    first, second = signed(2)
    forged = json.dumps(json.loads(second.raw) | {"content": "pay mallory"}).encode()
    profile, reaction = signed(1, 0, content="{}"), signed(1, 7, content="+")
    lines = [first.raw, b"nonsense", forged, second.raw, profile[0].raw, reaction[0].raw]
    result = run("notes", "import", dump(tmp_path, lines), "--dir", bots)
    assert result.exit_code == 0
    told = "6 lines: 2 new notes, 0 known, 1 profiles and deletions, 1 of kinds that are not kept, 0 expired"
    assert f"{told}, 2 bad lines" in result.stdout
    assert "line 2: not a JSON event: Expecting value, at character 1" in result.stderr
    assert "line 3: its id or its signature does not fit" in result.stderr
    assert rows(bots, "SELECT id FROM notes ORDER BY seq") == [(first.id,), (second.id,)]


def test_a_forged_copy_does_not_stand_in_the_way_of_the_true_one(bots: Path, tmp_path: Path) -> None:
    """A34"""
    (true,) = signed(1)
    forged = json.dumps(json.loads(true.raw) | {"sig": "0" * 128}).encode()
    assert imported(dump(tmp_path, [forged]), bots, code=1)["bad"] == 1
    assert imported(dump(tmp_path, [true.raw]), bots)["new"] == 1


def test_a_file_with_nothing_usable_ends_with_1(bots: Path, tmp_path: Path) -> None:
    assert imported(dump(tmp_path, [b"a", b"b"]), bots, code=1)["bad"] == 2
    assert run("notes", "import", tmp_path / "none", "--dir", bots).exit_code == 1
    assert run("notes", "import", dump(tmp_path, []), "--dir", tmp_path / "else").exit_code == 2


def test_more_bad_lines_than_anybody_reads_are_counted(bots: Path, tmp_path: Path) -> None:
    result = run("notes", "import", dump(tmp_path, [b"bad"] * 25), "--dir", bots)
    assert "25 bad lines" in result.stdout
    assert result.stderr.count("line ") == 20 and "and 5 more" in result.stderr


def test_standard_input_is_read_too(bots: Path) -> None:
    text = signed(1)[0].raw.decode()
    result = run("notes", "import", "-", "--dir", bots, "--json", typed=text)
    assert json.loads(result.stdout)["new"] == 1


def test_what_one_folder_exports_another_imports(bots: Path, tmp_path: Path) -> None:
    run("init", tmp_path / "other")
    path = dump(tmp_path, [event.raw for event in signed(5)])
    imported(path, bots)
    exported = tmp_path / "exported.jsonl"
    result = run("notes", "export", "--out", exported, "--dir", bots)
    assert (result.exit_code, result.stderr) == (0, f"5 notes written to {exported}\n")
    assert imported(exported, tmp_path / "other")["new"] == 5
    assert run("notes", "export", "--dir", bots).stdout.encode() == exported.read_bytes() == path.read_bytes()


def test_an_export_never_overwrites_and_refuses_what_is_not_there(bots: Path, tmp_path: Path) -> None:
    path = dump(tmp_path, [signed(1)[0].raw])
    imported(path, bots)

    def refused(*arguments: str | Path) -> Result:
        return run("notes", "export", *arguments, "--dir", bots)

    assert (refused("--out", path).exit_code, path.exists()) == (1, True)
    assert refused("--manas", "none").exit_code == 1
    assert "2026-01-31" in refused("--since", "yesterday").stderr
    assert refused("--author", "bob").exit_code == 2
    assert refused("--since", "2030-01-01").stderr == "0 notes written\n"


async def test_a_running_host_keeps_what_is_imported_and_answers_none_of_it(
    stage: Stage, tmp_path: Path
) -> None:
    """Old notes wake nobody."""
    stage.persona()
    old = await stage.person.sign(Draft(42, "old", (("e", GROUP, "", "root"),), NOW))
    path = dump(tmp_path, [old.raw])
    async with stage.host() as host:
        found = await asyncio.to_thread(imported, path, stage.folder)
        await decided(host, old)
        again = await asyncio.to_thread(imported, path, stage.folder)
        assert await stage.said() == []
    assert (found["new"], again["known"]) == (1, 1)
    assert rows(stage.folder, "SELECT * FROM imports") == []


async def test_what_was_answered_elsewhere_by_the_word_of_a_dump_is_not_answered_again(
    stage: Stage, tmp_path: Path
) -> None:
    """Nobody hosted the key when its reply was imported."""
    stage.persona()
    async with stage.host() as host:
        assert await host.idle(10)
    now, root = int(WallClock().now()), ("e", GROUP, "", "root")
    asked = await stage.person.sign(Draft(42, "When?", (root,), now))
    other = await LocalSigner(new_secret()).sign(Draft(42, "And where?", (root,), now + 1))
    reply = await stage.bots["tide"].sign(
        Draft(42, "At nine.", (root, ("e", asked.id, "", "reply")), now + 1)
    )
    path = dump(tmp_path, [event.raw for event in (reply, asked, other)])
    await asyncio.to_thread(imported, path, stage.folder)
    async with stage.host() as host:
        await decided(host, asked, other)
        said = await stage.said()
    assert [event.tag_values("e")[-1] for event in said] == [other.id], (
        "the rest of a dump is input like any other"
    )


# proof by force ---------------------------------------------------------------------------------------


def marks(bots: Path) -> list[Any]:
    with contextlib.suppress(StoreError, sqlite3.Error):
        return rows(bots, "SELECT offset, line FROM imports")
    return []


@pytest.mark.force
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
async def test_an_import_that_is_killed_goes_on_where_it_stood(
    bots: Path, tmp_path: Path, how: signal.Signals
) -> None:
    events = await asyncio.to_thread(signed, 12 * BATCH_LINES)
    path = dump(tmp_path, [event.raw for event in events])
    async with Child("notes", "import", path, "--dir", bots) as child:

        async def begun() -> bool:
            return bool(marks(bots))

        await until(begun)
        ended = await child.end(how)
    assert ended.code != 0
    ((offset, line),) = marks(bots)
    assert rows(bots, "SELECT count(*) FROM notes") == [(line,)], "the mark and the notes are one commit"
    assert 0 < line < len(events)
    ended = await cli("notes", "import", path, "--dir", bots, "--json")
    assert f"going on after line {line:,}" in ended.err
    assert json.loads(ended.out)["new"] == len(events) - line
    assert rows(bots, "SELECT count(*) FROM notes") == [(len(events),)]
    with contextlib.closing(connect(bots / "data" / FILE)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_file_that_was_changed_before_its_mark_is_read_from_the_start(bots: Path, tmp_path: Path) -> None:
    events = signed(4)
    path = dump(tmp_path, [event.raw for event in events])
    imported(dump(tmp_path, [event.raw for event in events[:2]], "other.jsonl"), bots)
    with contextlib.closing(connect(bots / "data" / FILE)) as conn:
        place = (str(path), len(events[0].raw) + 1, 1, "not what stands there")
        conn.execute("INSERT INTO imports (file, offset, line, tail) VALUES (?, ?, ?, ?)", place)
    assert imported(path, bots)["lines"] == 4


@pytest.mark.force
async def test_a_disk_that_is_full_stops_an_import_and_room_lets_it_go_on(bots: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    long = " ".join(chance.choice(["tide", "wind", "moon", "boat"]) for _ in range(200))
    events = await asyncio.to_thread(signed, 6 * BATCH_LINES, content=long)
    path = dump(tmp_path, [event.raw for event in events])
    async with Child("notes", "import", path, "--dir", bots) as child:

        async def begun() -> bool:
            return bool(marks(bots))

        await until(begun)
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (4096 * 600, resource.RLIM_INFINITY))
        ended = await child.end(None)
    assert ended.code == 1, ended.all
    assert "Traceback" not in ended.all
    assert "disk is full" in ended.err or "disk I/O error" in ended.err
    ((_, line),) = marks(bots)
    assert rows(bots, "SELECT count(*) FROM notes") == [(line,)]
    found = await asyncio.to_thread(imported, path, bots)
    assert found["new"] == len(events) - line
    assert rows(bots, "SELECT count(*) FROM notes") == [(len(events),)]
