"""Mode `approve` under kill -9: exactly one event for each yes, none without, and every input decided once.

UNIUN_BOTS_FORCE=1 selects the long form, UNIUN_BOTS_SEED a seed that was printed before.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest

from tests.flow.conftest import Tell
from tests.force.siege import Siege, besieged
from uniun_bots.errors import UniunError
from uniun_bots.failpoints import ACCEPT_NAMES, NAMES
from uniun_bots.host.control.ask import ask_host

LONG = bool(os.environ.get("UNIUN_BOTS_FORCE"))
KILLS_PER_FAILPOINT = 20 if LONG else 3
KILLS_UNDER_THE_LEASE = 10 if LONG else 2
STEPS = NAMES[: NAMES.index("closed") + 1] if LONG else ("ran", "closing", "closed")
RANDOM_KILLS = 100 if LONG else 5
pytestmark = [pytest.mark.force, pytest.mark.timeout(1800 if LONG else 120)]


def waiting(siege: Siege) -> list[int]:
    with siege.ledger.rows() as db:
        return [row[0] for row in db.execute("SELECT number FROM approvals WHERE state = 'waiting'")]


async def say(siege: Siege, word: str, number: int) -> bool:
    """False when the host died under it."""
    try:
        where = siege.village.database.parent
        await ask_host(where, "POST", f"/approvals/{word}", {"number": number})
    except (UniunError, OSError):
        return False
    return True


async def drafts(siege: Siege, count: int = 1) -> list[int]:
    await siege.until(lambda: len(waiting(siege)) >= count, 40)
    return waiting(siege)


async def finish(siege: Siege) -> list[str]:
    """A last life without harm, in which a person says yes to all that waits. Returns what a promise forbids."""
    child = await siege.start()
    await child.says("hosting")
    await siege.until(lambda: not siege.ledger.undecided(), 60)
    for number in waiting(siege):
        assert await say(siege, "accept", number)
    await siege.until(lambda: not siege.ledger.unsent(), 40)
    await siege.stop(child)
    return [*await siege.faults(), *_not_one_for_each_yes(siege, await _published(siege))]


async def _published(siege: Siege) -> set[str]:
    return set(await siege.wire.by([siege.village.key_of(gana) for gana in siege.village.bots]))


def _not_one_for_each_yes(siege: Siege, published: set[str]) -> list[str]:
    with siege.ledger.rows() as db:
        rows = db.execute("SELECT number, state, event_id, run FROM approvals").fetchall()
        runs = db.execute(
            "SELECT count(DISTINCT gana || run) FROM answered WHERE ending = 'succeeded'"
        ).fetchone()[0]
    said_yes = {row["event_id"] for row in rows if row["state"] == "accepted"}
    faults = [f"approval {row['number']} is {row['state']}" for row in rows if row["state"] != "accepted"]
    if said_yes != published:
        faults.append(f"{len(said_yes)} were accepted and {len(published)} are on the relay")
    if runs != len(rows):
        faults.append(f"{runs} runs succeeded and left {len(rows)} drafts")
    return faults


async def test_a_kill_anywhere_around_a_yes_sends_it_once_or_leaves_it_waiting(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    async with besieged(tmp_path / "village", seed, latency=(0, 20), herald=False, mode="approve") as siege:
        for name in STEPS:
            await _die_in_a_run(siege, name)
        for name in ACCEPT_NAMES * KILLS_PER_FAILPOINT:
            await _die_at_a_yes(siege, name)
        for name in ACCEPT_NAMES * KILLS_UNDER_THE_LEASE:
            await _die_alone(siege, name)
        faults = await finish(siege)
        tell(f"seed {seed}: {siege.kills} kills, {len(siege.village.inputs)} inputs")
    assert not faults, (seed, faults)


async def test_kills_at_random_moments_send_each_yes_once(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with besieged(tmp_path / "village", seed, latency=(0, 20), herald=False, mode="approve") as siege:
        for _ in range(RANDOM_KILLS):
            child = await siege.start()
            await child.says("hosting")
            await siege.post(4)
            found = await drafts(siege, 2)
            asked = [asyncio.create_task(say(siege, "accept", number)) for number in found + found]
            await asyncio.sleep(chance.uniform(0.0, 0.3))  # the random moment itself
            await siege.kill(child)
            await asyncio.gather(*asked)
        faults = await finish(siege)
    assert not faults, (seed, faults)


async def _die_in_a_run(siege: Siege, name: str) -> None:
    child = await siege.start(f"{name}:1")
    while not await child.ended(0.2):
        await siege.post()
    assert child.code.result() == -signal.SIGKILL, child.said.read_text()[-2000:]
    siege.account()


async def _die_at_a_yes(siege: Siege, name: str) -> None:
    child = await siege.start(f"{name}:1")
    await child.says("hosting")
    await siege.post(2)
    number = (await drafts(siege))[0]
    assert not await say(siege, "accept", number)
    assert await child.ended(10)
    siege.account()
    assert (number in waiting(siege)) == (name == "accepting")


async def _die_alone(siege: Siege, name: str) -> None:
    """Without a host, under the lease."""
    if not waiting(siege):
        child = await siege.start()
        await child.says("hosting")
        await siege.post(4)
        await drafts(siege)
        await siege.stop(child)
    number = waiting(siege)[0]
    environ = siege.village.environ() | {"UNIUN_BOTS_FAILPOINTS": f"{name}:1"}
    command = ["approvals", "accept", str(number), "--dir", str(siege.village.folder)]
    child = await siege.nursery.bear(command, environ)
    assert await child.ended(20)
    assert child.code.result() == -signal.SIGKILL, child.said.read_text()[-2000:]
    assert (number in waiting(siege)) == (name == "accepting")
