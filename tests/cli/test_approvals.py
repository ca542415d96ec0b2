"""What a person reads and says about drafts; through a running host, and without one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.cli.child import cli
from tests.cli.test_check_init_keys import run
from tests.cli.test_explain_runs_persona import command, explained, read, told
from tests.host.stage import Stage, decided
from uniun_bots.graph.find import note_by_id
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.reference import spell_note, spell_npub
from uniun_bots.testing import call


async def drafted(stage: Stage) -> Event:
    """A question whose answer waits for a person; nobody hosts any more."""
    stage.persona(mode="approve")
    async with stage.host() as host:
        question = await stage.ask("When is high water? [/]")
        await decided(host, question)
    return question


async def test_a_draft_is_listed_shown_and_explained(stage: Stage) -> None:
    question = await drafted(stage)
    here = ("--dir", stage.folder)
    assert "Scripted answer number 1." in await told("approvals", "list", *here)
    (one,) = await read("approvals", "list", *here)
    assert (one["number"], one["gana"], one["action"], one["state"]) == (1, "tide", "publish", "waiting")
    shown = await told("approvals", "show", "1", *here)
    for words in (
        "approval 1 of tide: publish, waiting",
        f"answers {spell_note(question.id)} by {spell_npub(stage.person.public_key)}",
        "When is high water? [/]",
        f"kind 42 to {stage.relay_url}, with tags",
        f'["e", "{question.id}", "{stage.relay_url}", "reply"]',
    ):
        assert words in shown
    assert (await read("approvals", "show", "1", *here))["payload"]["content"] == one["text"]
    text, story = await explained(stage, question)
    assert "waits for a person as approval 1 (`uniun-bots approvals show 1`)" in text
    assert story["answered"][0]["approvals"][0]["state"] == "waiting"
    assert (await read("persona", "show", "tide", *here))["standing"]["approvals"] == 1


async def test_explain_names_what_a_skill_proposed_for_a_note(stage: Stage) -> None:
    stage.settings(f"owner: {stage.person.public_key}")
    stage.persona(mode="approve", agentic="true", skills="[remind-me]")
    remind = call("remind-me", text="Look at the tide.", in_minutes=5)
    said = call("publish-group-message", body="I will tell my owner.", referenceNoteIds=[])
    stage.engine = ScriptedEngine([remind, said])
    async with stage.host() as host:
        question = await stage.ask("Will you remind your owner?")
        await decided(host, question)
    text, story = await explained(stage, question)
    found = [(one["number"], one["action"]) for one in story["answered"][0]["approvals"]]
    assert found == [(1, "remind-me"), (2, "publish")]
    for number in (1, 2):
        assert f"waits for a person as approval {number} " in text
    assert "to the owner at 20" in await told("approvals", "show", "1", "--dir", stage.folder)


async def test_a_running_host_does_what_a_person_says(stage: Stage) -> None:
    stage.persona(mode="approve")
    here = ("--dir", stage.folder)
    async with stage.host() as host:
        for number in range(3):
            await decided(host, await stage.ask(f"Question {number}?"))
        status = await read("status", *here)
        assert (status["approvals"], status["ganas"][0]["approvals"]) == (3, 3)
        assert "3 waiting for a person" in await told("status", *here)
        said = await told("approvals", "edit", "1", "--body", " ", *here, code=1)
        assert said == "not saved: the text is empty\n"
        said = await told("approvals", "edit", "1", "--body", "At noon.", *here)
        assert said == "approval 1 says now: At noon.\n"
        said = await told("approvals", "accept", "1", *here)
        (event,) = await stage.replies(1)
        assert event.content == "At noon."
        assert said == f"approval 1 is accepted as {spell_note(event.id)}\n"
        assert "is rejected" in await told("approvals", "reject", "2", "--reason", "too harsh", *here)
        for word in ("accept", "reject"):
            assert "approval 2 is rejected already: too harsh" in await told(
                "approvals", word, "2", *here, code=1
            )
        await told("pause", "tide", *here)
        assert "it goes out after `uniun-bots resume tide`" in await told("approvals", "accept", "3", *here)
        await told("resume", "tide", *here)
        await stage.replies(2)
    everything = await read("approvals", "list", "--all", *here)
    assert [one["state"] for one in everything] == ["accepted", "rejected", "accepted"]
    assert await read("approvals", "list", *here) == []


async def test_without_a_host_the_lease_is_taken_and_the_next_host_sends(stage: Stage) -> None:
    await drafted(stage)
    here = ("--dir", stage.folder)
    assert (await cli("approvals", "edit", "1", "--body", "At noon.", *here, env=stage.environ)).code == 0
    keyless = await cli("approvals", "accept", "1", *here)
    assert keyless.code == 2 and "TIDE_NSEC" in keyless.err
    accepted = await cli("approvals", "accept", "1", *here, env=stage.environ)
    assert accepted.code == 0, accepted.all
    assert "it goes out with the next `uniun-bots run`" in accepted.out
    assert await stage.said() == []
    async with stage.host() as host:
        assert await host.idle(10)
        (event,) = await stage.replies(1)
    assert event.content == "At noon."


async def test_a_yes_that_comes_too_late_is_told_and_ends_with_1(stage: Stage) -> None:
    question = await drafted(stage)
    await stage.post(5, "", ("e", question.id))
    ended = await cli("approvals", "accept", "1", "--dir", stage.folder, env=stage.environ)
    assert ended.code == 1
    assert ended.out == "approval 1 is withdrawn: the note it answers was deleted by its author\n"


async def test_the_list_tells_what_a_yes_would_meet(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        await stage.post(5, "", ("e", question.id))
        note = await host.store.read(lambda tx: note_by_id(tx, question.id))
        assert note
        await host.house.finder.look_for_deletion(note, [stage.relay_url])
        (one,) = await read("approvals", "list", "--dir", stage.folder)
        shown = await told("approvals", "show", "1", "--dir", stage.folder)
    assert (one["state"], one["would_be"]) == ("waiting", "withdrawn")
    assert "a yes comes too late: the note it answers was deleted by its author" in shown


async def test_edit_opens_the_editor_with_the_old_text(stage: Stage, tmp_path: Path) -> None:
    stage.persona(mode="approve")
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys\npath = sys.argv[1]\ntext = open(path).read()\n"
        "open(path, 'w').write(text.replace('Scripted answer', 'My own answer'))\n"
    )
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        asked = ("approvals", "edit", "1", "--dir", stage.folder)
        edited = await asyncio.to_thread(run, *asked, EDITOR=f"{sys.executable} {editor}")
        assert edited.output == "approval 1 says now: My own answer number 1.\n"
        left_alone = await asyncio.to_thread(run, *asked, EDITOR="true")
        assert (left_alone.exit_code, left_alone.output) == (1, "nothing was changed\n")


async def test_an_approval_that_is_not_there_is_told(stage: Stage) -> None:
    stage.persona(mode="approve")
    missing = "there is no approval 9; see `uniun-bots approvals list --all`"
    async with stage.host():
        for word, *more in (("show",), ("accept",), ("edit", "--body", "x"), ("reject",)):
            said = await told("approvals", word, "9", *more, "--dir", stage.folder, code=1)
            assert missing in said, word
    alone = await cli("approvals", "accept", "9", "--dir", stage.folder, env=stage.environ)
    assert (alone.code, alone.err) == (1, f"{missing}\n")


async def test_enable_takes_the_mode_approve(stage: Stage) -> None:
    stage.persona(mode="off")
    result = await command("persona", "enable", "tide", "--mode", "approve", "--dir", stage.folder)
    assert result.output == "tide is approve\n"
    assert "\nmode: approve\n" in (stage.folder / "personas" / "tide.md").read_text()
