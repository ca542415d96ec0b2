from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.skills.handles import Handles


@given(st.lists(st.sampled_from("abcdefgh")), st.lists(st.sampled_from("abcdefgh")))
def test_a_note_keeps_the_handle_that_it_got_first(first: list[str], later: list[str]) -> None:
    handles = Handles(first)
    before = dict(handles)
    given = [handles.give(note_id) for note_id in later]
    assert before.items() <= handles.items()
    assert [handles[handle] for handle in given] == later
    assert list(handles) == [f"n{number}" for number in range(1, len({*first, *later}) + 1)]
    assert all(handles.of(note_id) == handle for handle, note_id in handles.items())


def test_what_was_not_shown_has_no_handle() -> None:
    assert Handles(["a"]).of("b") is None
    assert Handles(["a"]).get("n2") is None
