"""`uniun-bots runs`: what the Ganas decided, and two ways to change one's mind."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import act, console, data_dir, folder_option, json_option, read_store, when
from uniun_bots.cli.listing import listing
from uniun_bots.errors import NotFound
from uniun_bots.host import actions
from uniun_bots.host.control.ask import ask_host
from uniun_bots.inputs.enabled import is_known
from uniun_bots.journal.attempt import RUNNING
from uniun_bots.journal.record import dead_letters
from uniun_bots.nostr.reference import spell_note


@click.group(epilog="Example: uniun-bots runs list --dir my-bots")
def runs() -> None:
    """The runs of Ganas: list, show, retry a failed one, retract a bad post."""


@runs.command("list", epilog="Example: uniun-bots runs list --gana life-lessons-replier --json")
@click.option("--gana", default=None, help="Of this Gana only.")
@click.option("--dead", is_flag=True, help="Dead letters instead: what was given up.")
@folder_option
@json_option
def list_runs(gana: str | None, dead: bool, folder: Path, as_json: bool) -> None:
    """The newest runs first (10 of each Gana are kept)."""
    if gana and not read_store(folder, lambda tx: is_known(tx, gana)):
        raise NotFound(f"{gana} was never on here; see `uniun-bots persona list`")
    found = read_store(folder, lambda tx: _dead_letters(tx, gana) if dead else _runs(tx, gana))
    if as_json:
        click.echo(json.dumps(found))
        return
    if dead:
        rows = [(one["key"][:16], one["gana"], one["kind"], one["reason"], when(one["at"])) for one in found]
        console().print(listing(("key", "Gana", "kind", "reason", "when"), rows))
    else:
        console().print(
            listing(("run", "Gana", "mode", "ending", "when", "text or reason"), map(_row, found))
        )


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    text = run["body"] or run["reason"]
    return str(run["run"]), run["gana"], run["mode"], run["ending"], when(run["ended_at"]), text[:70]


@runs.command("show", epilog="Example: uniun-bots runs show 12")
@click.argument("run", type=int)
@folder_option
@json_option
def show_run(run: int, folder: Path, as_json: bool) -> None:
    """One run as a story: what it answered, what the model wrote, what became of it."""
    found = read_store(folder, lambda tx: _story(tx, run))
    click.echo(json.dumps(found) if as_json else "\n".join(_lines(found)))


@runs.command("retry", epilog="Example: uniun-bots runs retry 12")
@click.argument("run", type=int)
@folder_option
def retry_run(run: int, folder: Path) -> None:
    """Take up the inputs of a failed, malformed, exhausted or given-up run again."""
    act(folder, "/retry", {"run": run}, lambda tx: actions.retry(tx, run))
    click.echo(f"the inputs of run {run} are pending again")


@runs.command("retract", epilog="Example: uniun-bots runs retract 12 --reason 'wrong answer'")
@click.argument("run", type=int)
@click.option("--reason", default="", help="Published with the deletion.")
@folder_option
def retract_run(run: int, reason: str, folder: Path) -> None:
    """Ask relays to delete what a run published (NIP-09). Relays may refuse; needs the running host."""
    answer = asyncio.run(ask_host(data_dir(folder), "POST", "/retract", {"run": run, "reason": reason}))
    click.echo(f"asked for deletion as {spell_note(answer['event_id'])}; `explain` tells what relays said")


def _runs(tx: sqlite3.Connection, gana: str | None) -> list[dict[str, Any]]:
    rows = tx.execute("SELECT * FROM runs WHERE ?1 IS NULL OR gana = ?1 ORDER BY run DESC", (gana,))
    return [_run(row) for row in rows]


def _run(row: sqlite3.Row) -> dict[str, Any]:
    return {**dict(row), "keys": json.loads(row["keys"]), "knowledge": json.loads(row["knowledge"])}


def _dead_letters(tx: sqlite3.Connection, gana: str | None) -> list[dict[str, Any]]:
    return [asdict(one) for one in dead_letters(tx, gana)]


def _story(tx: sqlite3.Connection, run: int) -> dict[str, Any]:
    row = tx.execute("SELECT * FROM runs WHERE run = ?", (run,)).fetchone()
    if row is None:
        raise NotFound(f"there is no run {run}; see `uniun-bots runs list`")
    run_row = _run(row)
    inputs = tx.execute(
        "SELECT id, author, text FROM notes WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (row["keys"],),
    )
    steps = tx.execute("SELECT * FROM steps WHERE run = ? ORDER BY round", (run,))
    receipts = tx.execute(
        "SELECT relay, fate, message, attempts FROM receipts WHERE event_id = ?", (row["event_id"],)
    )
    return {
        **run_row,
        "inputs": [dict(one) for one in inputs],
        "steps": [{**dict(one), "note_ids": json.loads(one["note_ids"])} for one in steps],
        "receipts": [dict(one) for one in receipts],
    }


def _lines(story: dict[str, Any]) -> list[str]:
    took = f" after {story['ended_at'] - story['started_at']:.1f} s" * (story["ending"] != RUNNING)
    lines = [
        f"run {story['run']} of {story['gana']} ({story['mode']}, attempt {story['attempt']})"
        f" on {story['surface']}: {story['ending']}{took}"
    ]
    lines += [f"  input {spell_note(one['id'])}\n    {one['text']}" for one in story["inputs"]]
    lines += [f"  knew  {spell_note(note_id)}" for note_id in story["knowledge"]]
    for step in story["steps"]:
        lines.append(
            f"  round {step['round']} on {step['model']}: {step['prompt_tokens']} prompt tokens"
            f" ({step['reused_tokens']} reused, {step['evaluated_tokens']} evaluated),"
            f" {step['generated_tokens']} generated"
        )
        lines.append(
            f"    waited {step['waiting_ms']:.0f} ms, read its prompt in {step['prompt_ms']:.0f} ms,"
            f" wrote for {step['generating_ms']:.0f} ms"
        )
        lines += _called(step) if step["skill"] else [f"    model: {step['text']!r}"]
        lines.append(f"    {step['note']}")
    if story["reason"]:
        lines.append(f"  {story['reason']}")
    if story["body"]:
        lines.append(f"  said: {story['body']}")
    if story["event_id"]:
        lines.append(f"  as {spell_note(story['event_id'])}")
    lines += [f"  {one['relay']} said {one['fate']} {one['message']}".rstrip() for one in story["receipts"]]
    return lines


def _called(step: dict[str, Any]) -> list[str]:
    """The model's call, what it was told, and links to the notes in that."""
    lines = [f"    called {step['skill']} {step['arguments']} ({step['executing_ms']:.0f} ms)"]
    if step["result"]:
        lines.append(f"    was told: {step['result']}")
    return lines + [f"      nostr:{spell_note(note_id)}" for note_id in step["note_ids"]]
