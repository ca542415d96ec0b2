"""What the Manas name on relays: read as knowledge, from the start of time, and never a reason to answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from uniun_bots.host.roster import Roster, host_relays
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.manas import LONG_FORM, Manas
from uniun_bots.personas.project import Project
from uniun_bots.relays.interest import FROM_THE_START, Interest

AUTHOR_KINDS = (1, LONG_FORM)
IDS_IN_ONE = 200


def knowledge_interests(project: Project, roster: Roster, known: Collection[str]) -> list[Interest]:
    """`known`: ids that are notes here already, and are not asked for again."""
    wanted: list[Interest] = []
    for manas in project.manas:
        relays = relays_of(manas, project, roster)
        wanted += [Interest(one, relays, FROM_THE_START) for one in _filters(manas, known)]
    return wanted


def relays_of(manas: Manas, project: Project, roster: Roster) -> tuple[str, ...]:
    """Those of the Ganas that use it; of nobody's, those of the host."""
    users = [hosted for hosted in roster.ganas.values() if manas.name in hosted.gana.manas]
    found = dict.fromkeys(url for hosted in users for url in hosted.reads)
    return tuple(found or (address.url for address in host_relays(project)))


def ids_named(project: Project) -> list[str]:
    return list(dict.fromkeys(note_id for manas in project.manas for note_id in manas.notes))


def _filters(manas: Manas, known: Collection[str]) -> Iterator[Filter]:
    """One for each thing, so that each has a mark of its own: the gateway asks for many of them at once."""
    excluded = manas.exclude
    for author in manas.authors:
        if author not in excluded.authors:
            yield Filter(kinds=AUTHOR_KINDS, authors=(author,))
            yield Filter(kinds=(5,), authors=(author,))
    for group in manas.groups:
        if group not in excluded.groups:
            yield Filter(kinds=(42,), tags=(("e", (group,)),))
    for address in manas.addresses:
        kind, author, name = address.split(":", 2)
        yield Filter(kinds=(int(kind),), authors=(author,), tags=(("d", (name,)),))
        yield Filter(kinds=(5,), authors=(author,))
    missing = [note_id for note_id in manas.notes if note_id not in known]
    for start in range(0, len(missing), IDS_IN_ONE):
        yield Filter(ids=tuple(missing[start : start + IDS_IN_ONE]))
