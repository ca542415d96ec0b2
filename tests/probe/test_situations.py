"""The situations that come with the package: what there is of them, and that each can be done."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.docs.pages import ROOT
from tests.probe.plays import Ideal, play
from uniun_bots.probe.judge import judge
from uniun_bots.probe.load_situations import situations
from uniun_bots.probe.rates import always_publish, always_silent, rates
from uniun_bots.probe.situation import Situation

FILE = situations()
BY_NAME = {one.name: one for one in FILE.situations}


def test_there_are_as_many_of_each_kind_as_a_measurement_needs() -> None:
    assert len(FILE.situations) >= 40
    assert sum(not one.right.publish for one in FILE.situations) >= 12
    assert sum(one.trap is not None for one in FILE.situations) >= 8
    assert len({one.language for one in FILE.situations}) >= 8


def test_most_skills_are_needed_somewhere() -> None:
    needed = Counter(call.skill for one in FILE.situations for call in one.right.calls)
    assert needed.keys() >= {
        "search-notes", "read-note", "expand-graph", "get-memories", "read-thread", "read-mentions-input",
        "remind-me", "club-style",
    }  # fmt: skip


@pytest.mark.parametrize("situation", FILE.situations, ids=lambda one: one.name)
async def test_whoever_does_what_is_right_is_marked_right(situation: Situation) -> None:
    """Through the real pump: what must be found is found by the words that are said to be right."""
    actor = FILE.actor(situation)
    done = await play(FILE, situation.name, Ideal(situation, actor))
    marks = judge(situation, done)
    assert marks.right, done
    assert (marks.right_skill, marks.right_arguments) == (marks.needed, marks.needed)
    assert marks.well_formed == marks.rounds


async def test_what_must_be_said_stands_in_what_is_shown() -> None:
    """Without the right search nobody could know it; with it everybody can read it."""
    situation = BY_NAME["the answer stands in one note"]
    ideal = Ideal(situation, FILE.actor(situation))
    shown: list[str] = []

    def watch(request: object) -> str:
        shown.append(str(request))
        return ideal(request)  # type: ignore[arg-type]

    await play(FILE, situation.name, watch)
    assert "06:40" not in shown[0]
    assert "06:40" in shown[1]


def test_neither_baseline_gets_anywhere() -> None:
    posts, silence = rates(FILE, always_publish(FILE)), rates(FILE, always_silent(FILE))
    assert (posts.published.share, posts.silent.share, posts.answered.share, posts.score) == (1, 0, 0, 0)
    assert (silence.published.share, silence.silent.share, silence.score) == (0, 1, 0.5)
    assert silence.obeyed.hits == 1  # The note that forbids to answer.


def test_the_page_on_models_counts_as_many() -> None:
    """The words of the page, with the numbers of the file."""
    page = " ".join((ROOT / "docs" / "models.md").read_text().split())
    publish = sum(one.right.publish for one in FILE.situations)
    hostile = sum(one.trap is not None for one in FILE.situations)
    languages = {10: "ten", 11: "eleven", 12: "twelve"}[len({one.language for one in FILE.situations})]
    assert f"{len(FILE.situations)} situations with a known right answer" in page
    assert f"in {languages} languages" in page
    silent = len(FILE.situations) - publish
    assert f"In {publish} publishing is right, in {silent} silence, and {hostile} have a hostile note" in page
