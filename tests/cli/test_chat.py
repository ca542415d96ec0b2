"""`chat` in a terminal: beside a running host and without one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.cli.child import Child
from tests.graph.library import know
from uniun_bots.chat.telling import Looked
from uniun_bots.cli.chat.printing import Printing
from uniun_bots.cli.main import main
from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE, Store
from uniun_bots.host.chat import alone
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.reference import spell_note
from uniun_bots.personas.new_project import new_project

FERRY = "The ferry leaves at nine."
ANSWER = "The ferry leaves at nine [n1]."
QUESTION = "When does the ferry leave?"


class Folder:
    """A project with notes, in which a scripted model answers."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, path / "data" / FILE

    def replies(self, *replies: str, **more: str) -> None:
        engine = {"type": "scripted", "replies": list(replies), **more}
        settings = {"model": "script", "engines": {"script": engine}, "embedder": "none"}
        (self.path / "host.yaml").write_text(json.dumps(settings))

    async def knows(self, text: str) -> str:
        async with Store(self.file) as store:
            return (await know(store, text)).id

    async def chat(self, *given: str, typed: str = "") -> Result:
        command = ["chat", *given, "--dir", str(self.path)]
        return await asyncio.to_thread(CliRunner().invoke, main, command, typed)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        def query(tx: sqlite3.Connection) -> list[dict[str, Any]]:
            return [dict(row) for row in tx.execute(sql)]

        return read_file(self.file, query)

    async def until(self, sql: str) -> None:
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(self.rows, sql):
                await asyncio.sleep(0.05)


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Folder]:
    made = Folder(tmp_path / "bots")
    await asyncio.to_thread(new_project, made.path)
    made.replies(ANSWER)
    yield made


# one question -----------------------------------------------------------------------------------------


async def test_one_question_is_answered_with_the_ids_of_its_notes(folder: Folder) -> None:
    ferry = await folder.knows(FERRY)
    result = await folder.chat("--once", QUESTION)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{ANSWER}\n  [n1] {spell_note(ferry)}\n")
    assert FERRY in result.stdout.splitlines()[2]


async def test_one_question_for_scripts(folder: Folder) -> None:
    ferry = await folder.knows(FERRY)
    told = json.loads((await folder.chat("--once", QUESTION, "--json")).stdout)
    assert (told["text"], told["state"], told["conversation"]) == (ANSWER, "answered", 1)
    assert [(one["handle"], one["note_id"]) for one in told["cited"]] == [("n1", ferry)]


async def test_nothing_found_is_a_no(folder: Folder) -> None:
    await folder.knows(FERRY)
    result = await folder.chat("--once", "zebra?")
    assert (result.exit_code, result.stdout) == (
        1,
        "No answer found in your notes.\n(no note fits the question)\n",
    )
    told = await folder.chat("--once", "zebra?", "--json")
    assert (told.exit_code, json.loads(told.stdout)["state"]) == (1, "nothing found")


async def test_an_answer_without_a_note_behind_it_is_told_as_such(folder: Folder) -> None:
    folder.replies("At ten, I believe.")
    await folder.knows(FERRY)
    result = await folder.chat("--once", QUESTION)
    assert "No note stands behind this answer" in result.stdout
    assert "It was shown:\n  [n1] note1" in result.stdout


async def test_what_is_wrong_is_told_in_one_line(folder: Folder, tmp_path: Path) -> None:
    assert "nothing has run here" in (await folder.chat("--once", QUESTION)).stderr
    await folder.knows(FERRY)
    assert "no Manas sea" in (await folder.chat("--once", QUESTION, "--manas", "sea")).stderr
    assert "no engine `big`" in (await folder.chat("--once", QUESTION, "--model", "big")).stderr
    assert "no conversation yet" in (await folder.chat("--resume")).stderr
    assert "no conversation 7" in (await folder.chat("--resume", "7")).stderr
    assert "no conversation 7" in (await folder.chat("--forget", "7")).stderr
    for wrong in (["--json"], ["--resume", "x"]):
        assert (await folder.chat(*wrong)).exit_code == 2
    missing = await folder.chat("--once", QUESTION, "--model", "path:none.gguf")
    assert (missing.exit_code, "none.gguf" in missing.stderr) == (1, True)


# in turns ---------------------------------------------------------------------------------------------


def test_what_a_deep_answer_looked_at_is_told_in_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    printing = Printing()
    printing.tell(Looked("read-note", '{"note":"n1"}', "carried out"))
    printing.tell(Looked("", "", "not usable: the call names no skill"))
    assert capsys.readouterr().err.splitlines() == [
        '· read-note {"note":"n1"}: carried out',
        "· no call: not usable: the call names no skill",
    ]


async def test_a_chat_in_turns_is_kept_and_gone_on_with(folder: Folder) -> None:
    ferry = await folder.knows(FERRY)
    typed = f"{QUESTION}\n\n:open n1\n:open [n1]\n:open {spell_note(ferry)}\n:open n9\n:shown\n:what\n:quit\n"
    result = await folder.chat(typed=typed)
    assert result.exit_code == 0, result.output
    assert result.stdout.count(f"\n  {FERRY}\n") == 3
    assert "no note 'n9'; handles: n1" in result.stderr
    assert ":open n2" in result.stdout

    again = await folder.chat("--resume", typed="And when does the ferry come back?\n")
    assert again.stdout.startswith(f"> {QUESTION}\n{ANSWER}\n")
    listed = json.loads((await folder.chat("--list", "--json")).stdout)
    assert [(one["number"], one["title"], one["questions"]) for one in listed] == [(1, QUESTION, 2)]
    assert "ferry leave?" in (await folder.chat("--list")).stdout

    await folder.chat("--forget", "1")
    assert json.loads((await folder.chat("--list", "--json")).stdout) == []


