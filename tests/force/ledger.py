"""Reads what a host wrote, as a bookkeeper would: who decided what, what went out, how far each cursor is."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from tests.force.village import GROUP, HERALD, Village
from uniun_bots.database.store import connect

DELIVERED = ("accepted", "duplicate")


@dataclass(frozen=True, slots=True)
class Ledger:
    village: Village

    @contextlib.contextmanager
    def rows(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(connect(self.village.database, read_only=True)) as conn:
            yield conn

    def cursors(self) -> dict[tuple[str, str], int]:
        if not self.village.database.exists():
            return {}
        with self.rows() as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'cursors'").fetchone():
                return {}
            return {(gana, surface): seq for gana, surface, seq in db.execute("SELECT * FROM cursors")}

    def undecided(self) -> list[tuple[str, str]]:
        """(Gana, input) without a decision."""
        with self.rows() as db:
            decided = set(_decisions(db))
        wanted = {(gana, key) for key, watching in self.village.inputs.items() for gana in watching}
        return sorted(wanted - decided)

    def unsent(self) -> list[str]:
        with self.rows() as db:
            return [row[0] for row in db.execute("SELECT event_id FROM receipts WHERE next_at IS NOT NULL")]

    def answers(self) -> dict[tuple[str, str], str]:
        """(Gana, input) to the event that answers it, one of others perhaps."""
        with self.rows() as db:
            found = db.execute(
                "SELECT a.gana, a.key, o.event_id FROM answered a JOIN outbox o USING (run)"
                " WHERE a.ending = 'succeeded'"
            )
            return {(row["gana"], row["key"]): row["event_id"] for row in found}

    def faults(self, on_relay: dict[str, dict[str, Any]], known: Collection[str] = ()) -> list[str]:
        """Everything that a promise forbids.

        `on_relay`: all events by our keys, by id. `known`: those of them that a lost folder accounts for.
        """
        strangers = on_relay.keys() - set(known)
        with self.rows() as db:
            return [
                *self._not_decided_once(db),
                *self._sums_that_fail(db),
                *self._published_wrongly(db, strangers, on_relay),
                *self._answered_twice(on_relay),
                *self._not_heralded_once(db, on_relay),
                *_undelivered(db),
                *_traces_that_lie(db),
                *_cursors_behind(db),
            ]

    def endings(self) -> Counter[str]:
        with self.rows() as db:
            found = Counter(
                {row[0]: row[1] for row in db.execute("SELECT ending, count(*) FROM answered GROUP BY 1")}
            )
            found["held"] = db.execute("SELECT count(*) FROM held").fetchone()[0]
        return found

    def _not_decided_once(self, db: sqlite3.Connection) -> Iterator[str]:
        decisions = Counter(_decisions(db))
        wanted = {(gana, key) for key, watching in self.village.inputs.items() for gana in watching}
        for gana, key in wanted:
            if decisions[gana, key] != 1:
                yield f"{gana} decided {key} {decisions[gana, key]} times"
        for gana, key in decisions.keys() - wanted:
            if gana != HERALD:
                yield f"{gana} decided {key}, which is none of its inputs"

    def _sums_that_fail(self, db: sqlite3.Connection) -> Iterator[str]:
        """Heard on a Gana's surface = answered (by any ending, dead letters included) + held."""
        for gana, surface in self.surfaces().items():
            own = json.dumps([self.village.key_of(gana) for gana in self.village.bots])
            heard = db.execute(
                "SELECT count(*) FROM surfaces s JOIN notes n USING (seq) WHERE s.surface = ?"
                " AND n.author NOT IN (SELECT value FROM json_each(?))",
                (surface, own),
            ).fetchone()[0]
            answered = db.execute("SELECT count(*) FROM answered WHERE gana = ?", (gana,)).fetchone()[0]
            held = db.execute("SELECT count(*) FROM held WHERE gana = ?", (gana,)).fetchone()[0]
            if heard != answered + held:
                yield f"{gana} heard {heard} and decided {answered} + {held}"

    def surfaces(self) -> dict[str, str]:
        user = self.village.people[0].public_key().to_hex()
        return {
            "teller": f"group:{GROUP}",
            "second": f"group:{GROUP}",
            "helper": f"mentions:{self.village.key_of('helper')}",
            "fan": f"user:{user}",
        }

    def _published_wrongly(
        self, db: sqlite3.Connection, strangers: Collection[str], on_relay: Collection[str]
    ) -> Iterator[str]:
        """Each run that succeeded, exactly one event; nothing else by our keys anywhere."""
        events: defaultdict[int, list[str]] = defaultdict(list)
        for run, event_id in db.execute("SELECT run, event_id FROM outbox"):
            events[run].append(event_id)
        for row in db.execute("SELECT DISTINCT gana, run FROM answered WHERE ending = 'succeeded'"):
            published = [event_id for event_id in events[row["run"]] if event_id in on_relay]
            if len(published) != 1 or len(events[row["run"]]) != 1:
                yield f"run {row['run']} of {row['gana']} has {len(published)} events on the relay"
        ours = {event_id for of_run in events.values() for event_id in of_run}
        for event_id in set(strangers) - ours:
            yield f"{event_id} is on the relay and in no outbox"

    def _answered_twice(self, on_relay: dict[str, dict[str, Any]]) -> Iterator[str]:
        replies = Counter(
            (event["pubkey"], parent_of(event))
            for event in on_relay.values()
            if event["pubkey"] != self._herald()
        )
        for (key, parent), count in replies.items():
            if count > 1:
                yield f"{parent} has {count} replies by {key}"
            if parent not in self.village.inputs:
                yield f"a reply by {key} answers {parent}, which is no input"

    def _not_heralded_once(
        self, db: sqlite3.Connection, on_relay: dict[str, dict[str, Any]]
    ) -> Iterator[str]:
        if self.village.herald:
            said = sum(event["pubkey"] == self._herald() for event in on_relay.values())
            found = db.execute("SELECT ending FROM answered WHERE gana = ?", (HERALD,)).fetchall()
            endings = [row[0] for row in found]
            if len(endings) != 1 or said != (endings == ["succeeded"]):
                yield f"the herald decided {endings} and spoke {said} times"

    def _herald(self) -> str:
        return self.village.key_of(HERALD) if self.village.herald else ""


