"""The second transaction of mode `approve`: all of it or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journal.test_close import APPROVING, DRAFTED, Desk
from tests.journal.test_close import desk as desk
from tests.publishing.values import NOW, SIGNER, said
from uniun_bots.approvals import queue
from uniun_bots.approvals.approval import Settled, State
from uniun_bots.approvals.payload import Unsigned
from uniun_bots.journal.accept import accept
from uniun_bots.publishing.pin import draft_reply, finish
from uniun_bots.publishing.pinned import Pinned

ACCEPTED = DRAFTED | {"notes": 2, "outbox": 1, "receipts": 2}


async def drafted(desk: Desk) -> tuple[Unsigned, Pinned]:
    taken, outcome = await desk.turn(), said("High water at noon.")
    unsigned = draft_reply(APPROVING, taken, outcome)
    await desk.close(taken, outcome, unsigned, APPROVING)
    return unsigned, await finish(unsigned, SIGNER, difficulty=0, now=NOW + 60)


@pytest.mark.parametrize("owner", ["settle", "enqueue", "keep_note", "failpoints.hit"])
async def test_when_one_owner_fails_the_draft_still_waits(
    desk: Desk, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsigned, pinned = await drafted(desk)

    def fails(*_: object, **__: object) -> Any:
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(f"uniun_bots.journal.accept.{owner}", fails)
        with pytest.raises(RuntimeError):
            await desk.store.write(lambda tx: accept(tx, 1, unsigned, pinned, NOW + 60))
    assert await desk.counts() == DRAFTED
    assert (await desk.store.read(lambda tx: queue.approval(tx, 1))).state is State.WAITING
    await desk.store.write(lambda tx: accept(tx, 1, unsigned, pinned, NOW + 60))
    assert await desk.counts() == ACCEPTED


async def test_a_second_yes_leaves_nothing(desk: Desk) -> None:
    unsigned, pinned = await drafted(desk)
    await desk.store.write(lambda tx: accept(tx, 1, unsigned, pinned, NOW + 60))
    again = await finish(unsigned, SIGNER, difficulty=0, now=NOW + 61)
    with pytest.raises(Settled, match="approval 1 is accepted already"):
        await desk.store.write(lambda tx: accept(tx, 1, unsigned, again, NOW + 61))
    assert await desk.counts() == ACCEPTED
