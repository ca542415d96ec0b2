from __future__ import annotations

import pytest

from uniun_bots.runs.citations import keep_shown, take_citations

HANDLES = {"n1": "aa", "n2": "bb"}


@pytest.mark.parametrize(
    ("text", "said", "ids", "unknown"),
    [
        ("As I said [n1], it turns.", "As I said, it turns.", ("aa",), ()),
        ("It turns (n2).", "It turns.", ("bb",), ()),
        ("It turns [n2, n1, n2].", "It turns.", ("bb", "aa"), ()),
        ("It turns. [n7]", "It turns.", (), ("n7",)),
        ('It turns.\n(n2, "bob", just now)', "It turns.", ("bb",), ()),
        ("Bob (n2, see there) turns.", "Bob turns.", ("bb",), ()),
        (
            "It turns.\nAlways.\n(n2, draft, 9 days ago)\n> It falls. [n1]",
            "It turns.\nAlways.",
            ("bb",),
            (),
        ),
        (
            "(n1, draft, 702 days ago)\nIt turns.\n\nIt falls.\n(n12, draft)",
            "It turns.\n\nIt falls.",
            (),
            ("n12",),
        ),
        ("(n1, draft, 702 days ago)", "", (), ()),
        ("> You asked.\n\nIt turns.", "> You asked.\n\nIt turns.", (), ()),
        ("The n1 road, [sic], (no) and [north] stay.", "The n1 road, [sic], (no) and [north] stay.", (), ()),
        ("  kept as it is ", "  kept as it is ", (), ()),
    ],
)
def test_handles_leave_the_text_and_become_ids(
    text: str, said: str, ids: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    cited = take_citations(text, HANDLES)
    assert (cited.text, cited.note_ids, cited.unknown) == (said, ids, unknown)


@pytest.mark.parametrize(
    ("text", "said", "handles", "unknown"),
    [
        ("As I said [n1], it turns.", "As I said [n1], it turns.", ("n1",), ()),
        ("It turns (n2, Bob, 2 days ago).", "It turns [n2].", ("n2",), ()),
        ("It turns [n2, n9, n1, n2].", "It turns [n2, n1].", ("n2", "n1"), ("n9",)),
        ("It turns. [n7]", "It turns.", (), ("n7",)),
        ("[n7] It turns.", "It turns.", (), ("n7",)),
        ("The n1 road and [north] stay. ", "The n1 road and [north] stay. ", (), ()),
    ],
)
def test_for_a_reader_who_can_open_them_only_handles_that_were_shown_stay(
    text: str, said: str, handles: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    found = keep_shown(text, HANDLES)
    assert (found.text, found.handles, found.unknown) == (said, handles, unknown)
