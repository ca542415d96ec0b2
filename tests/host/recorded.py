"""A recording: some minutes in a group and around it, with everything that guards and turns care about."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.factory import NOW
from tests.host.stage import GROUP, profile
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

IN_GROUP = ("e", GROUP, "", "root")


@dataclass
class Recorder:
    people: dict[str, LocalSigner] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def person(self, name: str) -> LocalSigner:
        return self.people.setdefault(name, LocalSigner(new_secret()))

    async def says(self, name: str, at: float, text: str, *tags: tuple[str, ...], kind: int = 42) -> Event:
        draft = Draft(kind, text, tags or (IN_GROUP,), int(NOW + at))
        self.events.append(await self.person(name).sign(draft))
        return self.events[-1]


async def an_hour(tide: str) -> Recorder:
    """`tide`: public key of the persona that is mentioned."""
    recorder = Recorder()
    says = recorder.says
    await says("robot", 0, profile(name="Robot", bot=True), ("client", "x"), kind=0)
    question = await says("alice", 10, "When is high water?")
    await says("alice", 11, "And when is low water?")
    await says("robot", 60, "Beep, what is the tide?")
    await says("bob", 61, "Nobody here? " * 700)
    await says("bob", 120, "Alice, I think at noon.", IN_GROUP, ("e", question.id, "", "reply"))
    gone = await says("carol", 180, "A question I regret?")
    await says("carol", 181, "", ("e", gone.id), kind=5)
    await says("dora", 300, "Hello there, are you awake?", ("p", tide), kind=1)
    await says("dora", 301, "somewhere else", ("t", "sea"), kind=1)
    await says("erik", 360, "stop", ("p", tide), kind=1)
    await says("erik", 400, "Are you still there?", ("p", tide), kind=1)
    return recorder
