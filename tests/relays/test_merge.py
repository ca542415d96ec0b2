from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.merge import MOST_VALUES, merge, values_of

KINDS = st.integers(0, 3)
KEYS = st.sampled_from("abc")
FILTERS = st.builds(
    Filter,
    kinds=st.lists(KINDS, max_size=2).map(tuple),
    authors=st.lists(KEYS, max_size=2).map(tuple),
    ids=st.just(()),
    tags=st.dictionaries(st.sampled_from("ep"), st.lists(KEYS, min_size=1, max_size=2).map(tuple)).map(
        lambda found: tuple(found.items())
    ),
)
TAGS = st.lists(st.tuples(st.sampled_from("ep"), KEYS), max_size=3).map(tuple)
EVENTS = st.builds(
    Event,
    id=KEYS,
    author=KEYS,
    created_at=st.just(0),
    kind=KINDS,
    tags=TAGS,
    content=st.just(""),
    raw=st.just(b""),
)


@settings(max_examples=100)
@given(st.lists(FILTERS, max_size=8), st.lists(EVENTS, min_size=10, max_size=12))
def test_merged_filters_match_what_the_parts_match_and_nothing_more(
    filters: list[Filter], events: list[Event]
) -> None:
    merged = merge([Interest(one, (), 0) for one in filters])
    for event in events:
        assert any(one.matches(event) for one in filters) == any(m.filter.matches(event) for m in merged)
    for item in merged:
        for part in item.parts:
            assert all(item.filter.matches(event) for event in events if part.filter.matches(event))
    assert sorted(map(repr, filters)) == sorted(repr(part.filter) for item in merged for part in item.parts)


def test_a_thousand_mentions_are_two_reqs() -> None:
    wanted = [Interest(Filter(kinds=(1,), tags=(("p", (f"{n:064x}",)),)), (), 0) for n in range(1000)]
    merged = merge(wanted)
    assert [len(values_of(item.filter, "#p")) for item in merged] == [MOST_VALUES, MOST_VALUES]


def test_one_interest_is_never_cut_in_two() -> None:
    many = tuple(f"{n:064x}" for n in range(400))
    wanted = [Interest(Filter(kinds=(1,), authors=many[k:] + many[:k]), (), 0) for k in (0, 1)]
    other = Interest(Filter(kinds=(1,), authors=tuple(f"{n:064x}" for n in range(900, 1200))), (), 0)
    assert [len(item.parts) for item in merge([*wanted, other])] == [2, 1]


def test_what_is_read_from_the_start_takes_nothing_else_along() -> None:
    """Or the whole history of a place that is answered would be read, because another place is knowledge."""
    answered = [
        Interest(Filter(kinds=(42,), tags=(("e", (name,)),)), (), since)
        for name, since in (("a", 5), ("b", 9))
    ]
    known = [Interest(Filter(kinds=(42,), tags=(("e", (name,)),)), (), 0) for name in "cd"]
    merged = merge([answered[0], known[0], answered[1], known[1]])
    assert [(values_of(item.filter, "#e"), {part.since for part in item.parts}) for item in merged] == [
        (("a", "b"), {5, 9}),
        (("c", "d"), {0}),
    ]
