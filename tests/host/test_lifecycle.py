"""What people do to a running host: pause, resume, reload, turn on and off, start a second one."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from tests.cli.test_check_init_keys import run
from tests.host.stage import Stage, decided, fate_of, numbered, rows_of, until
from tests.personas.folder import write
from tests.skills.samples import skill_file
from uniun_bots.clock import WallClock
from uniun_bots.errors import ConfigError, HostRunning, NoHost, UniunError
from uniun_bots.host.control.ask import NOTE, ask_host, socket_path
from uniun_bots.host.host import Host
from uniun_bots.host.lease import holder
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner


async def tell(host: Host, path: str, **asked: object) -> object:
    return await ask_host(host.project.data_dir, "POST", path, asked)


async def pause(host: Host, *names: str) -> None:
    await tell(host, "/pause", ganas=list(names), why="paused by a person")


async def heard(host: Host, *events: Event) -> None:
    async def known() -> bool:
        rows = await rows_of(host, "SELECT id FROM notes")
        return {event.id for event in events} <= {row["id"] for row in rows}

    await until(known)


# pause and resume -------------------------------------------------------------------------------------


async def test_a_paused_gana_answers_nothing_and_goes_on_with_what_waited(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        await pause(host, "tide")
        question = await stage.ask("When is high water?")
        await heard(host, question)
        assert await host.idle(10)
        assert await fate_of(host, question) == "pending"
        assert stage.engine.requests == []
        await tell(host, "/resume", ganas=["tide"])
        await stage.replies(1)
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"


async def test_pausing_stops_a_run_that_is_under_way(stage: Stage) -> None:
    stage.persona()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        begun.set()
        await go_on.wait()

    answer = numbered()
    stage.engine = ScriptedEngine(lambda request: Reply(answer(request), after_s=1.0), sleep=wait)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await begun.wait()
        await pause(host, "tide")
        go_on.set()

        async def over() -> bool:
            return not stage.engine.running

        await until(over)
        assert await host.idle(10)
        assert await fate_of(host, question) == "pending"
        assert await stage.said() == []
        await tell(host, "/resume", ganas=["tide"])
        (reply,) = await stage.replies(1)
        assert reply.content == "Scripted answer number 2."


async def test_a_pause_holds_across_restarts_and_for_its_gana_alone(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon")
    async with stage.host() as host:
        await pause(host, "tide")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await stage.replies(1, "moon")
        await decided(host, question)
        assert [await fate_of(host, question, name) for name in ("tide", "moon")] == ["pending", "succeeded"]
        await tell(host, "/resume", ganas=["tide"])
        await stage.replies(1, "tide")


# reload -----------------------------------------------------------------------------------------------


async def test_a_persona_that_was_added_answers_after_a_reload(stage: Stage) -> None:
    stage.persona("tide")
    async with stage.host() as host:
        stage.persona("moon")
        await host.reload()
        question = await stage.ask("When is high water?")
        replies = [*await stage.replies(1, "moon"), *await stage.replies(1, "tide")]
        assert [reply.tag_values("e")[-1] for reply in replies] == [question.id] * 2
        await decided(host, question)


async def test_a_persona_that_was_removed_falls_silent(stage: Stage) -> None:
    stage.persona("tide")
    gone = stage.persona("moon")
    async with stage.host() as host:
        gone.unlink()
        await host.reload()
        question = await stage.ask("When is high water?")
        await decided(host, question)
        assert [await fate_of(host, question, name) for name in ("tide", "moon")] == ["succeeded", "pending"]
    assert await stage.said("moon") == []


async def test_a_changed_task_is_used_from_the_next_turn_on(stage: Stage) -> None:
    stage.persona(task="Speak of the tide.")
    async with stage.host() as host:
        await decided(host, await stage.ask("one"))
        stage.persona(task="Speak of the moon.")
        await host.reload()
        await decided(host, await stage.ask("two"))
    prompts = [str(request.messages) for request in stage.engine.requests]
    assert ["the moon" in prompt for prompt in prompts] == [False, True]


@pytest.mark.parametrize("broken", ["a fault in a file", "a key that is not there"])
async def test_a_fault_leaves_everything_as_it_was(stage: Stage, broken: str) -> None:
    stage.persona("tide")
    async with stage.host() as host:
        before = host.house.roster
        if broken == "a fault in a file":
            stage.persona("moon", colour="blue")
        else:
            stage.persona("moon", identity="env:NOT_SET")
        with pytest.raises(ConfigError) as told:
            await host.reload()
        assert "moon.md" in str(told.value)
        assert host.house.roster is before
        question = await stage.ask("When is high water?")
        await stage.replies(1, "tide")
        await decided(host, question)


async def test_a_reload_over_the_socket_tells_the_fault(stage: Stage) -> None:
    stage.persona("tide")
    async with stage.host() as host:
        stage.persona("moon", colour="blue")
        with pytest.raises(UniunError, match="unknown key `colour`"):
            await tell(host, "/reload")


# on and off -------------------------------------------------------------------------------------------


async def test_a_gana_that_is_off_hears_nothing(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon", mode="off")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        assert await fate_of(host, question, "moon") == "pending"
        assert list(host.house.roster.ganas) == ["tide"]


async def off_for_a_while(stage: Stage) -> tuple[Event, Event]:
    """On, off, on again: a question that came meanwhile, and one from before."""
    stage.persona()
    now = int(WallClock().now())
    async with stage.host() as host:
        before = await stage.ask("before")
        await decided(host, before)
    stage.persona(mode="off")
    async with stage.host() as host:
        assert await host.idle(10)
    meanwhile = await stage.ask("meanwhile", LocalSigner(new_secret()), at=now - 600)
    stage.persona()
    return before, meanwhile


async def test_turned_on_again_it_starts_at_now(stage: Stage) -> None:
    _, meanwhile = await off_for_a_while(stage)
    async with stage.host() as host:
        new = await stage.ask("now")
        await decided(host, new)
        assert await fate_of(host, new) == "succeeded"
        assert await rows_of(host, "SELECT 1 FROM answered WHERE key = ?", meanwhile.id) == []


async def test_with_catch_up_it_goes_on_where_it_stopped(stage: Stage) -> None:
    before, meanwhile = await off_for_a_while(stage)
    stage.persona(mode="off")
    async with stage.host() as host:
        stage.persona()
        await tell(host, "/reload", catch_up=["tide"], rearm=["tide"])
        await decided(host, meanwhile)
        assert [await fate_of(host, one) for one in (before, meanwhile)] == ["succeeded"] * 2
    assert len(await stage.said()) == 2


# one host at a time -----------------------------------------------------------------------------------


async def test_a_second_host_on_the_same_data_is_refused_with_the_pid_of_the_first(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        with pytest.raises(HostRunning) as refused:
            async with stage.host():
                pass
        assert refused.value.pid == os.getpid() == holder(host.project.data_dir)
        await decided(host, await stage.ask("Still there?"))
    assert holder(host.project.data_dir) is None
    async with stage.host():
        pass


async def test_a_host_that_cannot_start_gives_the_folder_back(stage: Stage) -> None:
    stage.persona()
    (stage.folder / "data").mkdir()
    (stage.folder / "data" / "uniun-bots.sqlite").write_text("no database at all, but some text " * 100)
    with pytest.raises(UniunError, match="database"):
        async with stage.host():
            pass
    assert holder(stage.folder / "data") is None


async def test_every_missing_identity_is_told_at_once(stage: Stage) -> None:
    stage.persona("tide", identity="env:NOT_SET_A")
    stage.persona("moon", identity="key:nowhere")
    stage.persona("sun", identity="env:NOT_SET_B", mode="off")
    with pytest.raises(ConfigError) as told:
        async with stage.host():
            pass
    assert [fault.file.rsplit("/", 1)[-1] for fault in told.value.faults] == ["moon.md", "tide.md"]


async def test_a_model_file_that_is_not_there_is_told_at_the_start(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.settings("model: path:unused.gguf", "engines: {big: {type: llama, model: path:none.gguf}}")
    async with stage.host():
        pass
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("no model: ")]
    assert len(told) == 1
    assert "host.yaml:2:37 `path:none.gguf`: there is no file" in told[0]


# the control socket -----------------------------------------------------------------------------------


async def test_the_control_socket_is_for_its_owner_alone_and_goes_with_the_host(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        path = socket_path(host.project.data_dir)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert (host.project.data_dir / "control.path").read_text() == str(path)
        assert len(str(path)) < 100
        answer = await ask_host(host.project.data_dir, "GET", "/status")
        assert answer["pid"] == os.getpid()
    assert not path.exists()
    with pytest.raises(NoHost):
        await ask_host(host.project.data_dir, "GET", "/status")


@pytest.mark.parametrize("trap", ["open to others", "a link to elsewhere"])
async def test_a_folder_that_somebody_else_could_have_made_is_refused(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / f"uniun-bots-{os.getuid()}"
    if trap == "open to others":
        folder.mkdir(mode=0o700)
        folder.chmod(0o755)
    else:
        (tmp_path / "mine").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "mine")
    stage.persona()
    with pytest.raises(UniunError, match="remove it"):
        async with stage.host():
            pass
    assert holder(stage.folder / "data") is None


async def test_a_socket_that_a_crash_left_behind_does_not_matter(stage: Stage) -> None:
    stage.persona()
    path = socket_path(stage.folder / "data")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text("")
    (stage.folder / "data").mkdir()
    (stage.folder / "data" / NOTE).write_text(str(path))
    with pytest.raises(NoHost, match="no host"):
        await ask_host(stage.folder / "data", "GET", "/status")
    async with stage.host() as host:
        assert (await ask_host(host.project.data_dir, "GET", "/status"))["pid"] == os.getpid()


async def test_a_question_that_the_host_cannot_read_is_answered_with_a_sentence(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        with pytest.raises(UniunError, match="there is no run 99"):
            await tell(host, "/retry", run=99)
        with pytest.raises(UniunError):
            await tell(host, "/nowhere")
        with pytest.raises(UniunError):
            await tell(host, "/retry")


async def test_status_tells_relays_ganas_engines_and_counts(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon", mode="shadow")
    async with stage.host() as host:
        await decided(host, await stage.ask("one"))
        await pause(host, "moon")
        found = await ask_host(host.project.data_dir, "GET", "/status")
    (relay,) = found["relays"]
    assert (relay["url"], relay["connected"]) == (stage.relay_url, True)
    tide = next(one for one in found["ganas"] if one["gana"] == "tide")
    moon = next(one for one in found["ganas"] if one["gana"] == "moon")
    assert (tide["mode"], tide["pending"], tide["last_run"]["ending"]) == ("live", 0, "succeeded")
    assert (moon["mode"], moon["paused"]) == ("shadow", "paused by a person")
    assert (found["outbox"], found["dead_letters"]) == (0, 0)
    assert [engine["name"] for engine in found["engines"]] == ["default"]
    (seat,) = found["scheduler"]["seats"]
    assert (seat["counters"]["done"], seat["running"], seat["waiting"]) == (2, [], [])
    assert seat["runtimes"].keys() == {"tide", "moon"}
    assert found["counters"]["succeeded"] == 2
    assert found["skills_left_out"] == []


async def test_status_counts_the_skills_that_cannot_be_used_and_says_why(stage: Stage) -> None:
    stage.persona("tide")
    async with stage.host() as host:
        write(stage.folder, skills__tone_md="no frontmatter\n", skills__fine_md=skill_file("fine"))
        await tell(host, "/reload")
        found = await ask_host(host.project.data_dir, "GET", "/status")
        shown = await asyncio.to_thread(run, "status", "--dir", stage.folder)
    (why,) = found["skills_left_out"]
    assert "skills/tone.md:1:1 no frontmatter" in why
    assert "skills that cannot be used: 1" in shown.stdout and "no frontmatter" in shown.stdout
