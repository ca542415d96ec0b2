from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_check_init_keys import run
from tests.host.stage import Stage
from tests.personas.folder import GROUP, NPUB, PUBKEY
from uniun_bots.nostr.reference import spell_note


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    assert run("init", tmp_path / "bots").exit_code == 0
    return tmp_path / "bots"


def manas(bots: Path, *arguments: str | Path, code: int = 0) -> str:
    result = run("manas", *arguments, "--dir", bots, COLUMNS="200")
    assert result.exit_code == code, result.output
    return result.output


def shown(bots: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manas(bots, "show", name, "--json"))
    return found


def test_the_example_of_a_new_project_has_its_note(bots: Path) -> None:
    (listed,) = json.loads(manas(bots, "list", "--json"))
    assert (listed["name"], listed["notes"], listed["names"]) == ("example", 1, {"files": 1})
    table = manas(bots, "list")
    assert "example" in table and "1 file " in table
    assert "# A first note" in manas(bots, "show", "example")
    (note,) = shown(bots, "example")["newest"]
    assert (note["origin"], note["author"]) == ("draft", "")


@pytest.mark.parametrize("ask", ["notes search day", "notes graph --out {out}", "chat --once day"])
def test_whoever_names_a_manas_gets_it_as_its_files_are(bots: Path, tmp_path: Path, ask: str) -> None:
    """Also where nothing has run yet, and after a change."""
    (bots / "host.yaml").write_text(
        "model: script\nembedder: none\nengines: {script: {type: scripted, replies: [Aha.]}}\n"
    )
    (bots / "manas" / "example" / "second.md").write_text("A day at sea.")
    words = [word.format(out=tmp_path / "graph.html") for word in ask.split()]
    assert run(*words, "--manas", "example", "--dir", bots).exit_code == 0
    assert shown(bots, "example")["notes"] == 2
    unknown = run(*words, "--manas", "sea", "--dir", bots)
    assert (unknown.exit_code, unknown.stderr) == (1, "there is no Manas sea; there are: example\n")


def test_what_is_added_is_a_member_at_once_and_what_is_removed_is_none(bots: Path, tmp_path: Path) -> None:
    lessons = tmp_path / "lessons"
    lessons.mkdir()
    (lessons / "a.md").write_text("---\ntags: [tide]\n---\nWait.")
    (lessons / "b.md").write_text("Go.")
    assert manas(bots, "add", "life", "--file", lessons, "--author", NPUB) == "life: 2 added\n"
    found = shown(bots, "life")
    assert (found["notes"], found["named"]["authors"]) == (2, [PUBKEY])
    assert found["named"]["files"] == ["../../lessons"], "relative to manas/, so that the folder can be moved"
    manas(bots, "add", "life", "--topic", "#Tide", "--exclude")
    assert [note["text"] for note in shown(bots, "life")["newest"]] == ["Go."]
    manas(bots, "remove", "life", "--topic", "tide", "--exclude")
    manas(bots, "remove", "life", "--file", "../../lessons")
    assert shown(bots, "life")["notes"] == 0
    assert manas(bots, "remove", "life", "--topic", "tide", code=1).startswith("life does not name that")


def test_what_cannot_be_is_refused(bots: Path) -> None:
    assert "name something" in manas(bots, "add", "life", code=2)
    assert "a-z, 0-9 and -" in manas(bots, "add", "Life Lessons", "--topic", "x", code=2)
    assert "is not usable" in manas(bots, "add", "life", "--author", "bob", code=2)
    assert not (bots / "manas" / "life.yaml").exists()
    assert "there is no Manas none; there are: example" in manas(bots, "show", "none", code=1)
    assert "there is no Manas none" in manas(bots, "remove", "none", "--topic", "x", code=1)
    assert "is no project folder" in manas(bots / "data", "list", code=2)


def test_ids_are_imported_from_lines_of_every_kind(bots: Path, tmp_path: Path) -> None:
    digits = "7" * 64
    lines = [
        GROUP,
        spell_note(PUBKEY),
        f'"{digits[:-1]}8"',
        digits,
        json.dumps({"id": "b" * 64, "kind": 1}),
        "",
        "nonsense",
        NPUB,
        '{"kind": 1}',
    ]
    path = tmp_path / "ids.jsonl"
    path.write_text("\n".join(lines))
    told = manas(bots, "import", "life", path)
    assert "life: 5 added, 3 bad lines" in told
    assert "line 7:" in told and "line 8:" in told and "line 9:" in told
    assert shown(bots, "life")["named"]["notes"] == [GROUP, PUBKEY, f"{digits[:-1]}8", digits, "b" * 64]
    assert "life: 0 added" in manas(bots, "import", "life", path)


def test_a_folder_is_imported_by_name(bots: Path, tmp_path: Path) -> None:
    (tmp_path / "l").mkdir()
    (tmp_path / "l" / "a.md").write_text("Wait.")
    manas(bots, "import", "life", tmp_path / "l")
    assert shown(bots, "life")["notes"] == 1
    (tmp_path / "bad").write_bytes(b"\xff\xfe\x00")
    assert "No such file" in manas(bots, "import", "life", tmp_path / "none", code=1)
    assert "is no text" in manas(bots, "import", "life", tmp_path / "bad", code=1)


async def test_a_running_host_takes_over_what_is_added(stage: Stage) -> None:
    stage.persona()
    old = await stage.post(1, "old", at=1_600_000_000)
    async with stage.host() as host:
        told = await asyncio.to_thread(manas, stage.folder, "add", "life", "--author", old.author)
        assert told == "life: 1 added\n"
        assert [one.name for one in host.project.manas] == ["life"]
        found: dict[str, Any] = {}
        async with asyncio.timeout(20):
            while found.get("notes") != 1:
                found = await asyncio.to_thread(shown, stage.folder, "life")
        (stage.folder / "manas" / "a.md").write_text("a draft")
        await asyncio.to_thread(manas, stage.folder, "add", "life", "--file", "a.md")
        (stage.folder / "manas" / "a.md").write_text("a draft, changed")
        found = await asyncio.to_thread(shown, stage.folder, "life")
    assert {note["text"] for note in found["newest"]} == {"old", "a draft, changed"}


def test_check_tells_of_files_that_cannot_be_notes(bots: Path) -> None:
    (bots / "manas" / "example" / "bad.md").write_bytes(b"caf\xe9")
    result = run("check", bots)
    assert result.exit_code == 0
    assert "manas/example/bad.md:1:4 warning: is not UTF-8 here" in result.stdout
