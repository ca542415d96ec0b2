"""`uniun-bots explain`: what happened to a note."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import click

from uniun_bots.approvals.approval import State
from uniun_bots.approvals.queue import approvals_about
from uniun_bots.cli.folder import folder_option, json_option, read_store, when
from uniun_bots.cli.notes.argument import note_id
from uniun_bots.errors import NotFound
from uniun_bots.graph.find import note_by_id
from uniun_bots.nostr.reference import spell_note


@click.command(epilog="Example: uniun-bots explain note1… --dir my-bots")
@click.argument("note")
@folder_option
@json_option
def explain(note: str, folder: Path, as_json: bool) -> None:
    """Tell what happened to a note: where it was heard, who woke, why it was held, which run, which reply.

    NOTE is its id in any spelling, or the first 8 or more hex digits of it.
    """
    wanted = note_id(folder, note)
    story = read_store(folder, lambda tx: tell(tx, wanted))
    click.echo(json.dumps(story) if as_json else "\n".join(_lines(story)))


def tell(tx: sqlite3.Connection, note_id: str) -> dict[str, Any]:
    """Raises NotFound for what was neither heard nor sent. What we sent may be no note, such as a deletion."""
    note = note_by_id(tx, note_id)
    heard = _rows(tx, "SELECT relay, at FROM heard WHERE id = ? ORDER BY at", note_id)
    receipts = _receipts(tx, note_id)
    if note is None and not heard and not receipts:
        raise NotFound(f"{spell_note(note_id)} was never heard here")
    surfaces = _rows(tx, "SELECT s.surface FROM surfaces s JOIN notes n USING (seq) WHERE n.id = ?", note_id)
    return {
        "note": note_id,
        "kind": note.kind if note else None,
        "author": note.author if note else None,
        "text": note.text if note else None,
        "origin": note.origin if note else None,
        "deleted": note.deleted if note else None,
        "heard": heard,
        "surfaces": [row["surface"] for row in surfaces],
        "held": _rows(tx, "SELECT gana, reason, setting, at FROM held WHERE note_id = ?", note_id),
        "answered": [
            _with_run(tx, note_id, row)
            for row in _rows(tx, "SELECT gana, ending, run, at FROM answered WHERE key = ?", note_id)
        ],
        "retries": _rows(tx, "SELECT gana, attempts, not_before, reason FROM retries WHERE key = ?", note_id),
        "pending": _pending(tx, note_id),
        "receipts": receipts,
        "retracted": _retracted(tx, note_id),
    }


def _with_run(tx: sqlite3.Connection, note_id: str, answered: dict[str, Any]) -> dict[str, Any]:
    runs = _rows(tx, "SELECT run, mode, reason, body, event_id FROM runs WHERE run = ?", answered["run"])
    run = runs[0] if runs else None
    posted = run["event_id"] if run and run["event_id"] else ""
    found = approvals_about(tx, answered["gana"], note_id, answered["run"])
    approvals = [
        {"number": one.number, "action": str(one.action), "state": str(one.state), "reason": one.reason}
        for one in found
    ]
    sent = {"receipts": _receipts(tx, posted), "retracted": _retracted(tx, posted)}
    return {**answered, "run_row": run, **sent, "approvals": approvals}


def _receipts(tx: sqlite3.Connection, event_id: str) -> list[dict[str, Any]]:
    return _rows(
        tx, "SELECT relay, fate, message, attempts, next_at FROM receipts WHERE event_id = ?", event_id
    )


def _retracted(tx: sqlite3.Connection, event_id: str) -> list[dict[str, Any]]:
    """The deletions that were sent for it, each with what relays said."""
    rows = _rows(
        tx,
        "SELECT d.event_id FROM outbox o JOIN outbox d ON d.run = o.run AND d.event_id <> o.event_id"
        " JOIN runs r ON r.run = o.run AND r.event_id = o.event_id WHERE o.event_id = ? ORDER BY d.at",
        event_id,
    )
    return [{**row, "receipts": _receipts(tx, row["event_id"])} for row in rows]


def _pending(tx: sqlite3.Connection, note_id: str) -> list[str]:
    """Ganas that woke for one of its surfaces and have not decided it yet."""
    rows = _rows(
        tx,
        "SELECT DISTINCT w.gana FROM wakeups w JOIN surfaces s ON s.surface = w.surface JOIN notes n USING (seq)"
        " WHERE n.id = ?1 AND NOT EXISTS (SELECT 1 FROM answered a WHERE a.gana = w.gana AND a.key = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM held h WHERE h.gana = w.gana AND h.note_id = ?1)",
        note_id,
    )
    return [row["gana"] for row in rows]


def _rows(tx: sqlite3.Connection, sql: str, *args: object) -> list[dict[str, Any]]:
    return [dict(row) for row in tx.execute(sql, args)]


def _lines(story: dict[str, Any]) -> list[str]:
    what = f"kind {story['kind']}, {story['origin']}" if story["kind"] is not None else "not kept as a note"
    lines = [f"{spell_note(story['note'])} ({what})"]
    lines += [f"heard  from {row['relay']} at {when(row['at'])}" for row in story["heard"]]
    lines += [f"stands on {surface}" for surface in story["surfaces"]]
    if story["deleted"]:
        lines.append("deleted by its author, or replaced by a newer version")
    lines += [f"held   for {row['gana']}: {row['reason']} ({row['setting']})" for row in story["held"]]
    lines += [
        f"failed for {row['gana']}, {_times(row['attempts'])}: {row['reason']}; again at {when(row['not_before'])}"
        for row in story["retries"]
    ]
    lines += [f"waits  for {gana}" for gana in story["pending"]]
    for row in story["answered"]:
        lines += _answer_lines(row)
    lines += _sent_lines(story)
    return lines if len(lines) > 1 else [*lines, "no Gana watches where it stands"]


def _answer_lines(row: dict[str, Any]) -> list[str]:
    if row["ending"] == "elsewhere":
        return [f"answered for {row['gana']} by the same key elsewhere"]
    run = row["run_row"]
    lines = [f"ran    {row['gana']}: run {row['run']} ended {row['ending']} at {when(row['at'])}"]
    if run and run["reason"]:
        lines.append(f"       {run['reason']}")
    if run and run["body"]:
        lines.append(f"       said ({run['mode']}): {run['body']}")
    if run and run["event_id"]:
        lines.append(f"       as {spell_note(run['event_id'])}")
    lines += [f"       {_approval_line(one)}" for one in row["approvals"]]
    return lines + [f"       {line}" for line in _sent_lines(row)]


def _sent_lines(sent: dict[str, Any]) -> list[str]:
    lines = [_receipt_line(one) for one in sent["receipts"]]
    for one in sent["retracted"]:
        lines.append(f"retracted as {spell_note(one['event_id'])}")
        lines += [f"  {_receipt_line(receipt)}" for receipt in one["receipts"]]
    return lines


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _approval_line(one: dict[str, Any]) -> str:
    number = one["number"]
    if one["state"] == State.WAITING:
        return f"waits for a person as approval {number} (`uniun-bots approvals show {number}`)"
    why = f": {one['reason']}" if one["reason"] else ""
    return f"approval {number} ({one['action']}) is {one['state']}{why}"


def _receipt_line(row: dict[str, Any]) -> str:
    words = [row["relay"], f"said {row['fate']}" if row["attempts"] else "was not asked yet", row["message"]]
    words += [f"({row['attempts']} tries)"] if row["attempts"] > 1 else []
    return " ".join(word for word in words if word) + (
        f"; again at {when(row['next_at'])}" if row["next_at"] else ""
    )
