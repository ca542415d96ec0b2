"""Installed skills are watched: what its author takes back, what is over, and what people whom the owner follows call
malicious, is disabled at once and told. It stays where it is: removing it is for a person."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from uniun_bots.errors import UniunError
from uniun_bots.host.premises import Premises
from uniun_bots.host.roster import Roster, host_relays
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.personas.project import Project
from uniun_bots.personas.shown import shown
from uniun_bots.relays.heard import Heard
from uniun_bots.relays.hints import public_hints
from uniun_bots.relays.interest import FROM_THE_START, Interest
from uniun_bots.sharing.event import SKILL, Manifest, read_manifest
from uniun_bots.sharing.fetch import Where, deletion_filters, newest
from uniun_bots.sharing.search import read_labels
from uniun_bots.sharing.signer_info import followed_by, is_malicious
from uniun_bots.sharing.verify import reason_of, takes_back
from uniun_bots.skills.installed import disable
from uniun_bots.skills.load_installed import notice
from uniun_bots.skills.provenance import Installed, Origin, State
from uniun_bots.skills.registry import Registration
from uniun_bots.skills.skill import Source

log = logging.getLogger("uniun_bots.flow")

ASK_EVERY_S = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Watched:
    skill: Installed
    origin: Origin
    manifest: Manifest

    @property
    def names(self) -> tuple[str, ...]:
        """What a deletion or a label may name."""
        return (self.origin.event_id, self.manifest.address, self.manifest.pinned_address)


class SkillWatch:
    """Hears what comes in by itself, and asks the relays at the start, after a reload and every few hours."""

    def __init__(self, premises: Premises) -> None:
        self._at = premises
        self._watched: tuple[Watched, ...] = ()
        self._relays: tuple[str, ...] = ()
        self._trusted: frozenset[str] = frozenset()
        self._heard: list[Event] = []
        self._news = asyncio.Event()
        self._asks = True
        self.busy = True
        """Until the first look is over, and whenever something is to be weighed."""

    async def interests(self, project: Project) -> list[Interest]:
        """For the roster of now."""
        self._watched = tuple(self._usable())
        configured = [address.url for address in host_relays(project)]
        hints = [url for one in self._watched for url in one.origin.relays if url not in configured]
        public = await public_hints(hints) if hints and project.settings.proxy is None else []
        self._relays = tuple(dict.fromkeys((*configured, *public)))
        self._asks = self.busy = True
        self._news.set()
        return [Interest(one, self._relays, FROM_THE_START) for one in self._filters()]

    def _usable(self) -> Iterator[Watched]:
        now, form = self._at.clock.now(), replace(SKILL, kind=self._at.settings.skill_kind)
        for one in self._at.roster.installed:
            if one.origin is None or one.state_now(now) is not State.ACTIVE:
                continue
            try:
                yield Watched(one, one.origin, read_manifest(read_event(one.origin.raw), form))
            except UniunError as fault:
                log.error("skill left out: %s cannot be watched: %s", one.name, fault)

    def _filters(self) -> Iterator[Filter]:
        for one in self._watched:
            yield from deletion_filters(one.manifest.event)
            if self._at.settings.owner:
                yield Filter(kinds=(1985,), tags=(("e", one.names[:1]),))
                yield Filter(kinds=(1985,), tags=(("a", one.names[1:]),))

    def notice(self, heard: Sequence[Heard]) -> None:
        """Of all that is kept, what is about an installed skill."""
        if not self._watched:
            return
        named = {name for one in self._watched for name in one.names}
        for event in (one.event for one in heard if one.event.kind in (5, 1985)):
            if named & {*event.tag_values("e"), *event.tag_values("a")}:
                self._heard.append(event)
                self.busy = True
                self._news.set()

    async def step(self) -> None:
        self._news.clear()
        self.busy = bool(self._watched)
        events = await self._ask() if self._asks else []
        await self.weigh(events)
        self.busy = self._news.is_set()
        await self._rest()

    async def weigh(self, asked: Sequence[Event] = ()) -> None:
        """Decide by what was heard, what relays said when asked, and the time."""
        heard, self._heard = self._heard, []
        now = self._at.clock.now()
        for one in self._watched:
            if verdict := self._verdict(one, [*heard, *asked], now):
                await self._disable(one, *verdict, now)

    def _verdict(self, one: Watched, events: Sequence[Event], now: float) -> tuple[State, str] | None:
        if one.origin.expires_at <= now:
            return State.EXPIRED, ""
        for event in events:
            if takes_back(event, one.manifest):
                return State.REVOKED, reason_of(event)
            if event.author in self._trusted and event.id not in one.origin.labels:
                for label in read_labels(event):
                    if is_malicious(label) and label.target in one.names:
                        said = shown(", ".join(label.said), 100)
                        return State.LABELLED, f"{spell_npub(event.author)} calls it {said}"
        return None

    async def _disable(self, one: Watched, state: State, reason: str, now: float) -> None:
        name, event_id = one.skill.name, one.origin.event_id
        await self._at.store.write(lambda tx: disable(tx, name, event_id, state, reason, now))
        self._watched = tuple(other for other in self._watched if other is not one)
        told = f"{name}: {notice(one.skill, state, reason)}"
        self._at.roster = without(self._at.roster, {name}, told)
        log.warning("skill disabled: %s", told)

    async def _ask(self) -> list[Event]:
        """Relays tell of deletions only when asked, and what came in before a crash may not have been weighed."""
        self._asks = False
        filters, owner = list(self._filters()), self._at.settings.owner
        if not filters:
            return []
        if owner:
            filters.append(Filter(kinds=(3,), authors=(owner,)))
        answers = await Where(self._at.gateway, self._relays).ask(*filters)
        events = [event for some in answers.values() for event in some]
        follows = followed_by(newest(event for event in events if event.kind == 3 and event.author == owner))
        if owner:
            self._trusted = frozenset({owner, *(follows or self._trusted)})
        return events

    async def _rest(self) -> None:
        now = self._at.clock.now()
        until = min([now + ASK_EVERY_S, *(float(one.origin.expires_at) for one in self._watched)])
        news = asyncio.ensure_future(self._news.wait())
        alarm = asyncio.ensure_future(self._at.clock.sleep_until(until))
        try:
            await asyncio.wait({news, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            alarm.cancel()
        self._asks = self._asks or self._at.clock.now() >= now + ASK_EVERY_S


def without(roster: Roster, names: Collection[str], *told: str) -> Roster:
    """No run that begins now has these any more; `told` says why."""
    skills = {
        gana: Registration(
            tuple(
                one
                for one in registration.skills
                if one.skill.source is not Source.INSTALLED or one.skill.name not in names
            )
        )
        for gana, registration in roster.skills.items()
    }
    return replace(roster, skills=skills, left_out=(*roster.left_out, *told))
