"""`notes search`, beside a running host and without one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.factory import ALICE, NOW, heard, profile
from tests.graph.library import embed_all, keep_texts
from tests.host.stage import Stage, decided
from uniun_bots.cli.main import main
from uniun_bots.database.store import FILE, Store
from uniun_bots.graph.drafts import sync_drafts
from uniun_bots.graph.keep import keep
from uniun_bots.host import searching
from uniun_bots.inference.embed.embedder import Embedder
from uniun_bots.inference.embed.scripted import ScriptedEmbedder
from uniun_bots.personas.draft_file import DraftFile

SYNONYMS = {"vessel": "ship"}


def run(folder: Path, *given: str) -> Result:
    return CliRunner().invoke(main, ["notes", "search", *given, "--dir", str(folder)])


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    (tmp_path / "host.yaml").write_text("{}")
    (tmp_path / "manas").mkdir()
    async with Store(tmp_path / "data" / FILE) as store:
        events = await keep_texts(store, "The vessel left at nine.", "Bread is here.", "A ferry of two decks")
    (tmp_path / "manas" / "sea.yaml").write_text(f"notes: ['{events[2].id}']\n")
    return tmp_path


async def test_notes_are_found_without_a_host(folder: Path) -> None:
    result = await asyncio.to_thread(run, folder, "vessel", "--json")
    (note,) = json.loads(result.stdout)
    assert (result.exit_code, note["text"], note["kind"]) == (0, "The vessel left at nine.", 1)
    shown = await asyncio.to_thread(run, folder, "vessel")
    assert "The vessel left at nine." in shown.stdout
    assert "by words alone: no note has a vector yet: `uniun-bots run` makes them" in shown.stderr
    (folder / "host.yaml").write_text("embedder: none\n")
    assert "host.yaml says `embedder: none`" in (await asyncio.to_thread(run, folder, "vessel")).stderr


async def test_authors_are_called_by_their_names_and_drafts_what_they_are(folder: Path) -> None:
    async with Store(folder / "data" / FILE) as store:
        await store.write(lambda tx: keep(tx, heard(profile(ALICE, name="Alice"))))
        await store.write(lambda tx: sync_drafts(tx, [DraftFile("ferry.md", "A ferry.", NOW, (), "")], NOW))
    found = json.loads((await asyncio.to_thread(run, folder, "ferry", "--json")).stdout)
    assert {note["origin"]: note["by"] for note in found} == {"relay": "Alice", "draft": "draft"}
    shown = (await asyncio.to_thread(run, folder, "ferry")).stdout
    assert "Alice" in shown and "draft" in shown


async def test_a_manas_is_a_border(folder: Path) -> None:
    assert json.loads((await asyncio.to_thread(run, folder, "ferry", "--manas", "sea", "--json")).stdout)
    outside = await asyncio.to_thread(run, folder, "vessel", "--manas", "sea", "--json")
    assert (outside.exit_code, outside.stdout.strip()) == (1, "[]")
    unknown = await asyncio.to_thread(run, folder, "ferry", "--manas", "see")
    assert (unknown.exit_code, unknown.stderr) == (1, "there is no Manas see; there are: sea\n")


async def test_nothing_found_is_a_no(folder: Path, tmp_path: Path) -> None:
    assert (await asyncio.to_thread(run, folder, "zebra")).exit_code == 1
    (tmp_path / "new" / "personas").mkdir(parents=True)
    assert "nothing has run here" in (await asyncio.to_thread(run, tmp_path / "new", "a")).stderr


async def test_vectors_that_are_there_are_used_without_a_host(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Store(folder / "data" / FILE) as store:
        await embed_all(store, ScriptedEmbedder(synonyms=SYNONYMS))

    def scripted(*given: object) -> Embedder:
        return ScriptedEmbedder(synonyms=SYNONYMS)

    monkeypatch.setattr(searching, "make_embedder", scripted)
    result = await asyncio.to_thread(run, folder, "ship", "--limit", "1", "--json")
    assert [note["text"] for note in json.loads(result.stdout)] == ["The vessel left at nine."]


async def test_a_running_host_is_asked(stage: Stage) -> None:
    stage.persona(mode="off")
    async with stage.host(embedder=ScriptedEmbedder()) as host:
        await decided(host)
        await keep_texts(host.store, "The ferry leaves at nine.")
        result = await asyncio.to_thread(run, stage.folder, "ferry", "--json")
        assert [note["text"] for note in json.loads(result.stdout)] == ["The ferry leaves at nine."]
