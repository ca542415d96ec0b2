"""`run`, `tick`, `relay` and `demo` as processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from nostr_sdk import Event as SdkEvent

from tests.cli.child import Child, cli
from tests.host.stage import Stage
from uniun_bots.clock import WallClock, monotonic
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.threads import read_thread

HOSTING = "hosting 1 Ganas"


def script(stage: Stage, *replies: str, latency: str = "0s") -> None:
    said = json.dumps(list(replies) or ["Scripted answer number {n}."])
    stage.settings(
        "model: script", f"engines: {{script: {{type: scripted, latency: {latency}, replies: {said}}}}}"
    )


async def test_run_hosts_until_sigterm_and_ends_with_0(stage: Stage) -> None:
    script(stage)
    stage.persona()
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        await stage.ask("When is high water?")
        (reply,) = await stage.replies(1)
        ended = await host.end()
    assert reply.content == "Scripted answer number 1."
    assert ended.code == 0
    assert "Traceback" not in ended.err
    for words in ("turned on: tide", HOSTING, "closed: run 1 of tide", "sent: ", "stopping"):
        assert words in ended.err


async def test_run_ends_within_10_seconds_although_the_model_hangs(stage: Stage) -> None:
    script(stage, latency="1h")
    stage.persona()
    async with Child("run", "-v", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        question = await stage.ask("When is high water?")
        await host.says("woke: 1 Ganas")
        began = monotonic()
        ended = await host.end()
        assert monotonic() - began < 10
    assert ended.code == 0
    script(stage)
    tick = await cli("tick", stage.folder, env=stage.environ)
    assert (tick.code, "1 succeeded" in tick.out) == (0, True)
    (reply,) = await stage.said()
    assert read_thread(reply).parent == question.id


async def test_interrupting_run_by_hand_ends_it_too(stage: Stage) -> None:
    script(stage)
    stage.persona()
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        assert (await host.end(signal.SIGINT)).code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_run_can_be_stopped_while_it_starts(stage: Stage, number: signal.Signals) -> None:
    script(stage)
    stage.persona()
    (stage.folder / "relays" / "local.yaml").write_text("relays: ['ws://127.0.0.1:9']\n")
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says("turned on: tide")
        ended = await host.end(number)
    assert (ended.code, "Traceback" in ended.err) == (0, False)


async def test_sighup_reads_the_folder_again_and_a_fault_changes_nothing(stage: Stage) -> None:
    script(stage)
    stage.persona("tide")
    environ = dict(stage.environ)
    async with Child("run", stage.folder, env=environ) as host:
        await host.says(HOSTING)
        stage.persona("moon", identity="env:TIDE_NSEC", colour="blue")
        host.send(signal.SIGHUP)
        assert "all stays as it was" in await host.says("reload refused")
        await host.says("unknown key `colour`")
        await stage.ask("When is high water?")
        await stage.replies(1)
        stage.persona(
            "moon", identity="env:TIDE_NSEC", input="{type: mentions}", output="{type: feed, reply: true}"
        )
        host.send(signal.SIGHUP)
        await host.says("reloaded: hosting 2 Ganas")
        await stage.post(1, "Hello you", ("p", stage.bots["tide"].public_key))
        await stage.replies(1, "tide", 1)
        assert (await host.end()).code == 0


async def test_a_second_run_is_refused_with_the_pid_of_the_first(stage: Stage) -> None:
    script(stage)
    stage.persona()
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        for command in ("run", "tick"):
            second = await cli(command, stage.folder, env=stage.environ)
            assert second.code == 1
            assert f"(pid {host.pid})" in second.err
            assert "Traceback" not in second.err


async def test_tick_does_one_pass_and_ends(stage: Stage) -> None:
    script(stage)
    stage.persona()
    first = await cli("tick", stage.folder, env=stage.environ)
    assert (first.code, first.out) == (0, "tick: nothing was heard\n")
    now = int(WallClock().now())
    asked = [await stage.ask(f"question {number}", at=now - 3 + number) for number in range(3)]
    second = await cli("tick", stage.folder, env=stage.environ)
    assert second.code == 0
    assert "1 succeeded" in second.out
    (reply,) = await stage.said()
    assert read_thread(reply).parent == asked[-1].id
    third = await cli("tick", stage.folder, env=stage.environ)
    assert (third.code, "succeeded" in third.out) == (0, False)


async def test_tick_leaves_agentic_ganas_to_a_host_that_stays_and_says_so(stage: Stage) -> None:
    script(stage)
    stage.persona(agentic="true")
    assert (await cli("tick", stage.folder, env=stage.environ)).code == 0
    await stage.ask("When is high water?")
    ended = await cli("tick", stage.folder, env=stage.environ)
    assert (ended.code, "succeeded" in ended.out) == (0, False)
    assert ended.out.splitlines()[-1] == "left to a running host, which has time for several rounds: tide"
    assert await stage.said() == []


async def test_tick_says_so_when_it_could_not_finish(stage: Stage) -> None:
    script(stage, latency="3s")
    stage.persona()
    assert (await cli("tick", stage.folder, env=stage.environ)).code == 0
    await stage.ask("When is high water?")
    ended = await cli("tick", "--most", "1", stage.folder, env=stage.environ)
    assert (ended.code, "still under way" in ended.out) == (1, True)


async def test_tick_tells_which_relays_it_did_not_reach_and_fails_when_there_is_none(stage: Stage) -> None:
    script(stage)
    stage.persona()
    away = "ws://127.0.0.1:9"
    for addresses, code in (([stage.relay_url, away], 0), ([away], 1)):
        (stage.folder / "relays" / "local.yaml").write_text(f"relays: {json.dumps(addresses)}\n")
        ended = await cli("tick", stage.folder, env=stage.environ)
        assert (ended.code, ended.out.splitlines()[-1]) == (code, f"not reached: {away}")


async def test_relay_listens_until_it_is_told_to_end(tmp_path: Path) -> None:
    async with Child("relay", "--port", "0", "--db", tmp_path / "events") as relay:
        line = await relay.says("listening ws://127.0.0.1:")
        port = line.rsplit(":", 1)[1].strip()
        taken = await cli("relay", "--port", port)
        assert (taken.code, "Traceback" in taken.err) == (1, False)
        assert port in taken.err
        assert (await relay.end()).code == 0
    assert list((tmp_path / "events").iterdir())


@pytest.mark.parametrize(
    ("host", "url"), [("localhost", "ws://127.0.0.1:"), ("::1", "ws://[::1]:")], ids=["a name", "IPv6"]
)
async def test_relay_listens_where_it_is_told_to(host: str, url: str) -> None:
    async with Child("relay", "--host", host, "--port", "0") as relay:
        await relay.says(f"listening {url}")


async def test_relay_says_where_it_cannot_listen() -> None:
    ended = await cli("relay", "--host", "192.0.2.1", "--port", "0")
    assert ended.code == 1
    assert ended.err.startswith("cannot listen on 192.0.2.1: ") and len(ended.err.splitlines()) == 1


async def test_demo_ends_with_one_object_of_signed_events(tmp_path: Path) -> None:
    ended = await cli("demo", "--scripted", "--json", "--keep", tmp_path / "mine")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out.splitlines()[-1])
    assert found.keys() >= {
        "relay",
        "group_event",
        "input_event",
        "reply_event",
        "model",
        "run_id",
        "seconds",
    }
    group, question, reply = (found[f"{name}_event"] for name in ("group", "input", "reply"))
    for event in (group, question, reply):
        assert SdkEvent.from_json(json.dumps(event)).verify()
    assert [group["kind"], question["kind"], reply["kind"]] == [40, 42, 42]
    thread = read_thread(read_event(json.dumps(reply).encode()))
    assert (thread.root, thread.parent) == (group["id"], question["id"])
    assert reply["content"] in found["raw_text"]
    assert len({event["pubkey"] for event in (question, reply)}) == 2
    shown = await cli("runs", "show", str(found["run_id"]), "--json", "--dir", tmp_path / "mine")
    run = json.loads(shown.out)
    assert run["body"] == reply["content"]
    assert reply["content"] in run["steps"][-1]["text"]
    assert [one["fate"] for one in run["receipts"]] == ["accepted"]


async def test_demo_tells_people_what_happened_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ended = await cli("demo", "--scripted")
    assert ended.code == 0
    assert [f"[{step}/5]" in ended.out for step in range(1, 6)] == [True] * 5
    assert "Choose one page a day" in ended.out
    assert [name for name in os.listdir(tmp_path) if name.startswith("uniun-bots-demo-")] == []
    refused = await cli("demo", "--scripted", "--keep", tmp_path)
    assert (refused.code, "name a new folder" in refused.err) == (2, True)


async def test_commands_go_through_a_running_host(stage: Stage) -> None:
    script(stage)
    stage.persona()
    env = stage.environ
    async with Child("run", stage.folder, env=env) as host:
        await host.says(HOSTING)
        status = await cli("status", "--json", "--dir", stage.folder, env=env)
        assert json.loads(status.out)["pid"] == host.pid
        paused = await cli("pause", "--all", "--dir", stage.folder)
        assert (paused.code, paused.out) == (0, "paused: tide\n")
        question = await stage.ask("When is high water?")
        saved = stage.folder.parent / "safe" / "copy.sqlite"
        backup = await cli("backup", saved, "--dir", stage.folder)
        assert (backup.code, saved.exists()) == (0, True)
        assert await stage.said() == []
        resumed = await cli("resume", "tide", "--dir", stage.folder)
        assert (resumed.code, resumed.out) == (0, "resumed: tide\n")
        await stage.replies(1)
        explained = await cli("explain", question.id, "--dir", stage.folder)
        assert "ran    tide: run 1 ended succeeded" in explained.out
        retracted = await cli("runs", "retract", "1", "--reason", "wrong", "--dir", stage.folder)
        assert (retracted.code, "asked for deletion" in retracted.out) == (0, True)
        await stage.replies(1, "tide", 5)
        assert (await host.end()).code == 0
    gone = await cli("status", "--dir", stage.folder)
    assert (gone.code, "Traceback" in gone.err, "uniun-bots run" in gone.err) == (1, False, True)


async def test_a_host_that_is_killed_is_not_taken_for_a_running_one(stage: Stage) -> None:
    script(stage)
    stage.persona()
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        await host.end(signal.SIGKILL)
    assert (await cli("status", "--dir", stage.folder)).code == 1
    assert (await cli("pause", "--all", "--dir", stage.folder)).code == 0
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        status = json.loads((await cli("status", "--json", "--dir", stage.folder)).out)
        assert status["ganas"][0]["paused"] == "paused by a person"


async def test_commands_that_come_while_a_host_starts_wait_for_it(stage: Stage) -> None:
    """The lease is held from the first moment, the control socket comes later: relays are read in between."""
    script(stage)
    stage.persona()
    (stage.folder / "relays" / "local.yaml").write_text("relays: ['ws://127.0.0.1:9']\n")
    async with Child("run", stage.folder, env=stage.environ) as host:
        lock = stage.folder / "data" / "host.lock"
        async with asyncio.timeout(30):
            while not (lock.exists() and lock.read_text()):
                await asyncio.sleep(0.01)
        paused = await cli("pause", "--all", "--dir", stage.folder)
        assert (paused.code, paused.out) == (0, "paused: tide\n")
        await host.says(HOSTING)
