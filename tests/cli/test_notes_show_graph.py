"""What people see of the graph: one note as text and as JSON, and the picture as a file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_check_init_keys import run
from tests.factory import BOB, event, heard, hex_of, profile
from uniun_bots.cli.notes.picture_page import MARK, MOST_CHARS
from uniun_bots.database.store import Store
from uniun_bots.graph.drafts import sync_drafts
from uniun_bots.graph.keep import keep
from uniun_bots.nostr.reference import spell_note
from uniun_bots.personas.draft_file import DraftFile, draft_id

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>{{script}} & "\u2028 <!--'
ROOT = event(HOSTILE, ("t", "tides"), ("t", "<b>bold"))
REPLY = event("It comes at noon.", ("e", ROOT.id, "", "reply"), ("t", "tides"), author=BOB)
QUOTE = event("As was said. " + "x" * (MOST_CHARS + 500), ("q", REPLY.id))


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    (tmp_path / "host.yaml").write_text("{}")
    async with Store(tmp_path / "data" / "uniun-bots.sqlite") as store:
        await store.write(lambda tx: keep(tx, heard(ROOT, REPLY, QUOTE, profile(BOB, name="Bob"))))
    return tmp_path


def told(*arguments: str | Path, code: int = 0) -> str:
    result = run(*arguments, COLUMNS="200")
    assert result.exit_code == code, result.output
    return result.output


def graph_in(path: Path) -> dict[str, Any]:
    """What stands in the page as data, cut out as a browser's parser would: up to the first end of a script."""
    text = path.read_text(encoding="utf-8")
    found = text[text.index('id="graph">') + len('id="graph">') :]
    values: dict[str, Any] = json.loads(found[: found.index("</script")])
    return values


def test_a_note_is_shown_with_what_it_names_and_what_names_it(folder: Path) -> None:
    text = told("notes", "show", spell_note(REPLY.id), "--dir", folder)
    assert f"by Bob ({BOB})" in text
    assert "  It comes at noon." in text
    assert f"names {spell_note(ROOT.id)} (reply): </script>" in text
    assert f"named by {spell_note(QUOTE.id)} (quote): As was said." in text
    assert "topics: tides" in text
    assert "heard from wss://relay.example" in text
    values = json.loads(told("notes", "show", REPLY.id, "--json", "--dir", folder))
    assert values["note"]["text"] == "It comes at noon."
    assert [one["kind"] for one in values["names"]] == ["reply", "root"]


async def test_a_draft_says_which_file_it_is(folder: Path) -> None:
    async with Store(folder / "data" / "uniun-bots.sqlite") as store:
        draft = DraftFile("harbour/neap.md", "# Neap", 0, (), "")
        await store.write(lambda tx: sync_drafts(tx, [draft], 0.0))
    shown = told("notes", "show", draft_id("harbour/neap.md"), "--dir", folder)
    assert "from the file harbour/neap.md in manas/, " in shown
    told("notes", "graph", "--out", folder / "graph.html", "--dir", folder)
    assert [note["by"] for note in graph_in(folder / "graph.html")["notes"] if not note["author"]] == [
        "draft"
    ]


def test_a_note_is_found_by_the_beginning_that_listings_show(folder: Path) -> None:
    whole = told("notes", "show", REPLY.id, "--dir", folder)
    assert told("notes", "show", REPLY.id[:12], "--dir", folder) == whole
    assert told("notes", "show", REPLY.id[:8].upper(), "--dir", folder) == whole
    assert REPLY.id[:8] in told("explain", REPLY.id[:8], "--json", "--dir", folder)
    assert "no note here begins with 00000000" in told("notes", "show", "0" * 8, "--dir", folder, code=1)


async def test_a_beginning_that_several_notes_have_names_none(folder: Path) -> None:
    twins = [replace(ROOT, id="abcdef01" + letter * 56) for letter in "ab"]
    async with Store(folder / "data" / "uniun-bots.sqlite") as store:
        await store.write(lambda tx: keep(tx, heard(*twins)))
    said = told("notes", "show", "abcdef01", "--dir", folder, code=2)
    assert all(twin.id in said for twin in twins)
    assert twins[0].id in told("notes", "show", "abcdef01a", "--json", "--dir", folder)


def test_a_note_that_is_not_known_and_one_that_is_no_id(folder: Path) -> None:
    assert "is not known here" in told("notes", "show", hex_of("unknown"), "--dir", folder, code=1)
    assert "note" in told("notes", "show", "hello", "--dir", folder, code=2)


def test_the_data_in_the_page_is_the_graph(folder: Path) -> None:
    out = folder / "graph.html"
    said = told("notes", "graph", "--out", out, "--dir", folder)
    assert f"wrote {out}: 3 notes, 2 edges, 1 shared topics" in said.replace("\n", "")
    values = graph_in(out)
    by_id = {note["id"]: note for note in values["notes"]}
    assert by_id[ROOT.id]["text"] == HOSTILE
    assert by_id[ROOT.id]["topics"] == ["<b>bold", "tides"]
    assert by_id[REPLY.id]["by"] == "Bob"
    assert len(by_id[QUOTE.id]["text"]) == MOST_CHARS
    ids = [note["id"] for note in values["notes"]]
    assert sorted((ids[a], ids[b], kind) for a, b, kind in values["edges"]) == sorted(
        [(REPLY.id, ROOT.id, "reply"), (QUOTE.id, REPLY.id, "quote")]
    )
    assert [one["topic"] for one in values["topics"]] == ["tides"]


def test_nothing_in_the_page_comes_from_a_note_or_from_elsewhere(folder: Path) -> None:
    """Two scripts and no more, whatever notes say; nothing that a browser would fetch."""
    out = folder / "graph.html"
    told("notes", "graph", "--out", out, "--dir", folder)
    text = out.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script") == 2
    assert "<img" not in text
    start = text.index('id="graph">')
    ours = text[:start] + text[text.index("</script", start) :]
    assert not re.search(r"\b(src|href)\s*=|url\(|@import|https?://", ours)
    assert "default-src 'none'" in text


def test_an_older_picture_is_replaced_and_any_other_file_is_not(folder: Path) -> None:
    out = folder / "graph.html"
    told("notes", "graph", "--out", out, "--dir", folder)
    told("notes", "graph", "--around", REPLY.id, "--most", "2", "--out", out, "--dir", folder)
    assert len(graph_in(out)["notes"]) == 2
    assert graph_in(out)["around"] == REPLY.id
    assert MARK in out.read_text(encoding="utf-8")
    before = (folder / "host.yaml").read_text()
    told("notes", "graph", "--out", folder / "host.yaml", "--dir", folder, code=1)
    assert (folder / "host.yaml").read_text() == before


def test_a_graph_around_nothing_and_of_no_manas_is_refused(folder: Path) -> None:
    out = folder / "graph.html"
    around = told("notes", "graph", "--around", hex_of("unknown"), "--out", out, "--dir", folder, code=1)
    assert "is not known here" in around
    manas = told("notes", "graph", "--manas", "nobody", "--out", out, "--dir", folder, code=1)
    assert "there is no Manas nobody" in manas
    assert not out.exists()
