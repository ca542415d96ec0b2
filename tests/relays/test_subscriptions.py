from __future__ import annotations

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.subscriptions import MOST_REQS, Subscriptions

A, B = Filter(kinds=(1,)), Filter(kinds=(42,))


def opened(*filters: Filter) -> tuple[Subscriptions, list[str]]:
    found = Subscriptions()
    found.want(filters)
    return found, [one.id for one in found.due(0.0)]


def test_only_what_changed_is_opened_and_closed() -> None:
    found, (a, b) = opened(A, B)
    found.want([B, Filter(kinds=(7,))])
    assert found.dropped() == [a]
    (new,) = found.due(1.0)
    assert new.id not in (a, b)
    assert found.dropped() == []


def test_a_new_connection_opens_everything_again_and_forgets_refusals() -> None:
    found, (a,) = opened(A)
    found.closed(a, "restricted: no", 1.0)
    assert [one.reason for one in found.refused()] == ["restricted: no"]
    found.begin()
    assert found.refused() == ()
    assert [one.id for one in found.due(2.0)] == [a]


def test_a_relay_that_keeps_closing_is_asked_more_and_more_seldom() -> None:
    found, (a,) = opened(A)
    waits, now = [], 0.0
    for _ in range(9):
        found.closed(a, "rate-limited: slow down", now)
        start = now
        while not found.due(now):
            now += 1.0
        waits.append(now - start)
    assert waits == [2, 4, 8, 16, 32, 64, 120, 120, 120]


def test_a_refusal_that_crossed_the_login_is_no_reason_for_another() -> None:
    found, (a,) = opened(A)
    found.logged_in()
    found.closed(a, "auth-required: log in", 1.0)
    assert not found.want_login()
    assert [one.id for one in found.due(1.0)] == [a]
    found.closed(a, "auth-required: log in", 2.0)
    assert found.want_login()


def test_a_subscription_of_somebody_else_is_not_ours() -> None:
    found, _ = opened(A)
    assert not found.closed("ask-1", "error: x", 0.0)


def test_it_is_unanswered_until_a_word_comes_or_the_patience_ends() -> None:
    found, (a,) = opened(A)
    assert found.unanswered(1.0, patience_s=2.0)
    assert not found.unanswered(3.0, patience_s=2.0)
    assert found.heard(a)
    assert not found.heard(a)
    assert not found.unanswered(1.0, patience_s=2.0)
    found.closed(a, "error: restart", 1.0)
    assert not found.unanswered(2.0, patience_s=2.0)
    assert found.due(9.0)
    assert found.unanswered(9.0, patience_s=2.0)


def test_a_new_filter_that_was_not_sent_yet_is_unanswered() -> None:
    found = Subscriptions()
    found.want([A])
    assert found.unanswered(0.0, patience_s=2.0)


def test_many_filters_share_few_reqs() -> None:
    many = [Filter(kinds=(n,)) for n in range(100)]
    found = Subscriptions()
    found.want(many)
    due = found.due(0.0)
    assert len(due) <= MOST_REQS
    assert [one for req in due for one in req.filters] == many
