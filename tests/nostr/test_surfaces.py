from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nostr.samples import ALICE, BOB, BOT, CHANNEL, FIRST, SECOND, SIGNED, an_event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.surfaces import PEOPLE_READ, Surface, filter_of, surfaces_of


def test_a_channel_message_stands_on_its_channel_alone() -> None:
    assert surfaces_of(read_event(SIGNED["channel reply"])) == (f"group:{CHANNEL}",)
    assert surfaces_of(an_event(["p", BOT], kind=42)) == ()


def test_a_short_note_stands_on_its_author_and_on_everybody_it_tags_once() -> None:
    event = an_event(
        ["p", BOT], ["p", BOB, "wss://r.example"], ["p", BOT], ["p"], ["p", "x"], ["p", ALICE.upper()]
    )
    assert surfaces_of(event) == (f"user:{ALICE}", f"mentions:{BOT}", f"mentions:{BOB}")


def test_an_answer_stands_on_the_note_it_answers_and_on_the_top_of_its_thread() -> None:
    root, reply = ["e", FIRST, "", "root"], ["e", SECOND, "", "reply"]
    assert surfaces_of(an_event(root, reply))[1:] == (f"thread:{SECOND}", f"thread:{FIRST}")
    assert surfaces_of(an_event(root))[1:] == (f"thread:{FIRST}",)
    assert surfaces_of(an_event(["e", FIRST, "", "mention"], ["q", SECOND]))[1:] == ()


def test_other_kinds_stand_nowhere() -> None:
    assert surfaces_of(an_event(["p", BOT], ["e", FIRST], kind=7)) == ()


def test_five_thousand_tagged_people_do_not_become_five_thousand_surfaces() -> None:
    """A40."""
    assert len(surfaces_of(an_event(*(["p", f"{n:064x}"] for n in range(5000))))) == PEOPLE_READ + 1


def test_each_surface_has_the_filter_that_asks_relays_for_it() -> None:
    assert filter_of(f"group:{CHANNEL}") == Filter(kinds=(42,), tags=(("e", (CHANNEL,)),))
    assert filter_of(f"user:{ALICE}") == Filter(kinds=(1,), authors=(ALICE,))
    assert filter_of(f"thread:{FIRST}") == Filter(kinds=(1,), tags=(("e", (FIRST,)),))
    assert filter_of(f"mentions:{BOT}") == Filter(kinds=(1,), tags=(("p", (BOT,)),))


def test_a_surface_that_no_filter_asks_for_is_told() -> None:
    with pytest.raises(ValueError, match="use group, user, mentions or thread"):
        filter_of("timer")


def test_a_surface_splits_at_its_first_colon() -> None:
    assert Surface.parse(f"dm:{BOT}:{ALICE}") == Surface("dm", f"{BOT}:{ALICE}")
    assert Surface.parse("timer") == Surface("timer", "")
    for text in (f"dm:{BOT}:{ALICE}", f"group:{CHANNEL}", "timer"):
        assert str(Surface.parse(text)) == text


ids = st.sampled_from([ALICE, BOB, BOT, CHANNEL, FIRST, SECOND, "no id", ALICE.upper()])
tags = st.lists(
    st.builds(
        lambda name, value, marker: [name, value, "", marker],
        st.sampled_from(["e", "p", "q"]),
        ids,
        st.sampled_from(["root", "reply", "mention", ""]),
    ),
    max_size=6,
)


@given(tags, st.sampled_from([1, 42, 7]))
def test_the_filter_of_a_surface_finds_every_event_on_it(tags: list[list[str]], kind: int) -> None:
    event = an_event(*tags, kind=kind)
    for surface in surfaces_of(event):
        assert filter_of(surface).matches(event)
    if kind == 1:
        for person in (ALICE, BOB, BOT):
            stands = f"mentions:{person}" in surfaces_of(event)
            assert stands == filter_of(f"mentions:{person}").matches(event)
