"""What only shows when the files of a folder are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from uniun_bots.errors import Fault
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.relay_set import RelaySet
from uniun_bots.personas.scalars import did_you_mean
from uniun_bots.personas.settings import HostSettings
from uniun_bots.personas.sheet import Loc, Sheet
from uniun_bots.personas.shown import shown


@dataclass(frozen=True, slots=True)
class Written:
    """A Gana with the sheet it was read from."""

    gana: Gana
    sheet: Sheet
    broken: frozenset[str]

    def faults(self, key: str, messages: Iterable[str], *entry: int) -> Iterator[Fault]:
        if key not in self.broken:
            loc: Loc = (key, *entry)
            yield from (self.sheet.fault(loc, message) for message in messages)


Complaints = Callable[[Gana, HostSettings | None], Iterable[tuple[int, str]]]
"""What is wrong with entries of a persona's `skills`: position and message."""


def no_complaints(gana: Gana, settings: HostSettings | None) -> Iterable[tuple[int, str]]:
    """For whoever does not look at skills."""
    return ()


def gana_faults(
    written: Written,
    settings: HostSettings | None,
    sets: Mapping[str, RelaySet],
    known_sets: Iterable[str],
    known_manas: Iterable[str],
    complaints: Complaints = no_complaints,
) -> Iterator[Fault]:
    """`settings` is None when host.yaml cannot be read; what is `known` are names, also of faulty files."""
    gana = written.gana
    if not {"skills", "agentic"} & written.broken:
        for at, message in complaints(gana, settings):
            yield written.sheet.fault(("skills", at), message)
    if gana.relays is not None:
        yield from written.faults("relays", relay_set_messages(gana.relays, known_sets))
    for number, name in enumerate(gana.manas):
        yield from written.faults("manas", _manas_messages(name, known_manas), number)
    if settings is not None and gana.model != "default" and gana.model not in settings.engines:
        known = list(settings.engines)
        close = did_you_mean(get_close_matches(gana.model, known, 1, 0.6))
        told = (
            f"no engine {shown(gana.model)} in host.yaml{close}: write `default`, or add it under `engines`"
        )
        yield from written.faults("model", [told])
    if settings is not None and settings.proxy and gana.webhook:
        told = "a webhook cannot be reached through the host's `proxy`, and nothing goes out beside it: remove it"
        yield from written.faults("webhook", [told])
    used = sets.get(gana.relays or (settings.relays if settings else ""))
    if used is not None:
        yield from written.faults("relays", _direction_messages(gana, used))


def relay_set_messages(name: str, known: Iterable[str]) -> Iterator[str]:
    names = sorted(known)
    if name not in names:
        close = did_you_mean(get_close_matches(name, names, 1, 0.6))
        yield f"no relay set {shown(name)}{close}: write relays/{name}.yaml, or use one of {', '.join(names)}"


def _manas_messages(name: str, known: Iterable[str]) -> Iterator[str]:
    names = sorted(known)
    if name not in names:
        close = did_you_mean(get_close_matches(name, names, 1, 0.6))
        others = f", or use one of {', '.join(names)}" if names else ""
        yield f"no Manas {shown(name)}{close}: write manas/{name}.yaml{others}"


def doubles(ganas: Iterable[Written]) -> Iterator[Fault]:
    """Two Ganas that would answer the same note with the same name."""
    seen: dict[tuple[str, str, str | None], Gana] = {}
    for written in ganas:
        gana = written.gana
        if gana.input is None or {"identity", "input"} & written.broken:
            continue
        where = (gana.identity, str(gana.input.type), gana.input.ref)
        if first := seen.setdefault(where, gana) if where in seen else None:
            told = f"`{first.id}` watches the same place with the same identity: both will answer"
            yield from written.faults("identity", [told])
        seen.setdefault(where, gana)


def _direction_messages(gana: Gana, used: RelaySet) -> Iterator[str]:
    if not any(relay.write for relay in used.relays):
        yield f"relay set `{used.name}` has no relay with `write: true`: nothing can be published"
    if gana.input is not None and not any(relay.read for relay in used.relays):
        yield f"relay set `{used.name}` has no relay with `read: true`: nothing can be heard"
