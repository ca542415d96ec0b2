from __future__ import annotations

from uniun_bots.inference.policy.fair_pool import FairPool
from uniun_bots.inference.policy.line import choose
from uniun_bots.inference.policy.ticket import Ticket


def enter(pool: FairPool, owner: str, order: int, model: str = "m") -> Ticket:
    ticket = Ticket("gana", owner, model, order=order)
    pool.enter(owner, 0.0)
    pool.add(ticket)
    return ticket


def test_what_sums_of_floats_differ_by_does_not_decide() -> None:
    pool = FairPool(300.0)
    first, _ = enter(pool, "a", 1), enter(pool, "b", 2)
    for _ in range(3):
        pool.bill("a", 0.1)
    pool.bill("b", 0.3)
    choice = choose(pool, "m", 60.0)
    assert choice and choice.ticket is first


def test_of_the_jobs_of_one_gana_for_two_models_the_older_is_first() -> None:
    pool = FairPool(300.0)
    enter(pool, "a", 2, "m")
    older = enter(pool, "a", 1, "n")
    choice = choose(pool, None, 60.0)
    assert choice and choice.ticket is older


def test_accounts_that_were_left_for_long_are_forgotten() -> None:
    pool = FairPool(300.0)
    for n in range(1000):
        pool.enter(f"gana-{n}", float(n))
        pool.leave(f"gana-{n}", float(n))
    assert len(pool.runtimes()) <= 301
