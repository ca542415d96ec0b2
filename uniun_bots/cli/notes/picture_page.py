"""One HTML file with a graph in it that people explore. Nothing is fetched, and what notes say stays text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

from uniun_bots.graph.label import name_of
from uniun_bots.graph.picture import Picture
from uniun_bots.nostr.text import cut

_FILES = Path(__file__).parent / "picture"
MARK = "<!-- a picture of a note graph by uniun-bots -->"
MARK_WITHIN = 200
MOST_CHARS = 4000
"""Of one note's text; a long article would weigh more than all the rest."""


def page(found: Picture, title: str, around: str | None = None) -> str:
    style, script = _read("style.css"), _read("script.js")
    parts = {
        "policy": f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'",
        "title": html.escape(title),
        "style": style,
        "graph": _inert(json.dumps(_values(found, around))),
        "script": script,
    }
    before, *rest = _read("page.html").split("{{")
    return before + "".join(
        parts[name] + after for name, _, after in (piece.partition("}}") for piece in rest)
    )


def _values(found: Picture, around: str | None) -> dict[str, Any]:
    topics: dict[int, list[str]] = {}
    for topic, places in found.topics:
        for place in places:
            topics.setdefault(place, []).append(topic)
    return {
        "notes": [
            {
                "id": note.id,
                "author": note.author,
                "by": name_of(note.author, found.names),
                "at": note.created_at,
                "kind": note.kind,
                "text": cut(note.text, MOST_CHARS),
                "topics": topics.get(place, []),
            }
            for place, note in enumerate(found.notes)
        ],
        "edges": found.edges,
        "topics": [{"topic": topic, "notes": places} for topic, places in found.topics if len(places) > 1],
        "left_out": found.left_out,
        "around": around,
    }


def _inert(text: str) -> str:
    """JSON in which nothing can end the element that it stands in."""
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")