def parent_of(event: dict[str, Any]) -> str:
    """What a reply answers: the note marked `reply`, else the root."""
    marked = {tag[3]: tag[1] for tag in event["tags"] if tag[0] == "e" and len(tag) > 3}
    return str(marked.get("reply") or marked.get("root"))


def _decisions(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for row in db.execute("SELECT gana, key FROM answered UNION ALL SELECT gana, note_id FROM held"):
        yield row[0], row[1]


def _undelivered(db: sqlite3.Connection) -> Iterator[str]:
    for row in db.execute("SELECT event_id, fate FROM receipts"):
        if row["fate"] not in DELIVERED:
            yield f"{row['event_id']} was not delivered: {row['fate']}"


def _traces_that_lie(db: sqlite3.Connection) -> Iterator[str]:
    """Nothing is under way any more; every attempt at a turn has a number of its own, and its steps are its own."""
    for row in db.execute("SELECT run FROM runs WHERE ending = 'running'"):
        yield f"run {row['run']} is under way by the log"
    for row in db.execute("SELECT DISTINCT run FROM steps WHERE run NOT IN (SELECT run FROM runs)"):
        yield f"steps of run {row['run']} without the run"
    for row in db.execute(
        "SELECT gana, keys, attempt FROM runs r WHERE EXISTS (SELECT 1 FROM steps s WHERE s.run = r.run"
        " AND s.skill != '') GROUP BY gana, json_extract(keys, '$[0]'), attempt HAVING count(*) > 1"
    ):
        yield f"two attempts {row['attempt']} of {row['gana']} at {row['keys']}"


def _cursors_behind(db: sqlite3.Connection) -> Iterator[str]:
    found = db.execute(
        "SELECT c.gana, c.surface, c.seq FROM cursors c"
        " WHERE c.seq <= (SELECT max(n.seq) FROM surfaces n JOIN notes USING (seq)"
        "  WHERE n.surface = c.surface AND origin = 'relay')"
    )
    for row in found:
        yield f"the cursor of {row['gana']} stands at {row['seq']} although nothing is pending"