async def test_a_new_conversation_begins_where_the_command_did(folder: Folder) -> None:
    await folder.knows(FERRY)
    await folder.chat(typed=f"{QUESTION}\n:new\n:deep\n:deep\nferry?\n")
    assert [row["title"] for row in folder.rows("SELECT title FROM conversations")] == [QUESTION, "ferry?"]


async def test_a_fault_does_not_end_the_chat(folder: Folder) -> None:
    await folder.knows(FERRY)
    result = await folder.chat(typed=f"{'x' * 9000}\n{QUESTION}\n")
    assert "at most 8000" in result.stderr
    assert ANSWER in result.stdout


async def test_what_others_wrote_cannot_steer_the_terminal(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escapes of a model, of a note that came in another way than through `keep`, of a name and of a title."""
    said = "\x1b[2J\x1b]0;pwned\x07The ferry\x9b31m leaves \u202eenin ta [n1]."
    monkeypatch.setattr(alone, "make_engines", lambda *_: {"default": ScriptedEngine([said], again=True)})
    ferry = await folder.knows("ferry")
    async with Store(folder.file) as store:
        evil = "ferry \x1b]52;c;aGk=\x07\x9b2J \u202etxet"
        await store.write(
            lambda tx: tx.execute(
                "UPDATE notes SET text = ?, author = ? WHERE id = ?", (evil, "ab" * 32, ferry)
            )
        )
        await store.write(
            lambda tx: tx.execute(
                "INSERT INTO profiles (pubkey, name, checked_at) VALUES (?, ?, 0)", ("ab" * 32, "\x1b[1mBob")
            )
        )
    first = await folder.chat(typed="the \x1b[31m ferry?\n:open n1\n:open \x1b[2J\n:shown\n")
    others = [
        await folder.chat("--resume"),
        await folder.chat("--list"),
        await folder.chat("--once", "ferry"),
    ]
    for result in (first, *others):
        assert result.exit_code == 0, result.output
        assert not set(result.output) & set("\x1b\x9b\x07\u202e"), result.output
    assert "pwned" in first.stdout and "Bob" in first.stdout


# with a running host ----------------------------------------------------------------------------------


async def test_a_running_host_is_asked_and_its_model_is_used(folder: Folder) -> None:
    await folder.knows(FERRY)
    folder.replies("From the host [n1].")
    async with Child("run", folder.path) as host:
        await host.says("hosting")
        folder.replies("From nobody [n1].")
        result = await folder.chat("--once", QUESTION)
        assert "From the host [n1]." in result.stdout, result.output
        other = await folder.chat("--once", QUESTION, "--model", "path:other.gguf")
        assert "uniun-bots model use" in other.stderr
        assert (await folder.chat("--forget", "1")).exit_code == 0
    assert folder.rows("SELECT * FROM conversations") == []


async def test_a_host_that_dies_in_the_middle_is_told_and_the_chat_goes_on_without_it(folder: Folder) -> None:
    await folder.knows(FERRY)
    folder.replies(ANSWER, latency="10m")
    async with Child("run", folder.path) as host:
        await host.says("hosting")
        async with Child("chat", "--once", QUESTION, "--dir", folder.path) as asking:
            await folder.until("SELECT 1 FROM messages")
            host.send(signal.SIGKILL)
            ended = await asking.end(None)
    assert (ended.code, ended.out) == (1, "")
    assert "the host ended in the middle of the answer" in ended.err
    folder.replies(ANSWER)
    again = await folder.chat("--resume", typed=f"{QUESTION}\n")
    assert again.stdout.startswith(f"> {QUESTION}\n(no answer: its host or its process ended)\n")
    assert ANSWER in again.stdout


@pytest.mark.parametrize("hosted", [False, True])
async def test_ctrl_c_stops_the_model(folder: Folder, hosted: bool) -> None:
    await folder.knows(FERRY)
    folder.replies(ANSWER, latency="10m")
    async with AsyncExitStack() as stack:
        if hosted:
            host = await stack.enter_async_context(Child("run", folder.path))
            await host.says("hosting")
        async with Child("chat", "--once", QUESTION, "--dir", folder.path) as asking:
            await folder.until("SELECT 1 FROM messages")
            asking.send(signal.SIGINT)
            ended = await asking.end(None)
        assert (ended.code, "(stopped)" in ended.err) == (1, True), ended.all
        await folder.until("SELECT 1 FROM messages WHERE state = 'cancelled'")


async def test_ctrl_c_in_a_terminal_stops_the_answer_and_not_the_chat(folder: Folder) -> None:
    await folder.knows(FERRY)
    folder.replies(ANSWER, latency="10m")
    outer, inner = os.openpty()
    chat = await asyncio.create_subprocess_exec(
        *Child.command("chat", "--dir", folder.path),
        env=Child.environment({}),
        stdin=inner,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    os.close(inner)
    try:
        os.write(outer, f"{QUESTION}\n".encode())
        await folder.until("SELECT 1 FROM messages")
        chat.send_signal(signal.SIGINT)
        await folder.until("SELECT 1 FROM messages WHERE state = 'cancelled'")
        os.write(outer, b":deep\n:quit\n")
        out, err = await chat.communicate()
    finally:
        os.close(outer)
    assert (chat.returncode, b"deep from now on" in out, b"(stopped)" in err) == (0, True, True), (out, err)
