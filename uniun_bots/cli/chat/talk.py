"""Ask once, or in turns: what a person types, one line at a time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click

from uniun_bots.chat import records
from uniun_bots.chat.answer import Answer
from uniun_bots.chat.conversation import Past
from uniun_bots.chat.question import Question
from uniun_bots.cli.chat.printing import Printing, message_lines, source_lines
from uniun_bots.cli.folder import read_store, settings_of
from uniun_bots.cli.notes.show import lines_of_note
from uniun_bots.errors import BadReference, UniunError
from uniun_bots.graph.around_note import around_note
from uniun_bots.host.chat.events import HAPPENS, answer_as_json
from uniun_bots.host.chat.session import ChatSession
from uniun_bots.nostr.references import parse_reference
from uniun_bots.nostr.text import inert

HELP = """\
:open n2     the whole note behind a handle, or any note by its id
:shown       the notes that the model was shown for the last answer
:deep        from now on the model looks things up itself, or no more
:new         begin another conversation
:quit        leave, as Ctrl-D does"""


def ask_once(folder: Path, question: Question, model: str | None, as_json: bool) -> None:
    """Ends with exit code 1 when nothing is found."""
    printing = Printing(quiet=as_json)
    with _open(folder, model) as (runner, session):
        try:
            answer = runner.run(session.ask(replace(question, engine=session.engine), printing.tell))
        except KeyboardInterrupt:
            printing.stopped()
            sys.exit(1)
    if as_json:
        told = {"conversation": printing.conversation, "question": question.text, **answer_as_json(answer)}
        del told[HAPPENS]
        click.echo(json.dumps(told))
    else:
        printing.end(answer)
    if not answer.state.says_something:
        sys.exit(1)


def talk(folder: Path, question: Question, model: str | None) -> None:
    """`question`: how all of them are asked."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import_module("readline")  # lines can be edited, and called back
    past = Past()
    if number := question.conversation:
        past = Past(tuple(read_store(folder, lambda tx: records.messages(tx, number))))
        for line in message_lines(past):
            click.echo(line)
    with _open(folder, model) as (runner, session):
        Talk(folder, runner, session, replace(question, engine=session.engine), past).go_on()


@contextmanager
def _open(folder: Path, model: str | None) -> Iterator[tuple[asyncio.Runner, ChatSession]]:
    """One event loop for the whole chat: the model lives in it from one question to the next."""
    session = ChatSession(folder, settings_of(folder), os.environ, model=model)
    with asyncio.Runner() as runner:
        try:
            yield runner, session
        finally:
            runner.run(session.aclose())


class Talk:
    def __init__(
        self, folder: Path, runner: asyncio.Runner, session: ChatSession, question: Question, past: Past
    ) -> None:
        """`question`: how all of them are asked."""
        self._folder, self._runner, self._session, self._question = folder, runner, session, question
        self._manas = question.manas
        self._handles = dict(past.handles())
        self._last: Answer | None = None

    def go_on(self) -> None:
        """Until the person leaves."""
        while (line := _typed()) is not None and line not in (":quit", ":q"):
            try:
                if line.startswith(":"):
                    self._command(*line[1:].split(None, 1))
                elif line:
                    self._ask(line)
            except UniunError as fault:
                click.echo(inert(str(fault)), err=True)

    def _ask(self, text: str) -> None:
        printing = Printing()
        try:
            answer = self._runner.run(self._session.ask(replace(self._question, text=text), printing.tell))
        except KeyboardInterrupt:
            printing.stopped()
            return
        finally:
            if printing.conversation is not None:
                # What it is narrowed to stays with it.
                self._question = replace(self._question, conversation=printing.conversation, manas=None)
        printing.end(answer)
        self._last = answer
        self._handles |= {one.handle: one.note_id for one in (*answer.shown, *answer.cited)}

    def _command(self, word: str = "", given: str = "") -> None:
        match word:
            case "open":
                self._open(given.strip().strip("[]"))
            case "shown":
                shown = self._last.shown if self._last else ()
                click.echo(inert("\n".join(source_lines(shown)) or "nothing was shown yet"))
            case "deep":
                self._question = replace(self._question, deep=not self._question.deep)
                click.echo("deep from now on" if self._question.deep else "not deep any more")
            case "new":
                self._question = replace(self._question, conversation=None, manas=self._manas)
                self._handles, self._last = {}, None
                click.echo("a new conversation")
            case _:
                click.echo(HELP)

    def _open(self, named: str) -> None:
        try:
            note_id = self._handles.get(named) or parse_reference(named, "note")
        except BadReference:
            handles = ", ".join(self._handles) or "none yet"
            click.echo(f"no note {inert(named)!r}; handles: {handles}", err=True)
            return
        found = read_store(self._folder, lambda tx: around_note(tx, note_id))
        click.echo(inert("\n".join(lines_of_note(found))) if found else "the note is not here any more")


def _typed() -> str | None:
    """One line; None at the end of the input, and for Ctrl-C where nothing is to be stopped."""
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        click.echo("")
        return None
