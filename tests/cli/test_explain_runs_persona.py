"""What people read about a host: explain, runs, persona; each as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.test_check_init_keys import run
from tests.host.stage import GROUP, Stage, decided, fate_of, last_words, numbered, until
from tests.publishing.values import note, turn
from tests.runs.agent import SEARCH, SILENT, publish
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.journal.record import bury, record_run
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.reference import spell_note
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.runs.outcome import Ending, Outcome


async def command(*arguments: str | Path) -> Result:
    """In a thread of its own, as commands have an event loop of their own."""
    result = await asyncio.to_thread(run, *arguments, COLUMNS="200")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


async def told(*arguments: str | Path, code: int = 0) -> str:
    result = await command(*arguments)
    assert result.exit_code == code, result.output
    return result.output


async def read(*arguments: str | Path) -> Any:
    return json.loads(await told(*arguments, "--json"))


async def explained(stage: Stage, event: Event) -> tuple[str, dict[str, Any]]:
    as_json: dict[str, Any] = await read("explain", event.id, "--dir", stage.folder)
    return await told("explain", spell_note(event.id), "--dir", stage.folder), as_json


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniun_bots.inputs.retries.BACKOFF_S", (0.02,) * 4)


async def dead(host: Host, question: Event) -> None:
    async def given_up() -> bool:
        return await fate_of(host, question) == "dead"

    await until(given_up)
    assert await host.idle(10)


async def test_explain_tells_where_a_note_was_heard_and_what_was_said_to_it(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        (reply,) = await stage.said()
        text, story = await explained(stage, question)
        reply_text, _ = await explained(stage, reply)
    assert f"heard  from {stage.relay_url}" in text
    assert "ran    tide: run 1 ended succeeded" in text
    assert "said (live): Scripted answer number 1." in text
    assert f"as {spell_note(reply.id)}" in text
    assert f"{stage.relay_url} said accepted" in text
    (answered,) = story["answered"]
    assert (answered["gana"], answered["ending"], answered["run_row"]["event_id"]) == (
        "tide",
        "succeeded",
        reply.id,
    )
    assert [one["fate"] for one in answered["receipts"]] == ["accepted"]
    assert (story["text"], story["author"]) == ("When is high water?", question.author)
    assert "own" in reply_text.splitlines()[0] and "said accepted" in reply_text


async def test_explain_tells_what_relays_said_to_a_retraction(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        (reply,) = await stage.said()
        told_id = (await told("runs", "retract", "1", "--dir", stage.folder)).split()[4].rstrip(";")
        await stage.replies(1, "tide", 5)
        assert await host.idle(10)
        lines = f"retracted as {told_id}", f"  {stage.relay_url} said accepted"
        for note in (question, reply):
            text, _ = await explained(stage, note)
            assert [line in text for line in lines] == [True, True], text
        text = await told("explain", told_id, "--dir", stage.folder)
        assert text.startswith(f"{told_id} (not kept as a note)\n")
        assert f"\n{stage.relay_url} said accepted" in text


async def test_explain_tells_which_setting_held_a_note(stage: Stage) -> None:
    stage.persona(input=f"{{type: group, ref: {GROUP}, max_chars: 5}}")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        text, story = await explained(stage, question)
    assert "held   for tide: it has 19 characters (input.max_chars)" in text
    assert [one["setting"] for one in story["held"]] == ["input.max_chars"]
    assert story["answered"] == story["pending"] == []


async def test_explain_tells_what_waits_for_a_paused_gana(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        await ask_host(host.project.data_dir, "POST", "/pause", {"ganas": ["tide"], "why": "by a person"})
        question = await stage.ask("When is high water?")

        async def waits() -> bool:
            return bool((await command("explain", question.id, "--dir", stage.folder)).exit_code == 0)

        await until(waits)
        assert await host.idle(10)
        text, story = await explained(stage, question)
    assert "waits  for tide" in text
    assert story["pending"] == ["tide"]


async def test_explain_tells_how_often_a_turn_failed_and_when_it_is_tried_again(stage: Stage) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("the engine is away"))])
    async with stage.host() as host:
        question = await stage.ask("When is high water?")

        async def failed() -> bool:
            return await fate_of(host, question) == "tried again"

        await until(failed)
        text, story = await explained(stage, question)
    assert "failed for tide, once: " in text and "the engine is away; again at 20" in text
    assert [one["attempts"] for one in story["retries"]] == [1]


async def test_explain_tells_silence_a_refused_answer_and_a_dead_letter(stage: Stage, soon: None) -> None:
    stage.persona()
    said = {"quiet": "<NOOP>", "odd": f"My key is {stage.environ['TIDE_NSEC']}"}

    def answer(request: Any) -> Reply:
        for word, text in said.items():
            if word in last_words(request):
                return Reply(text)
        return Reply("", error=RuntimeError("the engine is away"))

    stage.engine = ScriptedEngine(answer)
    async with stage.host() as host:
        quiet, odd, lost = [
            await stage.ask(word, LocalSigner(new_secret())) for word in ("quiet", "odd", "lost")
        ]
        await dead(host, lost)
        await decided(host, quiet, odd)
        texts = [(await explained(stage, one))[0] for one in (quiet, odd, lost)]
        letters = await read("runs", "list", "--dead", "--dir", stage.folder)
        table = await told("runs", "list", "--dead", "--dir", stage.folder)
        assert await read("runs", "list", "--dead", "--gana", "tide", "--dir", stage.folder) == letters
    for text, words in zip(
        texts,
        (
            ("ended silent", "the model chose to say nothing"),
            ("ended malformed", "the text spells a secret key"),
            ("ended dead", "the engine is away"),
        ),
        strict=True,
    ):
        assert all(word in text for word in words), text
    assert [(one["kind"], one["key"]) for one in letters] == [("turn", lost.id)]
    assert "the engine is away" in table
    assert stage.environ["TIDE_NSEC"] not in texts[1]


async def test_explain_tells_of_a_note_that_its_author_deleted(stage: Stage) -> None:
    stage.persona(
        mode="shadow", input="{type: user, ref: " + stage.person.public_key + "}", output="{type: feed}"
    )
    async with stage.host() as host:
        note = await stage.post(1, "oops")
        await decided(host, note)
        await stage.post(5, "", ("e", note.id))

        async def gone() -> bool:
            return "deleted by its author" in (await explained(stage, note))[0]

        await until(gone)


@pytest.mark.parametrize(
    ("reference", "code", "words"),
    [("0" * 64, 1, "was never heard here"), ("npub1xyz", 2, "Error"), ("what?", 2, "Error")],
)
async def test_explain_of_what_it_does_not_know(stage: Stage, reference: str, code: int, words: str) -> None:
    stage.persona()
    async with stage.host():
        pass
    assert words in await told("explain", reference, "--dir", stage.folder, code=code)


async def test_runs_are_listed_and_shown(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon", mode="shadow")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        everything = await read("runs", "list", "--dir", stage.folder)
        some = await read("runs", "list", "--gana", "moon", "--dir", stage.folder)
        mistyped = await told("runs", "list", "--gana", "mon", "--dir", stage.folder, code=1)
        table = await told("runs", "list", "--dir", stage.folder)
        number = str(next(one["run"] for one in everything if one["gana"] == "tide"))
        shown = await told("runs", "show", number, "--dir", stage.folder)
        story = await read("runs", "show", number, "--dir", stage.folder)
    assert sorted(one["gana"] for one in everything) == ["moon", "tide"]
    assert mistyped == "mon was never on here; see `uniun-bots persona list`\n"
    assert [(one["gana"], one["mode"], one["keys"]) for one in some] == [("moon", "shadow", [question.id])]
    assert "tide" in table and "succeeded" in table
    assert re.search(r"waited \d+ ms, read its prompt in \d+ ms, wrote for \d+ ms", shown)
    assert "model: 'Scripted answer number" in shown and "When is high water?" in shown
    assert story["steps"][0]["text"] == story["body"]
    assert [one["id"] for one in story["inputs"]] == [question.id]
    assert "there is no run 99" in await told("runs", "show", "99", "--dir", stage.folder, code=1)


async def test_rounds_are_shown_as_a_story_with_links_to_notes_while_they_run_and_afterwards(
    stage: Stage,
) -> None:
    stage.persona(agentic="true")
    go_on = asyncio.Event()

    async def until_told(seconds: float) -> None:
        await go_on.wait()

    script: list[Reply | str] = [SILENT, SEARCH, Reply(publish("At 14:10."), after_s=1)]
    stage.engine = ScriptedEngine(script, sleep=until_told)
    async with stage.host() as host:
        older = await stage.ask("The tide table hangs in the harbour.")
        await decided(host, older)
        question = await stage.ask("When is high water?")
        await stage.engine.until_asked(3)
        running = await told("runs", "show", "2", "--dir", stage.folder)
        assert f"on group:{GROUP}: running\n" in running
        assert 'called search-notes {"query":"tide"}' in running
        assert "is still under way" in await told("runs", "retry", "2", "--dir", stage.folder, code=1)
        go_on.set()
        await decided(host, question)
        shown = await told("runs", "show", "2", "--dir", stage.folder)
        story = await read("runs", "show", "2", "--dir", stage.folder)
    assert running.split(": running\n")[1].rstrip() in shown
    assert f"      nostr:{spell_note(older.id)}" in shown
    assert "was told: " in shown and "called publish-group-message" in shown and "said: At 14:10." in shown
    assert [step["skill"] for step in story["steps"]] == ["search-notes", "publish-group-message"]
    assert story["steps"][0]["note_ids"] == [older.id]


@pytest.mark.parametrize("text", ["Turn the page [/] now.", "Say [bold] and :smile: [/INST] [red]"])
async def test_words_of_a_model_are_shown_as_they_are(stage: Stage, text: str) -> None:
    stage.persona()
    async with stage.host() as host:
        await host.store.write(
            lambda tx: bury(tx, kind="turn", gana="a", surface="", key="b", reason=text, now=0)
        )

        def unit(tx: sqlite3.Connection) -> None:
            outcome = Outcome(Ending.FAILED, None, (), text, ())
            record_run(tx, turn(note(1)), outcome, mode="live", event_id=None, started_at=0, ended_at=1)

        await host.store.write(unit)
        for command_line in (("list",), ("list", "--dead"), ("show", "1")):
            assert text in await told("runs", *command_line, "--dir", stage.folder)
        assert "tide" in await told("status", "--dir", stage.folder)


async def test_runs_retry_works_with_and_without_a_host(stage: Stage, soon: None) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 5)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await dead(host, question)
        assert "there is no run 99" in await told("runs", "retry", "99", "--dir", stage.folder, code=1)
    assert "pending again" in await told("runs", "retry", "5", "--dir", stage.folder)
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 5 + [Reply("Back again.")])
    async with stage.host() as host:
        await dead(host, question)
        assert "pending again" in await told("runs", "retry", "10", "--dir", stage.folder)
        await stage.replies(1)
    assert "nothing to retry" in await told("runs", "retry", "11", "--dir", stage.folder, code=1)
    assert "no host runs" in await told("runs", "retract", "11", "--dir", stage.folder, code=1)


async def test_personas_are_listed_and_shown(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon", mode="off", input="{type: mentions}", output="{type: feed, reply: true}")
    found = await read("persona", "list", "--dir", stage.folder)
    assert [(one["id"], one["mode"], one["input"]) for one in found] == [
        ("moon", "off", "mentions"),
        ("tide", "live", "group"),
    ]
    assert "every-message" in await told("persona", "list", "--dir", stage.folder)
    shown = await told("persona", "show", "tide", "--dir", stage.folder)
    assert "env:TIDE_NSEC" in shown and "Say when the tide comes." in shown
    assert (await read("persona", "show", "tide", "--dir", stage.folder))["standing"] is None
    assert "there are: moon, tide" in await told("persona", "show", "sun", "--dir", stage.folder, code=1)


async def test_a_persona_is_turned_on_and_off_under_a_running_host(stage: Stage) -> None:
    path = stage.persona("tide", mode="off")
    async with stage.host() as host:
        assert list(host.house.roster.ganas) == []
        assert "tide is shadow" in await told(
            "persona", "enable", "tide", "--mode", "shadow", "--dir", stage.folder
        )
        assert [str(one.gana.mode) for one in host.house.roster.ganas.values()] == ["shadow"]
        assert "tide is live" in await told("persona", "enable", "tide", "--dir", stage.folder)
        question = await stage.ask("When is high water?")
        await stage.replies(1)
        await decided(host, question)
        assert "tide is off" in await told("persona", "disable", "tide", "--dir", stage.folder)
        assert list(host.house.roster.ganas) == []
    assert "mode: off" in path.read_text()


async def test_a_persona_that_was_turned_on_without_a_host_starts_at_that_moment(stage: Stage) -> None:
    stage.persona("tide", mode="off")
    assert "tide is live" in await told("persona", "enable", "tide", "--dir", stage.folder)
    meanwhile = await stage.ask("When is high water?")
    async with stage.host() as host:
        await decided(host, meanwhile)
        assert await fate_of(host, meanwhile) == "succeeded"


async def test_status_is_shown_to_people(stage: Stage) -> None:
    stage.persona()
    stage.engine = ScriptedEngine(numbered())
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        text = await told("status", "--dir", stage.folder)
    assert stage.relay_url in text and "connected" in text
    assert "tide" in text and "succeeded" in text
    assert "0 dead letters" in text
    assert "seat engine default: default loaded, running nothing, waiting nobody" in " ".join(text.split())


async def test_pause_names_what_there_is(stage: Stage) -> None:
    stage.persona()
    assert "there are: tide" in await told("pause", "sun", "--dir", stage.folder, code=1)
    assert "name a Gana" in await told("pause", "--dir", stage.folder, code=2)
    assert await told("pause", "tide", "--dir", stage.folder) == "paused: tide\n"
