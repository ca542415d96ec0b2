"""A simulation is the host itself: what it tells is what a host on a real relay does with the same events."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.factory import NOW
from tests.host.recorded import an_hour
from tests.host.stage import Stage, numbered, rows_of, until
from uniun_bots.clock import VirtualClock
from uniun_bots.host.host import Host
from uniun_bots.host.project_folder import load_folder
from uniun_bots.host.rehearsal.rehearsal import Rehearsal, StillBusy
from uniun_bots.host.rehearsal.simulation import Story, on_file, simulate
from uniun_bots.host.rehearsal.staging import Staged
from uniun_bots.host.rehearsal.staging import stage as put_on
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.skills.library import Library

ROWS = (
    "SELECT run, gana, surface, mode, keys, attempt, ending, reason, body, event_id, started_at, ended_at"
    " FROM runs ORDER BY run",
    "SELECT gana, note_id, reason, setting, at FROM held ORDER BY gana, at, note_id",
    "SELECT gana, key, ending, author, thread, at FROM answered ORDER BY gana, at, key",
    "SELECT event_id, gana, run FROM outbox ORDER BY event_id",
    "SELECT gana, surface FROM cursors ORDER BY gana, surface",
    "SELECT id, author, kind, origin, deleted FROM notes ORDER BY id",
)


def two_personas(at: Stage) -> None:
    at.persona("tide", debounce="3s")
    at.persona("helper", debounce="3s", input="{type: mentions}", output="{type: feed, reply: true}")


async def everything(host: Host) -> dict[str, list[dict[str, Any]]]:
    return {sql: await rows_of(host, sql) for sql in ROWS}


async def played(
    rehearsal: Rehearsal, events: Sequence[Event], give: Callable[[Event], Awaitable[None]]
) -> Any:
    for event in events:
        await rehearsal.go_to(event.created_at)
        await give(event)
        await rehearsal.settle()
    await rehearsal.play_out(rehearsal.clock.now() + 900)
    return await everything(rehearsal.host)


@asynccontextmanager
async def on_relay(staged: Staged, library: Library, clock: VirtualClock) -> AsyncIterator[Rehearsal]:
    engines = {"default": ScriptedEngine(numbered())}
    async with Host(
        staged.project.folder,
        clock=clock,
        environ=staged.environ,
        engines=engines,
        read=lambda _: (staged.project, library),
    ) as host:
        yield Rehearsal(host, clock)


async def test_a_simulation_decides_as_a_host_on_a_real_relay_does(stage: Stage, tmp_path: Path) -> None:
    two_personas(stage)
    recorded = await an_hour(stage.bots["helper"].public_key)
    on_paper, library = await staged_in(stage, tmp_path / "file", real_keys=True)
    clock = VirtualClock(NOW - 1.0)
    async with on_file(on_paper, library, clock, {"default": ScriptedEngine(numbered())}) as (
        rehearsal,
        gateway,
    ):

        async def play(event: Event) -> None:
            gateway.play(event)

        simulated = await played(rehearsal, recorded.events, play)
    in_truth, library = await staged_in(stage, tmp_path / "relay", real_keys=True)
    clock = VirtualClock(NOW - 1.0)
    async with on_relay(in_truth, library, clock) as rehearsal:
        host = rehearsal.host

        async def post(event: Event) -> None:
            heard = host.house.counters["heard"]
            (receipt,) = await stage.client.send(event.raw, [stage.relay_url], event.author)
            assert receipt.fate.delivered, receipt

            async def came() -> bool:
                return host.house.counters["heard"] > heard

            if event.kind == 42 or (event.kind == 1 and event.tag_values("p")):
                await until(came)

        real = await played(rehearsal, recorded.events, post)
    for sql in ROWS:
        assert simulated[sql] == real[sql], sql
    assert len(simulated[ROWS[0]]) >= 3 and len(simulated[ROWS[1]]) >= 3
    assert {event.id for event in gateway.sent} == {row["event_id"] for row in real[ROWS[3]]}


async def staged_in(at: Stage, folder: Path, **given: Any) -> tuple[Staged, Library]:
    """Reading files blocks, and a command does it before its loop runs."""

    def read() -> tuple[Staged, Library]:
        project, library = load_folder(at.folder)
        return put_on(project, folder, given.pop("environ", at.environ), **given), library

    return await asyncio.to_thread(read)


async def story_of(
    at: Stage, events: Sequence[Event], engine: ScriptedEngine | None = None, **given: Any
) -> Story:
    with tempfile.TemporaryDirectory() as folder:
        staged, library = await staged_in(at, Path(folder), real_keys=True, **given)
        engines: dict[str, Engine] = {"default": engine or ScriptedEngine(numbered())}
        return await simulate(staged, library, events, engines, 900.0)


def fates(story: Story, text: str) -> list[tuple[str, str, str]]:
    (one,) = [one for one in story.played if one.text.startswith(text)]
    return [(decision.gana, decision.fate, decision.setting) for decision in one.decisions]


async def test_it_tells_who_answered_who_was_silent_and_which_setting_held(stage: Stage) -> None:
    two_personas(stage)
    recorded = await an_hour(stage.bots["helper"].public_key)
    story = await story_of(
        stage, recorded.events, ScriptedEngine(["At noon.", "<NOOP>", "Yes, awake.", "Here."])
    )
    assert fates(story, "When is high") == fates(story, "And when is low") == [("tide", "answered", "")]
    assert fates(story, "Alice, I think") == [("tide", "silent", "")]
    assert fates(story, "Beep") == [("tide", "held", "input.allow_bots")]
    assert fates(story, "Nobody here?") == [("tide", "held", "input.max_chars")]
    assert fates(story, "Hello there") == [("helper", "answered", "")]
    assert fates(story, "stop") == [("helper", "held", "stop")]
    assert fates(story, "somewhere else") == []
    (decision,) = story.played[0].decisions
    assert decision.event and decision.event["content"] == "At noon."
    assert story.throwaway == ()


async def test_nothing_is_published_and_the_project_is_left_as_it_was(stage: Stage) -> None:
    stage.persona(mode="off")
    before = sorted(str(path) for path in stage.folder.rglob("*"))
    recorded = await an_hour("0" * 64)
    story = await story_of(stage, recorded.events)
    assert any(one.event for one in story.played[0].decisions)
    assert await stage.said() == []
    assert sorted(str(path) for path in stage.folder.rglob("*")) == before


async def test_without_its_key_a_persona_runs_on_another_one_and_that_is_told(stage: Stage) -> None:
    stage.persona("tide", debounce="3s")
    recorded = await an_hour("0" * 64)
    story = await story_of(stage, recorded.events, environ={})
    assert story.throwaway == ("tide",)
    assert fates(story, "When is high") == [("tide", "answered", "")]


async def test_timers_and_retries_come_due_after_the_last_event(stage: Stage) -> None:
    stage.persona("tide", debounce="3s")
    stage.persona(
        "morning", trigger="on-schedule", every="10m", input=None, output="{type: feed}", debounce=None
    )
    recorded = await an_hour("0" * 64)
    first = [recorded.events[1]]
    broken = Reply("", error=RuntimeError("away"))
    story = await story_of(stage, first, ScriptedEngine([broken, "At noon.", "Good morning."]))
    assert fates(story, "When is high") == [("tide", "answered", "")]
    assert [run["ending"] for run in story.runs if run["gana"] == "tide"] == ["failed", "succeeded"]
    assert [(one.gana, one.fate) for one in story.timers] == [("morning", "answered")]


async def test_a_run_that_never_ends_is_told(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uniun_bots.host.loops.GRACE_S", 0.05)
    stage.persona("tide")
    recorded = await an_hour("0" * 64)
    staged, library = await staged_in(stage, tmp_path / "data")
    clock = VirtualClock(NOW - 1.0)
    engine = ScriptedEngine([Reply("", hangs=True)])
    async with on_file(staged, library, clock, {"default": engine}) as (rehearsal, gateway):
        impatient = Rehearsal(rehearsal.host, clock, patience_s=0.3)
        gateway.play(recorded.events[1])
        with pytest.raises(StillBusy, match="did not end"):
            await impatient.go_to(NOW + 60)


async def test_what_is_staged_has_no_way_out(tmp_path: Path, stage: Stage) -> None:
    stage.settings("proxy: socks5://127.0.0.1:9050")
    stage.persona(mode="shadow", webhook=None)
    staged, _ = await staged_in(stage, tmp_path)
    (gana,) = staged.project.ganas
    assert (staged.project.settings.proxy, staged.project.settings.webhook, gana.webhook) == (
        None,
        None,
        None,
    )
    assert staged.project.data_dir == tmp_path
    assert stage.environ["TIDE_NSEC"] not in [
        value for name, value in staged.environ.items() if "STAGED" in name
    ]
