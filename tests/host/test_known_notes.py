"""What a Gana with a Manas is shown before it answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.test_check_init_keys import run
from tests.host.stage import Stage, decided, rows_of
from uniun_bots.host.host import Host
from uniun_bots.nostr.reference import spell_note


def draft(stage: Stage, name: str, text: str, date: str = "2026-01-01") -> None:
    folder = stage.folder / "manas" / "harbour"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"---\ndate: {date}\n---\n{text}\n")


def manas(stage: Stage) -> Path:
    path = stage.folder / "manas" / "harbour.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text("description: Tides and boats\nfiles: [harbour]\n")
    (stage.folder / "manas" / "harbour").mkdir(exist_ok=True)
    return path


async def id_of(host: Host, text: str) -> str:
    (row,) = await rows_of(host, "SELECT id FROM notes WHERE text LIKE ?", text)
    return str(row["id"])


def system_of(stage: Stage) -> str:
    (request,) = stage.engine.requests
    return request.messages[0].content


async def test_notes_of_the_manas_stand_before_the_question_the_fitting_one_first(stage: Stage) -> None:
    manas(stage)
    draft(stage, "a", "Bread has to rest over night.", "2026-03-01")
    draft(stage, "b", "High water comes fifty minutes later every day.", "2026-02-01")
    draft(stage, "giant", "ebb " * 5000, "2026-04-01")
    stage.persona(manas="[harbour]")
    async with stage.host() as host:
        question = await stage.ask("When is high water today?")
        await decided(host, question)
        (row,) = await rows_of(host, "SELECT run, knowledge FROM runs")
        high = await id_of(host, "High water%")
        bread = await id_of(host, "Bread%")
    shown = system_of(stage)
    assert "Notes that may help you:\n\n> High water comes fifty minutes later every day.\n(n1, " in shown
    assert "> Bread has to rest over night.\n(n2, " in shown
    assert "ebb ebb" not in shown, "what does not fit is left out whole"
    assert json.loads(row["knowledge"]) == [high, bread]
    said = await asyncio.to_thread(run, "runs", "show", str(row["run"]), "--dir", stage.folder)
    assert said.exit_code == 0, said.output
    assert f"knew  {spell_note(high)}" in said.output


async def test_by_a_timer_the_newest_notes_of_the_manas_are_shown(stage: Stage) -> None:
    manas(stage)
    draft(stage, "a", "Old words.", "2026-01-01")
    draft(stage, "b", "New words.", "2026-05-01")
    stage.persona(
        manas="[harbour]", input=None, output="{type: feed}", trigger="once-on-enable", debounce=None
    )
    async with stage.host() as host:
        assert await host.idle(10)
    shown = system_of(stage)
    assert 0 < shown.index("> New words.") < shown.index("> Old words.")


@pytest.mark.parametrize("with_manas", [True, False])
async def test_where_there_is_no_knowledge_nothing_is_looked_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, with_manas: bool
) -> None:
    async def never(*given: object) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr("uniun_bots.host.house.look_up_knowledge", never)
    manas(stage)
    stage.persona(manas="[harbour]" if with_manas else None)
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        assert [row["ending"] for row in await rows_of(host, "SELECT ending FROM runs")] == ["succeeded"]
    assert "Notes that may help you" not in system_of(stage)
