from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.plays import SEARCH, SILENT, SMALL, call, play, play_on, post, small
from uniun_bots.errors import NoModel
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.runs.outcome import Ending


async def test_a_play_tells_each_round_with_the_situations_names_for_notes(tmp_path: Path) -> None:
    done = await play(
        small(tmp_path), "tide", [SEARCH, call("read-note", note="n2"), post("At 06:40.", "n2", "n9")]
    )
    assert (done.ending, done.body, done.references) == (Ending.SUCCEEDED, "At 06:40.", ("tide",))
    assert [one.skill for one in done.rounds] == ["search-notes", "read-note", "publish-feed-note"]
    assert done.rounds[1].arguments == {"note": "tide"}
    assert done.rounds[2].arguments["referenceNoteIds"] == ["tide", "?n9"]


async def test_what_is_no_call_is_told_as_none(tmp_path: Path) -> None:
    done = await play(small(tmp_path), "tide", ["When the moon is up."])
    assert done.ending is Ending.MALFORMED
    assert [one.skill for one in done.rounds] == [""]


async def test_the_prompt_is_the_one_of_a_hosted_run(tmp_path: Path) -> None:
    _, engine = await play_on(ScriptedEngine([SEARCH, SILENT]), small(tmp_path), "tide")
    system, user = engine.requests[0].messages
    assert system.content.startswith("Answer from your notes.")
    assert "- search-notes(query):" in system.content and "5 calls in all" in system.content
    assert user.content == '> When is high water?\n(n1, "Anna", 1 hour ago)'
    assert engine.requests[1].messages[:2] == (system, user)
    assert engine.requests[0].json_schema


async def test_each_time_has_a_seed_of_its_own_and_the_same_prompt(tmp_path: Path) -> None:
    file = small(tmp_path)
    engines = [(await play_on(ScriptedEngine([SILENT]), file, "tide", number))[1] for number in (1, 1, 2)]
    first, same, second = [engine.requests[0] for engine in engines]
    assert first == same
    assert first.seed != second.seed
    assert first.messages == second.messages


async def test_the_gate_of_a_hosted_run_stands_here_too(tmp_path: Path) -> None:
    done = await play(small(tmp_path), "thanks", [post("Answer from your notes."), SILENT])
    assert (done.ending, done.body) == (Ending.SILENT, None)
    assert done.rounds[0].note.startswith("refused")


async def test_notes_outside_of_the_manas_are_not_found(tmp_path: Path) -> None:
    file = small(
        tmp_path, SMALL.replace("text: High water is at 06:40.", "text: High water is at 06:40., where: here")
    )
    shown: list[str] = []

    def script(request: object) -> str:
        shown.append(str(request))
        return SEARCH if len(shown) == 1 else SILENT

    await play(file, "tide", script)
    assert "06:40" not in shown[1]


async def test_without_a_model_nothing_is_played(tmp_path: Path) -> None:
    with pytest.raises(NoModel):
        await play(small(tmp_path), "tide", [Reply("", error=NoModel("none"))])
