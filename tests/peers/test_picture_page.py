"""The picture of the graph in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factory import ALICE, BOB, CAROL, NOW, event, hex_of
from tests.peers.peers import look_at
from uniun_bots.cli.notes.picture_page import page
from uniun_bots.graph.note import Note
from uniun_bots.graph.picture import Picture

pytestmark = [pytest.mark.peer, pytest.mark.timeout(120)]

HOSTILE = (
    "</script><script>window.hit = 1; alert(1)</script>"
    "<img src='https://evil.example/x.png' onerror='window.hit = 2'>"
    "<a href='javascript:alert(3)'>&lt;b&gt;</a> {{script}} \u2028 --> ]]>"
)
SETTLED = "new Promise((done) => { const look = () => picture.cold() ? done(true) : setTimeout(look, 20); look(); })"


def note(seq: int, text: str, author: str = ALICE, at: int = NOW) -> Note:
    return Note(seq, event(f"{seq}{text}").id, author, 1, at, text, "relay", NOW, None, None, False)


NOTES = (
    note(1, HOSTILE),
    note(2, "High water comes at noon.", BOB),
    note(3, "As was said before", CAROL, 2**62),
    note(4, "Bread has to rest."),
)


def made(folder: Path, around: str | None = None) -> Path:
    found = Picture(
        NOTES,
        {ALICE: HOSTILE, BOB: "Bob"},
        ((1, 0, "reply"), (2, 1, "quote")),
        ((HOSTILE, (0, 3)), ("tides", (1, 2))),
        7,
    )
    path = folder / "graph.html"
    path.write_text(page(found, HOSTILE, around), encoding="utf-8")
    return path


def text_of(element: str) -> str:
    return f"document.getElementById('{element}').textContent"


async def test_hostile_words_stay_words_wherever_they_are_shown(tmp_path: Path) -> None:
    path = made(tmp_path, around=NOTES[0].id)
    heard = await look_at(
        path,
        SETTLED,
        text_of("text"),
        text_of("head"),
        "document.title",
        "document.querySelectorAll('img, a, iframe, script:not(#graph)').length",
        "(search(''), search('alert'), document.querySelector('#hits button').click(), window.hit || 0)",
        "[...document.querySelectorAll('#topics button')].map((one) => one.textContent)",
        "document.querySelectorAll('img, a, iframe, script:not(#graph)').length",
    )
    _, text, head, title, elements, hit, topics, later = heard["results"]
    assert text == HOSTILE
    assert head.startswith(HOSTILE)
    assert title.split() == HOSTILE.split()
    assert elements == later == 1, "our own script"
    assert hit == 0
    assert topics == [f"#{HOSTILE}"]
    assert heard["requests"] == [path.as_uri()], "nothing is fetched"
    assert heard["dialogs"] == heard["errors"] == []


async def test_people_find_notes_read_them_and_walk_along_the_edges(tmp_path: Path) -> None:
    heard = await look_at(
        made(tmp_path),
        SETTLED,
        text_of("count"),
        {"click": [100, 95]},
        "document.getElementById('words').focus()",
        {"type": "WATER"},
        text_of("count"),
        text_of("hits"),
        {"press": "Enter"},
        text_of("text"),
        text_of("links"),
        "document.querySelectorAll('#links button')[1].click()",
        text_of("text"),
        text_of("head"),
        {"press": "Escape"},
        "document.getElementById('note').hidden",
    )
    told = [one for one in heard["results"] if one not in (None, True)]
    assert told == [
        "4 notes, 2 edges, 2 topics; 7 older notes are left out",
        "1 of 4 notes",
        "High water comes at noon.",
        "High water comes at noon.",
        f"→ reply: {HOSTILE[:33]}…← quote: As was said before",
        "As was said before",
        f"{CAROL[:8]}, at {2**62}, kind 1".replace(str(2**62), "4611686018427388000"),
    ]
    assert heard["results"][-1] is True
    assert heard["errors"] == []


async def test_points_are_clicked_dragged_and_zoomed_and_kinds_of_edges_hidden(tmp_path: Path) -> None:
    there = f"(({{x, y}}) => [x, y])(picture.screen('{NOTES[1].id}'))"
    first = await look_at(made(tmp_path), SETTLED, there)
    x, y = first["results"][1]
    heard = await look_at(
        made(tmp_path),
        SETTLED,
        {"click": [x, y]},
        text_of("text"),
        {"press": "Escape"},
        {"drag": [x, y, x + 80, y + 60]},
        there,
        {"wheel": [600, 400, -400]},
        "picture.view.scale",
        "[...document.querySelectorAll('#kinds label')].map((one) => one.textContent)",
        "document.getElementById('kind-topic').click()",
        {"drag": [300, 700, 350, 700]},
        "picture.edges.length",
    )
    results = heard["results"]
    assert results[2] == NOTES[1].text
    assert abs(results[5][0] - x) > 25
    assert results[7] > 2
    assert results[8] == ["reply (1)", "quote (1)", "mention (0)", "root (0)", "topic (4)"]
    assert heard["errors"] == []


async def test_two_thousand_notes_find_their_places(tmp_path: Path) -> None:
    notes = tuple(note(seq, f"note {seq}", hex_of(str(seq % 30))) for seq in range(2000))
    edges = tuple((seq, seq * 7 // 10, "reply") for seq in range(1, 2000))
    path = tmp_path / "graph.html"
    path.write_text(page(Picture(notes, {}, edges, (), 0), "many"), encoding="utf-8")
    heard = await look_at(
        path,
        "(() => { let steps = 0; while (!picture.cold()) { step(); steps++; } draw(); return steps; })()",
        "picture.notes.every((one) => Number.isFinite(one.x) && Number.isFinite(one.y))",
        "(search('note 1999'), document.getElementById('count').textContent)",
        "new Set(picture.notes.map((one) => Math.round(one.x) + ' ' + Math.round(one.y))).size",
    )
    steps, finite, told, places = heard["results"]
    assert 50 < steps < 400
    assert finite
    assert told == "1 of 2000 notes"
    assert places > 1900
    assert heard["errors"] == []
