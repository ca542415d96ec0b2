from __future__ import annotations

import pytest

from tests.publishing.values import ALICE, BOB, GROUP, note
from uniun_bots.graph.note import Note
from uniun_bots.nostr.event import Event, Tag
from uniun_bots.nostr.threads import read_thread
from uniun_bots.personas.gana import OutputType, References
from uniun_bots.publishing.tags import reference_tags, thread_tags

HINT = "wss://one.example"
ROOT, PARENT = "11" * 32, "22" * 32
TOP = note(1, kind=1)
DEEP = note(2, kind=1, root=ROOT, parent=PARENT, author=BOB)
IN_GROUP = note(3, root=GROUP)
ANSWER_IN_GROUP = note(4, root=GROUP, parent=PARENT, author=BOB)


@pytest.mark.parametrize(
    ("output", "answered", "tags"),
    [
        pytest.param(
            OutputType.GROUP, None, [["e", GROUP, HINT, "root"]], id="a message straight into a group"
        ),
        pytest.param(
            OutputType.GROUP,
            IN_GROUP,
            [["e", GROUP, HINT, "root"], ["e", IN_GROUP.id, HINT, "reply"], ["p", ALICE]],
            id="a reply to a message at a group's top level",
        ),
        pytest.param(
            OutputType.GROUP,
            ANSWER_IN_GROUP,
            [["e", GROUP, HINT, "root"], ["e", ANSWER_IN_GROUP.id, HINT, "reply"], ["p", BOB]],
            id="a reply to a reply in a group: the root stays the group (A30)",
        ),
        pytest.param(OutputType.FEED, None, [], id="a feed note at top level"),
        pytest.param(
            OutputType.FEED,
            TOP,
            [["e", TOP.id, HINT, "root", ALICE], ["p", ALICE]],
            id="a reply to a thread's root: one root and no reply (A26)",
        ),
        pytest.param(
            OutputType.FEED,
            DEEP,
            [["e", ROOT, HINT, "root"], ["e", DEEP.id, HINT, "reply", BOB], ["p", BOB]],
            id="a reply deeper in a thread: one root, one reply, one person (A26)",
        ),
    ],
)
def test_a_reply_says_where_it_belongs_and_whom_it_answers(
    output: OutputType, answered: Note | None, tags: list[list[str]]
) -> None:
    group = GROUP if output is OutputType.GROUP else None
    assert [list(tag) for tag in thread_tags(output, group, answered, HINT)] == tags


@pytest.mark.parametrize(
    ("output", "answered", "root", "parent"),
    [
        (OutputType.FEED, TOP, TOP.id, TOP.id),
        (OutputType.FEED, DEEP, ROOT, DEEP.id),
        (OutputType.GROUP, IN_GROUP, GROUP, IN_GROUP.id),
        (OutputType.GROUP, ANSWER_IN_GROUP, GROUP, ANSWER_IN_GROUP.id),
    ],
)
def test_what_we_write_reads_back_as_the_thread_that_was_meant(
    output: OutputType, answered: Note, root: str, parent: str
) -> None:
    tags = thread_tags(output, GROUP, answered, HINT) + reference_tags(output, References.E, [BOB], HINT)
    thread = read_thread(_event(tags, 1 if output is OutputType.FEED else 42))
    assert (thread.root, thread.parent) == (root, parent)
    assert thread.mentions == (BOB,)


@pytest.mark.parametrize(
    ("output", "style", "tags"),
    [
        (OutputType.FEED, References.E, [["e", ROOT, HINT, "mention"], ["q", ROOT, HINT]]),
        (OutputType.FEED, References.Q, [["q", ROOT, HINT]]),
        (OutputType.GROUP, References.E, [["e", ROOT, HINT, "mention"]]),
        (OutputType.GROUP, References.Q, [["q", ROOT, HINT]]),
    ],
)
def test_a_cited_note_is_a_mention_and_in_the_feed_a_quote(
    output: OutputType, style: References, tags: list[list[str]]
) -> None:
    assert [list(tag) for tag in reference_tags(output, style, [ROOT], HINT)] == tags


def _event(tags: tuple[Tag, ...], kind: int) -> Event:
    return Event("0" * 64, ALICE, 0, kind, tags, "", b"")
