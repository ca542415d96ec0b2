"""A host that is killed anywhere goes on from its rows: no input is lost, none is answered twice.

UNIUN_BOTS_FORCE=1 selects the long form, UNIUN_BOTS_SEED a seed that was printed before.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.flow.conftest import Tell
from tests.force.siege import Siege, besieged
from uniun_bots.failpoints import NAMES

LONG = bool(os.environ.get("UNIUN_BOTS_FORCE"))
KILLS_PER_FAILPOINT = 20 if LONG else 5
RANDOM_KILLS = 200 if LONG else 20
INPUTS_PER_LIFE = 5
INPUTS = 100
LONGEST_LIFE_S = 0.8
pytestmark = [pytest.mark.force, pytest.mark.timeout(1800 if LONG else 150)]


async def test_a_kill_at_any_step_boundary_loses_and_doubles_nothing(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    """E04: between the model's answer and the relays too."""
    deaths: Counter[str] = Counter()
    chance = random.Random(seed)
    plan = [name for name in NAMES for _ in range(KILLS_PER_FAILPOINT)]
    chance.shuffle(plan)
    async with besieged(tmp_path / "village", seed, slots=6) as siege:
        for name in plan:
            await _die_at(siege, name, nth=chance.choice((1, 1, 2, 3)))
            deaths[name] += 1
        await siege.post(max(0, INPUTS - len(siege.village.inputs)))
        faults = await siege.settle()
        tell(*_account(siege, seed), f"killed at: {dict(deaths)}")
    assert not faults, (seed, faults)
    assert all(deaths[name] >= 5 and siege.hits[name] >= 5 for name in NAMES)


async def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    async with besieged(tmp_path / "village", seed) as siege:
        for number in range(RANDOM_KILLS):
            await _die_at_random(siege, chance)
            if number % 5 == 4:
                await _leave_at_random(siege, chance)
        await siege.post(max(0, INPUTS - len(siege.village.inputs)))
        faults = await siege.settle()
        tell(*_account(siege, seed))
    assert not faults, (seed, faults)
    assert siege.kills == RANDOM_KILLS
    assert siege.inside * 2 >= siege.kills, f"seed {seed}: {siege.inside} of {siege.kills} inside"


async def test_a_full_disk_stops_the_work_and_room_for_more_lets_it_go_on(tmp_path: Path, seed: int) -> None:
    """Writing fails as on a full disk, in the middle of work; the same host goes on when there is room again."""
    async with besieged(tmp_path / "village", seed) as siege:
        child = await siege.start(counted=False)
        await child.says("hosting")
        await siege.post(16)
        await siege.until(lambda: siege.ledger.endings()["succeeded"] >= 4)
        full = siege.village.database.with_name("uniun-bots.sqlite-wal").stat().st_size
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        await child.says("store: commit failed")
        left = siege.ledger.undecided()
        await asyncio.sleep(2.5)  # long enough for every run under way to end, and to find no room
        assert len(left) > 4
        assert siege.ledger.undecided() == left
        assert not child.code.done(), child.said.read_text()[-2000:]
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        await siege.until(lambda: not siege.ledger.undecided() and not siege.ledger.unsent(), 40)
        await siege.stop(child)
        assert not await siege.faults()


async def test_a_start_on_a_full_disk_ends_with_one_line_and_loses_nothing(tmp_path: Path, seed: int) -> None:
    async with besieged(tmp_path / "village", seed) as siege:
        child = await siege.start()
        await child.says("hosting")
        await siege.post(10)
        await siege.kill(child)
        child = await siege.start(counted=False, most_bytes=512)
        assert await child.ended(20), "it hangs"
        assert child.code.result() == 1
        assert "Traceback" not in child.said.read_text()
        assert not await siege.settle()


async def test_a_restored_backup_answers_nothing_a_second_time(tmp_path: Path, seed: int) -> None:
    """What was said after the backup stands on the relay by our own keys, and counts."""
    async with besieged(tmp_path / "village", seed, slots=1, herald=False) as siege:
        child = await siege.start()
        await child.says("hosting")
        await siege.post(10)
        await siege.until(lambda: siege.ledger.endings()["succeeded"] >= 3)
        await siege.back_up(tmp_path / "copy.sqlite")
        await siege.post(30)
        await siege.until(lambda: not siege.ledger.undecided() and not siege.ledger.unsent(), 40)
        await siege.kill(child)
        said = siege.ledger.answers()
        siege.restore(tmp_path / "copy.sqlite")
        await siege.post(5)
        faults = await siege.settle(known=said.values())
        again = siege.ledger.answers()
        assert not faults, (seed, faults)
        assert not [key for key, event_id in again.items() if said.get(key, event_id) != event_id]
        assert siege.ledger.endings()["elsewhere"] > 10


async def _die_at(siege: Siege, name: str, nth: int) -> None:
    child = await siege.start(f"{name}:{nth}")
    await siege.post()
    while not await child.ended(0.2):
        await siege.post()
    assert child.code.result() == -signal.SIGKILL, child.said.read_text()[-2000:]
    siege.account()


async def _die_at_random(siege: Siege, chance: random.Random) -> None:
    """Mostly while it works, sometimes while it starts; half of the inputs come while nobody is there."""
    await siege.post(INPUTS_PER_LIFE // 2)
    child = await siege.start()
    if chance.random() < 0.8:
        await child.says("hosting")
    await siege.post(INPUTS_PER_LIFE - INPUTS_PER_LIFE // 2)
    await asyncio.sleep(chance.uniform(0.0, LONGEST_LIFE_S))  # the random moment itself
    await siege.kill(child)


async def _leave_at_random(siege: Siege, chance: random.Random) -> None:
    child = await siege.start()
    await siege.post()
    await asyncio.sleep(chance.uniform(0.0, LONGEST_LIFE_S))
    await siege.stop(child)
    siege.look_at_cursors()


def _account(siege: Siege, seed: int) -> tuple[str, ...]:
    return (
        f"seed {seed}: {siege.kills} kills, {len(siege.village.inputs)} inputs of {len(siege.village.people)}"
        f" authors, decisions {dict(siege.ledger.endings())}",
        f"inside a run or a send: {siege.inside} of {siege.kills}",
        f"hits: {dict(siege.hits)}",
    )
