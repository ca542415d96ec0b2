"""A chat on a terminal: words as they come, and the notes below them. Nothing that others wrote can steer it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from uniun_bots.chat.answer import Answer, Source
from uniun_bots.chat.conversation import Message, Past, State
from uniun_bots.chat.telling import Again, Begun, Happening, Looked, Piece
from uniun_bots.cli.folder import when
from uniun_bots.nostr.reference import spell_note
from uniun_bots.nostr.text import cut, inert

ARGUMENTS_CHARS = 100
WAITING = "…"


class Printing:
    """One answer. What is not the answer itself goes to stderr."""

    def __init__(self, *, quiet: bool = False) -> None:
        """`quiet`: nothing is printed on the way."""
        self._quiet = quiet
        self._said = self._waits = False
        self.conversation: int | None = None

    def tell(self, happening: Happening) -> None:
        if isinstance(happening, Begun):
            self.conversation = happening.conversation
        if self._quiet:
            return
        self._wait(isinstance(happening, Begun | Looked | Again))
        match happening:
            case Looked():
                called = f"{happening.skill or 'no call'} {cut(happening.arguments, ARGUMENTS_CHARS)}".strip()
                _beside(f"· {called}: {happening.note}")
            case Again() if self._said:
                click.echo()
                _beside("(taken back: that was no answer)")
                self._said = False
            case Piece():
                click.echo(inert(happening.text), nl=False)
                self._said = True

    def end(self, answer: Answer) -> None:
        """Below the words."""
        self._wait(False)
        click.echo("")
        for line in _below(answer):
            click.echo(inert(line))

    def stopped(self) -> None:
        self._wait(False)
        click.echo("")
        _beside("(stopped)")

    def _wait(self, waits: bool) -> None:
        """A sign on a terminal that something is going on."""
        if waits != self._waits and sys.stderr.isatty():
            click.echo(WAITING if waits else "\r \r", nl=False, err=True)
        self._waits = waits


def _beside(line: str) -> None:
    click.echo(inert(line), err=True)


def _below(answer: Answer) -> Iterator[str]:
    if answer.is_cut:
        yield "(cut: the answer has as many tokens as an answer may have)"
    if answer.state is State.NOTHING:
        yield f"({answer.reason})"
    if answer.state is State.UNSUPPORTED:
        yield "No note stands behind this answer: the model names none, and repeats none that it was shown."
    if answer.state is State.RESEMBLES:
        yield "The model names no note. Words of the answer stand in:"
    if answer.cited:
        yield from source_lines(answer.cited)
    elif answer.shown:
        yield "It was shown:"
        yield from source_lines(answer.shown)


def source_lines(sources: Sequence[Source]) -> Iterator[str]:
    for one in sources:
        yield f"  [{one.handle}] {spell_note(one.note_id)}"
        yield f"       {one.by}, {when(one.created_at)}: {one.preview}"


def message_lines(past: Past) -> Iterator[str]:
    """What was said, for whoever goes on with it."""
    for question in (one for one in past.messages if one.role == "question"):
        yield f"> {inert(question.text)}"
        answer = past.answer_to(question)
        yield inert(_said(answer)) if answer else "(no answer: its host or its process ended)"
        yield ""


def _said(message: Message) -> str:
    if message.state is not None and not message.state.says_something and message.state is not State.NOTHING:
        return f"{message.text}\n({message.state}: {message.reason})".lstrip()
    return message.text
