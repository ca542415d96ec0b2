"""take: what it must look up first, and what is on disk when it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    NOW,
    RELAY,
    heard,
    hosted,
    hosted_on_mentions,
    mention,
    message,
    profile,
)
from uniun_bots.database.store import Store
from uniun_bots.graph.keep import keep
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.inputs.enabled import turn_on
from uniun_bots.inputs.take import FETCH_S, take
from uniun_bots.inputs.taken import Asked, Needs, Taken
from uniun_bots.nostr.event import Event
from uniun_bots.personas.hosted import HostedGana


class Desk:
    """Takes for one Gana over a real store; relays answer with what a test puts on them."""

    def __init__(self, store: Store, given: HostedGana | None = None) -> None:
        self.store, self.hosted = store, given or hosted()
        self.on_relays: list[Event] = []
        self.asked_for: list[Needs] = []

    async def hear(self, *events: Event) -> None:
        await self.store.write(lambda tx: turn_on(tx, self.hosted.id, NOW))
        await self.store.write(lambda tx: keep(tx, heard(*events)))

    async def find(self, needs: Needs, timeout_s: float) -> None:
        assert timeout_s == FETCH_S
        self.asked_for.append(needs)
        found = [
            one
            for one in self.on_relays
            if one.id in needs.notes or (one.kind == 0 and one.author in needs.profiles)
        ]
        await self.store.write(lambda tx: keep(tx, heard(*found, relay=RELAY)))
        await self.store.write(lambda tx: mark_checked(tx, needs.profiles, NOW))

    async def take(self, find: Callable[[Needs, float], Awaitable[None]] | None = None) -> Taken:
        def ask(looked_for: Collection[str]) -> Asked:
            return Asked(self.hosted, self.hosted.surface or "", None, NOW, own_keys([BOT]), (), looked_for)

        return await take(self.store, ask, find or self.find)


def texts(taken: Taken) -> list[str]:
    return [note.text for note in taken.turn.notes] if taken.turn else []


async def test_an_author_is_looked_up_once(store: Store) -> None:
    desk = Desk(store)
    await desk.hear(message("hello"))
    assert texts(await desk.take()) == ["hello"]
    assert texts(await desk.take()) == ["hello"]
    assert desk.asked_for == [Needs(profiles=(ALICE,))], "unknown is human, and remembered"


async def test_what_the_profile_says_decides(store: Store) -> None:
    desk = Desk(store)
    desk.on_relays = [profile(bot=True)]
    await desk.hear(message("beep"), message("hello", author=BOB))
    taken = await desk.take()
    assert texts(taken) == ["hello"]
    assert [one.setting for one in taken.held] == ["input.allow_bots"]


async def test_a_parent_is_looked_for_once_whether_it_is_found_or_not(store: Store) -> None:
    desk = Desk(store, hosted_on_mentions())
    there, gone = mention("when?", author=BOB, at=NOW - 500), mention("and back?", author=BOB)
    desk.on_relays = [there]
    await desk.hear(mention("I wonder too", answers=there), mention("well?", answers=gone))
    taken = await desk.take()
    assert texts(taken) == ["well?"], "copied along from a parent that was found; meant where none was"
    assert sorted(note_id for needs in desk.asked_for for note_id in needs.notes) == sorted(
        (there.id, gone.id)
    )


async def test_what_the_guards_held_is_on_disk_when_it_returns(store: Store) -> None:
    desk = Desk(store)
    await desk.hear(message("stop", answers=message("at nine", author=BOT)), message("#nobot"))
    await desk.hear(message("at nine", author=BOT))
    taken = await desk.take()
    rows = await store.read(lambda tx: tx.execute("SELECT setting FROM held ORDER BY setting").fetchall())
    assert [row[0] for row in rows] == sorted(one.setting for one in taken.held)
    assert await store.read(lambda tx: tx.execute("SELECT author FROM mutes").fetchone()[0]) == ALICE
    assert await store.read(lambda tx: tx.execute("SELECT seq FROM cursors").fetchone()[0]) == 4


async def test_what_was_decided_while_relays_were_asked_is_seen(store: Store) -> None:
    desk = Desk(store)
    await desk.hear(message("hello"))

    async def paused_meanwhile(needs: Needs, timeout_s: float) -> None:
        await desk.find(needs, timeout_s)
        await store.write(lambda tx: tx.execute("UPDATE ganas SET paused = 'by a person'"))

    assert await desk.take(paused_meanwhile) == Taken()
