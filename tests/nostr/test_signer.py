from __future__ import annotations

import asyncio
import copy
import pickle

import pytest

from tests.nostr.samples import BOT, BOT_NSEC, BOT_SECRET, CHANNEL
from uniun_bots.errors import BadEvent
from uniun_bots.nostr.event import Draft
from uniun_bots.nostr.event_id import event_id
from uniun_bots.nostr.read import SIZE_CAP_BYTES, verify
from uniun_bots.nostr.secret import read_secret
from uniun_bots.nostr.signer import HARDEST, LocalSigner, Signer, difficulty_of, mine


def a_draft(content: str = "the tide is low at 6", *tags: tuple[str, ...]) -> Draft:
    return Draft(kind=42, content=content, tags=tags, created_at=1_750_000_000)


@pytest.fixture
def signer() -> LocalSigner:
    return LocalSigner(read_secret(BOT_NSEC))


async def test_a_signed_event_is_the_draft_with_nothing_changed(signer: LocalSigner) -> None:
    # A second `p` of the same person, a tag of one word and our own key are what builders like to drop.
    tags = (
        ("e", CHANNEL, "wss://r.example", "root"),
        ("p", BOT),
        ("p", BOT),
        ("alt",),
        ("x", "", "\x00é\u2028"),
    )
    anyone: Signer = signer
    event = await anyone.sign(a_draft('hi 🙂 <b>&/\\"\n\x07', *tags))
    assert verify(event)
    assert (event.author, event.kind, event.created_at, event.tags) == (BOT, 42, 1_750_000_000, tags)
    assert event.content == 'hi 🙂 <b>&/\\"\n\x07'


@pytest.mark.parametrize(
    "draft",
    [
        a_draft("half \ud83d"),
        a_draft("fine", ()),
        Draft(kind=70000, content="", tags=(), created_at=1),
        Draft(kind=1, content="", tags=(), created_at=-1),
        a_draft("x" * (SIZE_CAP_BYTES)),
    ],
    ids=["surrogate", "empty tag", "kind", "time", "size"],
)
async def test_a_draft_that_others_would_refuse_is_not_signed(signer: LocalSigner, draft: Draft) -> None:
    with pytest.raises(BadEvent):
        await signer.sign(draft)


def test_a_signer_does_not_show_or_hand_on_its_key(signer: LocalSigner) -> None:
    assert repr(signer) == str(signer) == f"LocalSigner(public_key='{BOT}')"
    assert BOT_SECRET not in repr(signer.keys) + str(signer.keys)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            attempt(signer)


async def test_a_mined_draft_has_the_bits_and_nothing_else_changed(signer: LocalSigner) -> None:
    draft = a_draft("hi", ("p", BOT), ("nonce", "7", "99"))
    mined = await mine(draft, BOT, 12)
    assert mined.tags[:-1] == (("p", BOT),)
    assert mined.tags[-1][0] == "nonce" and mined.tags[-1][2] == "12"
    assert (mined.content, mined.kind, mined.created_at) == ("hi", 42, draft.created_at)
    event = await signer.sign(mined)
    assert difficulty_of(event.id) >= 12 and event.id == event_id(BOT, mined) and verify(event)


async def test_mining_leaves_the_event_loop_free() -> None:
    working = asyncio.create_task(mine(a_draft(), BOT, 18))
    turns = 0
    while not working.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 50
    assert difficulty_of(event_id(BOT, await working)) >= 18


async def test_no_difficulty_means_no_work_and_no_nonce() -> None:
    assert await mine(a_draft("hi", ("nonce", "1", "8")), BOT, 0) == a_draft("hi")


@pytest.mark.parametrize(
    ("draft", "difficulty"),
    [(a_draft(), HARDEST + 1), (a_draft("half \ud83d"), 4), (a_draft("hi", ()), 4)],
    ids=["out of reach", "surrogate", "empty tag"],
)
async def test_work_that_cannot_be_done_is_refused(draft: Draft, difficulty: int) -> None:
    with pytest.raises(BadEvent):
        await mine(draft, BOT, difficulty)


def test_difficulty_counts_leading_zero_bits() -> None:
    assert difficulty_of("000000000e9d97a1ab09fc381030b346cdd7a142ad57e6df0b46dc9bef6c7e2d") == 36
    assert difficulty_of("f" * 64) == 0
    assert difficulty_of("0" * 64) == 256
