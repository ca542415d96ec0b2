"""`uniun-bots approvals`: what waits for a person's yes."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import click

from uniun_bots.approvals import queue
from uniun_bots.approvals.approval import Approval, State
from uniun_bots.cli.ending import leave, told
from uniun_bots.cli.folder import act, console, data_dir, folder_option, json_option, read_store, when
from uniun_bots.cli.listing import listing
from uniun_bots.cli.passphrase import ask_passphrase
from uniun_bots.clock import WallClock
from uniun_bots.errors import UniunError
from uniun_bots.graph.find import note_by_id
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder
from uniun_bots.inputs.enabled import standing
from uniun_bots.journal.accept import hindrance
from uniun_bots.nostr.reference import spell_note, spell_npub


@click.group(epilog="Example: uniun-bots approvals list --dir my-bots")
def approvals() -> None:
    """What waits for your yes: texts of personas in mode `approve`, and what device skills propose."""


@approvals.command("list", epilog="Example: uniun-bots approvals list --json")
@click.option("--all", "everything", is_flag=True, help="Also what was decided in the last 90 days.")
@folder_option
@json_option
def list_approvals(everything: bool, folder: Path, as_json: bool) -> None:
    """What waits, oldest first. After 24 hours without a yes nothing is sent."""
    found = read_store(
        folder, lambda tx: [_look(tx, one) for one in queue.approvals(tx, everything=everything)]
    )
    if as_json:
        click.echo(json.dumps(found))
        return
    console().print(listing(("approval", "persona", "what", "state", "until", "text"), map(_row, found)))


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    state, words = one["would_be"] or one["state"], " ".join(one["text"].split())
    return str(one["number"]), one["gana"], one["action"], state, when(one["expires_at"]), words[:70]


@approvals.command("show", epilog="Example: uniun-bots approvals show 3")
@click.argument("number", type=int)
@folder_option
@json_option
def show_approval(number: int, folder: Path, as_json: bool) -> None:
    """One of them: what it answers, and exactly what would be done."""
    found = read_store(folder, lambda tx: _look(tx, queue.approval(tx, number)))
    click.echo(json.dumps(found) if as_json else "\n".join(_lines(found)))


@approvals.command("accept", epilog="Example: uniun-bots approvals accept 3")
@click.argument("number", type=int)
@folder_option
@json_option
def accept_approval(number: int, folder: Path, as_json: bool) -> None:
    """Say yes: it is signed with the time of now and sent, once. Exit code 1 when it cannot be done any more."""
    _decide(folder, "accept", number, "", as_json)


@approvals.command("edit", epilog="Example: uniun-bots approvals edit 3 --body 'High water is at noon.'")
@click.argument("number", type=int)
@click.option("--body", default=None, help="The new text; without it, your $EDITOR opens with the old one.")
@folder_option
@json_option
def edit_approval(number: int, body: str | None, folder: Path, as_json: bool) -> None:
    """Change the text before you say yes. It passes the same gate as a model's; all else stays as it was."""
    if body is None:
        before = read_store(folder, lambda tx: queue.waiting(tx, number)).text
        body = click.edit(before, extension=".md", require_save=True)
        if body is None:
            click.echo("nothing was changed")
            sys.exit(1)
    _decide(folder, "edit", number, body, as_json)


@approvals.command("reject", epilog="Example: uniun-bots approvals reject 3 --reason 'too harsh'")
@click.argument("number", type=int)
@click.option("--reason", default="", help="For the record; it is not published.")
@folder_option
def reject_approval(number: int, reason: str, folder: Path) -> None:
    """Say no: it is never sent. What it answers stays decided."""
    why, now = reason or "a person said no", WallClock().now()
    act(
        folder,
        "/approvals/reject",
        {"number": number, "text": why},
        lambda tx: queue.settle(tx, number, State.REJECTED, why, now),
    )
    click.echo(f"approval {number} is rejected")


def _decide(folder: Path, word: str, number: int, text: str, as_json: bool) -> None:
    """Through the running host; without one under the lease, in a loop that the SDK can live in."""
    if holder(data_dir(folder)) is not None:
        asked = {"number": number, "text": text}
        found = asyncio.run(ask_host(data_dir(folder), "POST", f"/approvals/{word}", asked))
        paused = read_store(folder, lambda tx: standing(tx, found["gana"]).paused)
        sys.exit(
            _outcome(
                found, as_json, f"it goes out after `uniun-bots resume {found['gana']}`" if paused else ""
            )
        )
    from uniun_bots.host import event_loop

    leave(event_loop.run(_decide_alone(folder, word, number, text, as_json)))


async def _decide_alone(folder: Path, word: str, number: int, text: str, as_json: bool) -> int:
    from uniun_bots.host.desk import decide
    from uniun_bots.host.open_desk import open_desk

    try:
        async with open_desk(folder, number, os.environ, ask_passphrase) as desk:
            settled = await decide(desk, word, number, text)
    except UniunError as fault:
        return told(fault)
    return _outcome(
        settled.told(), as_json, "it goes out with the next `uniun-bots run` or `uniun-bots tick`"
    )


def _outcome(found: dict[str, Any], as_json: bool, later: str) -> int:
    """The exit code: 1 when a yes came too late."""
    state = found["state"]
    if as_json:
        click.echo(json.dumps(found))
    elif state == State.WAITING:
        click.echo(f"approval {found['number']} says now: {_text(found)}")
    elif state == State.ACCEPTED:
        as_note = f" as {spell_note(found['event_id'])}" if found["event_id"] else ""
        click.echo(f"approval {found['number']} is accepted{as_note}{later and '; '}{later}")
    else:
        click.echo(f"approval {found['number']} is {state}: {found['reason']}")
    return 0 if state in (State.WAITING, State.ACCEPTED, State.DONE) else 1


def _look(tx: sqlite3.Connection, found: Approval) -> dict[str, Any]:
    """With the note that it answers, and what a yes would meet now."""
    note = note_by_id(tx, found.answers) if found.answers else None
    stands = hindrance(tx, found, WallClock().now()) if found.state is State.WAITING else None
    return {
        **found.told(),
        "text": found.text,
        "would_be": str(stands[0]) if stands else None,
        "why": stands[1] if stands else None,
        "input": note.text if note else None,
    }


def _text(found: dict[str, Any]) -> str:
    return str(found["payload"].get("content") or found["payload"]["text"])


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [f"approval {found['number']} of {found['gana']}: {found['action']}, {found['state']}"]
    if found["would_be"]:
        lines.append(f"  a yes comes too late: {found['why']}")
    if found["reason"]:
        lines.append(f"  {found['reason']}")
    if found["answers"]:
        lines.append(f"  answers {spell_note(found['answers'])} by {spell_npub(found['asker'])}")
        lines.append(f"    {found['input']}")
    lines += [f"  text: {found['text']}", *_what(found)]
    if found["event_id"]:
        lines.append(f"  as {spell_note(found['event_id'])}")
    return [*lines, f"  proposed {when(found['at'])}, waits until {when(found['expires_at'])}"]


def _what(found: dict[str, Any]) -> list[str]:
    payload = found["payload"]
    if "kind" in payload:
        tags = [f"    {json.dumps(tag)}" for tag in payload["tags"]]
        return [f"  kind {payload['kind']} to {', '.join(payload['relays'])}, with tags", *tags]
    return [f"  to the owner at {when(payload['at'])}"] if "at" in payload else ["  to the webhook"]
