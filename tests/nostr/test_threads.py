from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nostr.samples import BOT, CHANNEL, FIRST, SECOND, SIGNED, THIRD, an_event
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.threads import CITATIONS_KEPT, TAGS_READ, Thread, read_thread

PERSON = "d23d30861aa5f307eb9331096d719e362ca39acf38212e3c70e20167c3f51a63"


@pytest.mark.parametrize(
    ("tags", "thread"),
    [
        pytest.param([["e", SECOND, "", "reply"]], Thread(SECOND, SECOND, (), ()), id="reply without root"),
        pytest.param(
            [["e", FIRST, "", "root"], ["e", FIRST, "", "reply"]],
            Thread(FIRST, FIRST, (), ()),
            id="both markers on one note",
        ),
        pytest.param(
            [["e", FIRST, "", "root"], ["e", THIRD, "", "reply"], ["e", SECOND, "", "reply"]],
            Thread(FIRST, SECOND, (), (THIRD,)),
            id="the reply tag of the parent was copied",
        ),
        pytest.param(
            [["e", FIRST, "wss://r.example", PERSON], ["e", SECOND, "wss://r.example", PERSON]],
            Thread(FIRST, SECOND, (), ()),
            id="a key where the marker belongs",
        ),
        pytest.param(
            [["e", FIRST, "", "mention"], ["e", SECOND, "", "root", PERSON]],
            Thread(SECOND, SECOND, (), (FIRST,)),
            id="a citation before the root",
        ),
        pytest.param(
            [["e", SECOND, "reply"], ["e", FIRST, "", PERSON, "root"]],
            Thread(FIRST, SECOND, (), ()),
            id="markers one place off",
        ),
    ],
)
def test_markers_as_clients_really_write_them(tags: list[list[str]], thread: Thread) -> None:
    """A26: clients disagree about markers."""
    assert read_thread(an_event(*tags)) == thread


def test_without_markers_the_place_decides() -> None:
    assert read_thread(an_event(["e", FIRST])) == Thread(FIRST, FIRST, (), ())
    three = an_event(["e", FIRST], ["e", THIRD], ["e", SECOND])
    assert read_thread(three) == Thread(FIRST, SECOND, (), (THIRD,))


def test_a_note_that_only_cites_stands_at_the_top() -> None:
    event = an_event(
        ["e", FIRST, "", "mention"], ["q", SECOND, "", PERSON], ["q", SECOND], ["q", "30023:x:y"]
    )
    assert read_thread(event) == Thread(None, None, (SECOND,), (FIRST,))
    assert read_thread(an_event()) == Thread(None, None, (), ())


def test_a_quote_is_not_a_reply() -> None:
    event = read_event(SIGNED["quote of the bot"])
    assert read_thread(event) == Thread(None, None, (FIRST,), ())


def test_a_message_directly_in_a_channel_has_the_channel_as_root_and_no_parent() -> None:
    for marker in (["", "root"], ["", "reply"], []):
        event = an_event(["e", CHANNEL, *marker], kind=42)
        assert read_thread(event) == Thread(CHANNEL, None, (), ())


def test_a_reply_in_a_channel_keeps_the_channel_as_root() -> None:
    """A30: a reply whose root is the message drops out of the channel."""
    event = read_event(SIGNED["channel reply"])
    assert read_thread(event) == Thread(CHANNEL, SECOND, (), ())


def test_a_comment_names_its_root_in_an_upper_case_tag() -> None:
    event = an_event(["E", FIRST], ["K", "20"], ["e", SECOND], ["k", "1111"], kind=1111)
    assert read_thread(event) == Thread(FIRST, SECOND, (), ())


def test_a_reaction_or_repost_replies_to_nothing() -> None:
    for kind in (6, 7, 30023):
        assert read_thread(an_event(["e", FIRST], kind=kind)) == Thread(None, None, (), (FIRST,))


@pytest.mark.parametrize("value", ["", "abc", FIRST.upper(), FIRST + "0", f"{FIRST}\n", f" {FIRST}"])
def test_what_is_no_id_is_passed_over(value: str) -> None:
    event = an_event(["e", value, "", "root"], ["e"], ["q", value], ["e", SECOND, "", "reply"])
    assert read_thread(event) == Thread(SECOND, SECOND, (), ())


def test_thousands_of_tags_are_read_up_to_a_cap() -> None:
    """A40: contact lists of 5,000 tags."""
    many = an_event(*(["e", f"{n:064x}", "", "mention"] for n in range(5000)), ["e", FIRST, "", "root"])
    thread = read_thread(many)
    assert thread.root is None and len(thread.mentions) == CITATIONS_KEPT
    within = an_event(*(["p", BOT] for _ in range(TAGS_READ - 1)), ["e", FIRST, "", "root"])
    assert read_thread(within).root == FIRST


e_tags = st.lists(
    st.tuples(
        st.sampled_from(["e", "q", "p", "E"]),
        st.sampled_from([CHANNEL, FIRST, SECOND, THIRD, "x"]),
        st.sampled_from(["", "wss://r.example"]),
        st.sampled_from(["root", "reply", "mention", "", PERSON]),
    ).map(list),
    max_size=6,
)


@given(e_tags, st.sampled_from([1, 7, 42, 1111]))
def test_every_note_that_is_named_has_one_place(tags: list[list[str]], kind: int) -> None:
    thread = read_thread(an_event(*tags, kind=kind))
    named = {tag[1] for tag in tags if tag[0] == "e" and tag[1] != "x"}
    above = {thread.root, thread.parent} - {None}
    assert set(thread.mentions) == named - above
    assert set(thread.quotes) == {tag[1] for tag in tags if tag[0] == "q" and tag[1] != "x"}
    if kind == 1:
        assert (thread.root is None) == (thread.parent is None)
    if kind == 42:
        assert thread.parent is None or thread.root not in (None, thread.parent)
