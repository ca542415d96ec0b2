"""Manas as rows: what each names, and which notes are its members because of that."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from uniun_bots.errors import NotFound

RuleKind = Literal["note", "author", "topic", "group", "address"]


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """One thing that a Manas names. A file is named by the id of its draft."""

    kind: RuleKind
    value: str


_FOUND_BY: dict[RuleKind, str] = {
    "note": "SELECT seq FROM notes WHERE id = ?",
    "author": "SELECT seq FROM notes WHERE author = ?",
    "topic": "SELECT seq FROM topics WHERE topic = ?",
    "group": "SELECT seq FROM surfaces WHERE surface = 'group:' || ?",
    "address": "SELECT seq FROM addresses WHERE address = ?",
}


def set_manas(
    tx: sqlite3.Connection,
    name: str,
    description: str,
    members: Collection[Rule],
    excluded: Collection[Rule] = (),
) -> bool:
    """Make the rows say this; True when what it names has changed. Only changes cost anything."""
    tx.execute(
        "INSERT INTO manas (manas, description) VALUES (?, ?)"
        " ON CONFLICT (manas) DO UPDATE SET description = excluded.description",
        (name, description),
    )
    before, after = _rules(tx, name), {(rule, 0) for rule in members} | {(rule, 1) for rule in excluded}
    gone, new = before - after, after - before
    tx.executemany(
        "DELETE FROM manas_rules WHERE rule = ? AND value = ? AND manas = ? AND excluded = ?",
        [(rule.kind, rule.value, name, out) for rule, out in gone],
    )
    tx.executemany(
        "INSERT INTO manas_rules (rule, value, manas, excluded) VALUES (?, ?, ?, ?)",
        [(rule.kind, rule.value, name, out) for rule, out in new],
    )
    if gone:
        tx.execute("DELETE FROM manas_notes WHERE manas = ?", (name,))
        new = after
    _admit(tx, name, [rule for rule, out in new if not out])
    _expel(tx, name, [rule for rule, out in after if out])
    return bool(gone or new)


def forget_manas(tx: sqlite3.Connection, kept: Collection[str]) -> None:
    """Whose file is gone. Their notes stay notes."""
    for name in set(manas_names(tx)) - set(kept):
        for table in ("manas", "manas_rules", "manas_notes"):
            tx.execute(f"DELETE FROM {table} WHERE manas = ?", (name,))  # noqa: S608


def manas_names(tx: sqlite3.Connection) -> list[str]:
    return [row[0] for row in tx.execute("SELECT manas FROM manas ORDER BY manas")]


def check_manas(tx: sqlite3.Connection, named: Collection[str]) -> None:
    """Raises NotFound for one that is not known."""
    known = manas_names(tx) if named else []
    for name in named:
        if name not in known:
            raise NotFound(f"there is no Manas {name}; there are: {', '.join(known) or 'none'}")


def manas_of(tx: sqlite3.Connection, seq: int) -> list[str]:
    return [
        row[0] for row in tx.execute("SELECT manas FROM manas_notes WHERE seq = ? ORDER BY manas", (seq,))
    ]


def join_manas(tx: sqlite3.Connection, notes: Iterable[tuple[int, Collection[Rule]]]) -> None:
    """A note that came now becomes a member of whatever names one of its facts. `notes`: seq and facts of each."""
    if tx.execute("SELECT 1 FROM manas_rules LIMIT 1").fetchone() is None:
        return
    for seq, facts in notes:
        named: list[object] = [part for fact in facts for part in (fact.kind, fact.value)]
        given = ",".join(["(?, ?)"] * len(facts))
        # The facts come first in the join: the other way round every rule there is would be looked at.
        tx.execute(
            f"WITH facts (rule, value) AS (VALUES {given}) INSERT OR IGNORE INTO manas_notes (manas, seq)"  # noqa: S608
            " SELECT r.manas, ? FROM facts f CROSS JOIN manas_rules r ON r.rule = f.rule AND r.value = f.value"
            " GROUP BY r.manas HAVING max(r.excluded) = 0",
            (*named, seq),
        )


def _rules(tx: sqlite3.Connection, name: str) -> set[tuple[Rule, int]]:
    rows = tx.execute("SELECT rule, value, excluded FROM manas_rules WHERE manas = ?", (name,))
    return {(Rule(row[0], row[1]), int(row[2])) for row in rows}


def _admit(tx: sqlite3.Connection, name: str, rules: Iterable[Rule]) -> None:
    for rule in rules:
        tx.execute(
            f"INSERT OR IGNORE INTO manas_notes (manas, seq) SELECT ?, seq FROM ({_FOUND_BY[rule.kind]})",  # noqa: S608
            (name, rule.value),
        )


def _expel(tx: sqlite3.Connection, name: str, rules: Iterable[Rule]) -> None:
    for rule in rules:
        tx.execute(
            f"DELETE FROM manas_notes WHERE manas = ? AND seq IN ({_FOUND_BY[rule.kind]})",  # noqa: S608
            (name, rule.value),
        )
