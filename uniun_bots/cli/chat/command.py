"""`uniun-bots chat`"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from uniun_bots.chat import records
from uniun_bots.chat.conversation import Conversation
from uniun_bots.chat.question import Question
from uniun_bots.cli.folder import act, console, folder_option, json_option, read_store, when
from uniun_bots.cli.manas.rows import check_manas
from uniun_bots.errors import NotFound
from uniun_bots.nostr.text import inert

NEWEST = "newest"


@click.command(epilog="Example: uniun-bots chat --once 'When does the ferry leave?' --manas harbour")
@click.option(
    "--once", metavar="QUESTION", help="Ask this and go, for scripts. Exit code 1 when nothing is found."
)
@click.option(
    "--deep", is_flag=True, help="The model looks things up itself, step by step, before it answers."
)
@click.option("--manas", multiple=True, help="From the notes of this Manas only; may be given again.")
@click.option(
    "--model", help="An engine of host.yaml; without a running host also a model as host.yaml names one."
)
@click.option("--skill", "skills", multiple=True, help="With this text skill of skills/; may be given again.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[NUMBER]",
    help="Go on with a conversation: the newest one, or this.",
)
@click.option(
    "--list", "listing", is_flag=True, help="The conversations, the one with the newest words first."
)
@click.option("--forget", type=int, metavar="NUMBER", help="Delete this conversation.")
@folder_option
@json_option
def chat(
    once: str | None,
    deep: bool,
    manas: tuple[str, ...],
    model: str | None,
    skills: tuple[str, ...],
    resume: str | None,
    listing: bool,
    forget: int | None,
    folder: Path,
    as_json: bool,
) -> None:
    """Ask your own notes. Answers name the notes that they are from; nothing is ever published.

    Notes of private conversations are left out. A running host answers with its model; without one a model is started
    here. Ctrl-C stops an answer, Ctrl-D ends the chat; `:help` tells what else can be typed.
    """
    if listing:
        _list(folder, as_json)
    elif forget is not None:
        act(folder, "/chat/forget", {"conversation": forget}, lambda tx: records.forget(tx, forget))
        click.echo(f"conversation {forget} is forgotten")
    elif as_json and once is None:
        raise click.UsageError("--json goes with --once or --list")
    else:
        # A model and a socket come with the first question.
        from uniun_bots.cli.chat.talk import ask_once, talk

        check_manas(folder, manas)
        number = _number(folder, resume) if resume else None
        question = Question(once or "", number, manas or None, deep=deep, skills=skills)
        if once is None:
            talk(folder, question, model)
        else:
            ask_once(folder, question, model, as_json)


def _number(folder: Path, resume: str) -> int:
    """Raises NotFound."""
    if resume != NEWEST:
        if not resume.isdecimal():
            raise click.UsageError(f"--resume takes the number of a conversation, not {resume!r}")
        return read_store(folder, lambda tx: records.conversation(tx, int(resume))).number
    found = read_store(folder, lambda tx: records.conversations(tx, 1))
    if not found:
        raise NotFound("there is no conversation yet")
    return found[0].number


def _list(folder: Path, as_json: bool) -> None:
    found: list[Conversation] = read_store(folder, records.conversations)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found]))
        return
    table = Table("conversation", "when", "questions", "Manas", "began with")
    for one in found:
        manas = ", ".join(one.manas) or "everything"
        table.add_row(str(one.number), when(one.at), str(one.questions), manas, inert(one.title))
    console().print(table)
