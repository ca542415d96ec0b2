"""Bring the rows of all Manas and drafts in line with the files of the project."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator

from uniun_bots.graph.drafts import Changes, sync_drafts
from uniun_bots.graph.manas import Rule, forget_manas, set_manas
from uniun_bots.personas.draft_files import DraftFiles
from uniun_bots.personas.manas import Manas, Named


def bring_manas(
    tx: sqlite3.Connection, manas: Collection[Manas], files: DraftFiles, at: float
) -> tuple[Changes, list[str]]:
    """What changed among the drafts, and the names of the Manas that name something else than before."""
    drafts = sync_drafts(tx, files.drafts, at)
    changed = [
        one.name
        for one in manas
        if set_manas(
            tx,
            one.name,
            one.description or "",
            [*_rules(one, files.members[one.name])],
            [*_rules(one.exclude, files.excluded[one.name])],
        )
    ]
    forget_manas(tx, [one.name for one in manas])
    return drafts, changed


def _rules(named: Named, draft_ids: Iterable[str]) -> Iterator[Rule]:
    yield from (Rule("note", note_id) for note_id in (*named.notes, *draft_ids))
    yield from (Rule("author", author) for author in named.authors)
    yield from (Rule("topic", topic) for topic in named.topics)
    yield from (Rule("group", group) for group in named.groups)
    yield from (Rule("address", address) for address in named.addresses)
