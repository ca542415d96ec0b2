"""Measuring models for a project, and what its personas are told of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.inference.hub_stand_in import model_bytes
from tests.personas.folder import persona, write
from tests.probe.plays import small
from uniun_bots.cli.main import main
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import ConfigError, EngineError, NotFound
from uniun_bots.host import probing
from uniun_bots.host.host import Host
from uniun_bots.host.project_folder import check_folder, load_folder, load_to_host
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.personas.project import load_project
from uniun_bots.personas.settings import HostSettings
from uniun_bots.probe.load_situations import situations
from uniun_bots.probe.played import Played, PlayedRound
from uniun_bots.probe.rates import always_silent
from uniun_bots.probe.scene import shown
from uniun_bots.runs.outcome import Ending

SILENT = '{"skill": "stay-silent", "arguments": {}}'
COUNT = 3
AGENTIC = persona("agentic: true", "max_rounds: auto")


class Kept:
    def __init__(self, folder: Path) -> None:
        self.file = small(folder)
        self.plays: list[tuple[str, Played]] = []
        self.told: list[tuple[str, int, int]] = []

    @property
    def done(self) -> set[tuple[str, int]]:
        return {(digest, played.number) for digest, played in self.plays}

    async def keep(self, digest: str, played: Played) -> None:
        self.plays.append((digest, played))

    def tell(self, name: str, done: int, total: int) -> None:
        self.told.append((name, done, total))


async def play(kept: Kept, engine: ScriptedEngine, runs: int = 1) -> None:
    await probing.play_missing(engine, kept.file, runs, kept.done, kept.keep, kept.tell)


def dying_after(count: int) -> Callable[[Request], Reply]:
    asked = 0

    def script(request: Request) -> Reply:
        nonlocal asked
        asked += 1
        return Reply(SILENT, error=EngineError("the engine died") if asked > count else None)

    return script


# playing ----------------------------------------------------------------------------------------------


@pytest.fixture
async def kept(tmp_path: Path) -> Kept:
    return await asyncio.to_thread(Kept, tmp_path)


async def test_every_situation_is_played_once_for_each_run(kept: Kept) -> None:
    await play(kept, ScriptedEngine([SILENT], again=True), runs=2)
    digests = await asyncio.to_thread(shown, kept.file)
    assert kept.done == {(digest, number) for digest in digests.values() for number in (1, 2)}
    assert len(kept.plays) == 2 * COUNT
    assert kept.told[0] == ("tide", 0, 2 * COUNT)
    assert kept.told[-1][1:] == (2 * COUNT - 1, 2 * COUNT)


async def test_what_was_stopped_goes_on_with_what_is_missing(kept: Kept) -> None:
    with pytest.raises(EngineError, match="the engine died"):
        await play(kept, ScriptedEngine(dying_after(2)))
    assert len(kept.plays) == 2
    engine = ScriptedEngine([SILENT], again=True)
    await play(kept, engine)
    assert (len(kept.plays), len(kept.done), len(engine.requests)) == (COUNT, COUNT, 1)


async def test_a_play_that_was_cancelled_in_the_middle_is_not_kept(kept: Kept) -> None:
    engine = ScriptedEngine([SILENT, SILENT, Reply("", hangs=True)])
    playing = asyncio.create_task(play(kept, engine))
    await engine.until_asked(3)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert (len(kept.plays), len(engine.cancelled)) == (2, 1)


async def test_an_engine_with_several_slots_plays_as_many_side_by_side(kept: Kept) -> None:
    both = asyncio.Event()

    async def until_both_run(_: float) -> None:
        if engine.running == 2:
            both.set()
        await both.wait()

    engine = ScriptedEngine(lambda _: Reply(SILENT, after_s=1.0), slots=2, sleep=until_both_run)
    await play(kept, engine)
    assert (len(kept.done), engine.most_running) == (COUNT, 2)


def test_a_model_is_named_by_reference_or_by_its_engine(tmp_path: Path) -> None:
    write(tmp_path, host_yaml="engines: {big: {type: openai, base_url: http://127.0.0.1:1/v1, json: none}}")
    settings = load_project(tmp_path).settings
    assert '"json": "none"' in probing.fingerprint_of("big", settings, tmp_path).key
    assert probing.fingerprint_of("default", settings, tmp_path).key.startswith("gguf:")
    with pytest.raises(NotFound, match="no engine small; there are: default, big"):
        probing.fingerprint_of("small", settings, tmp_path)


# what personas are told -------------------------------------------------------------------------------


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "m.gguf").write_bytes(model_bytes())
    return write(tmp_path, host_yaml="model: path:m.gguf", personas__tide_md=AGENTIC)


async def measured(bots: Path, *, rounds: int = 1, right: bool = False) -> None:
    """As a model that is silent everywhere, or right everywhere in so many rounds."""
    file, settings = await asyncio.to_thread(situations), HostSettings(model="path:m.gguf")
    model = await asyncio.to_thread(probing.fingerprint_of, "default", settings, bots)
    digests = await asyncio.to_thread(shown, file)
    async with Store(bots / "data" / FILE) as store:
        for situation, silent in zip(file.situations, always_silent(file), strict=True):
            done = silent
            if right and situation.right.publish:
                body = " ".join(any_of[0] for any_of in situation.right.says)
                one = PlayedRound("search-notes", {}, "", 1.0, 1, 1)
                done = Played(
                    situation.name, 1, Ending.SUCCEEDED, "", body, situation.right.cites, (one,) * rounds
                )
            asked = probing.as_asked(model, digests[situation.name], done)
            await store.write(lambda tx: probing.carry_out(tx, asked, 1.0))  # noqa: B023


async def told(bots: Path) -> tuple[list[str], list[str]]:
    report, _ = await asyncio.to_thread(check_folder, bots)
    return [fault.message for fault in report.faults], [fault.message for fault in report.warnings]


async def test_a_model_that_was_not_measured_is_told_and_not_refused(bots: Path) -> None:
    faults, (warning,) = await told(bots)
    assert not faults
    assert warning.startswith("`agentic`: its model was not measured: `uniun-bots model probe default`")


async def test_persona_show_tells_what_was_measured(bots: Path) -> None:
    def shown_persona() -> tuple[dict[str, Any], str]:
        show = ["persona", "show", "tide", "--dir", str(bots)]
        found = [CliRunner().invoke(main, [*show, *more]).stdout for more in (["--json"], [])]
        return json.loads(found[0]), found[1]

    before, text = await asyncio.to_thread(shown_persona)
    assert before["measured"]["trust"] == "not measured"
    assert "its model was not measured: `uniun-bots model probe default`" in text
    await measured(bots, rounds=3, right=True)
    after, text = await asyncio.to_thread(shown_persona)
    assert (after["measured"]["trust"], after["measured"]["score"]) == ("enough", 1.0)
    assert (after["max_rounds"], after["measured"]["rounds_needed"]) == ("auto", 3)
    assert "its model came to a score of 1.00" in text


async def test_a_one_shot_persona_is_told_nothing(bots: Path) -> None:
    write(bots, personas__tide_md=persona())
    assert await told(bots) == ([], [])


async def test_a_scripted_engine_is_not_measured_by_anybody(bots: Path) -> None:
    write(bots, host_yaml="model: s\nengines: {s: {type: scripted, replies: [hello]}}")
    assert await told(bots) == ([], [])


async def test_a_low_score_is_a_warning_where_the_key_stands(bots: Path) -> None:
    await measured(bots)
    report, _ = await asyncio.to_thread(check_folder, bots)
    (warning,) = report.warnings
    assert (warning.line, report.faults) == (AGENTIC.splitlines().index("agentic: true") + 1, ())
    assert "a score of 0.50" in warning.message


async def test_below_refuse_below_it_is_a_fault_and_no_host_starts(bots: Path) -> None:
    await measured(bots)
    await asyncio.to_thread(load_to_host, bots)
    write(bots, host_yaml="model: path:m.gguf\nprobe: {refuse_below: 0.6}")
    (fault,), warnings = await told(bots)
    assert ("`probe.refuse_below` of host.yaml is 0.6" in fault, warnings) == (True, [])
    with pytest.raises(ConfigError, match="refuse_below"):
        async with Host(bots):
            pass
    await asyncio.to_thread(load_folder, bots)  # A simulation may try it with another model.


async def test_other_weights_under_the_same_name_are_not_measured(bots: Path) -> None:
    await measured(bots, right=True)
    assert await told(bots) == ([], [])
    (bots / "m.gguf").write_bytes(model_bytes()[:-1] + b"\1")
    assert "not measured" in (await told(bots))[1][0]


async def test_auto_takes_the_rounds_that_were_needed(bots: Path) -> None:
    project, _ = await asyncio.to_thread(load_folder, bots)
    assert project.ganas[0].rounds == 4
    await measured(bots, rounds=3, right=True)
    project, _ = await asyncio.to_thread(load_folder, bots)
    assert (project.ganas[0].rounds, project.ganas[0].max_rounds) == (3, 3)
    write(
        bots,
        host_yaml="model: path:m.gguf\ndefaults: {max_rounds: auto}",
        personas__tide_md=persona("agentic: true"),
    )
    project, _ = await asyncio.to_thread(load_folder, bots)
    assert project.ganas[0].rounds == 3
    write(bots, personas__tide_md=persona("agentic: true", "max_rounds: 2"))
    project, _ = await asyncio.to_thread(load_folder, bots)
    assert project.ganas[0].rounds == 2


async def test_a_store_of_an_older_version_is_no_fault(bots: Path) -> None:
    async with Store(bots / "data" / FILE) as store:
        await store.write(lambda tx: tx.execute("DROP TABLE probed_models"))
    assert "not measured" in (await told(bots))[1][0]
    await asyncio.to_thread(load_folder, bots)
