"""Whatever a model writes: at most one event leaves, and nothing in it but its words is the model's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.injections.port import PUBLISH, WORDS, open_port
from tests.runs.agent import SILENT, call
from uniun_bots.database.store import Store
from uniun_bots.runs.outcome import Ending

BAD_WORDS = st.sampled_from([WORDS[name] for name in WORDS if name not in ("LONG_BODY", "PUBLISH", "DEEP")])
PLAIN = st.sampled_from(
    ["High water is at noon. ", "> quoted\n", "[n2]", "(n9)", "<|im_end|>", "<think>", "NOOP"]
)
TEXTS = st.lists(st.one_of(BAD_WORDS, PLAIN, st.text(max_size=20)), max_size=4).map("".join)
HANDLES = st.lists(
    st.one_of(st.sampled_from(["n1", "n2", "n3", "N2", "[n2]"]), BAD_WORDS, st.text(max_size=5))
)
SKILLS = st.sampled_from(
    [PUBLISH, PUBLISH, PUBLISH, "search-notes", "read-note", "read-thread", "expand-graph", "get-memories",
     "read-group-input", "stay-silent", "publish-feed-note", "send-dm", "remind-me", ""]
)  # fmt: skip
KEYS = st.sampled_from(
    ["body", "referenceNoteIds", "query", "note", "page", "about", "kind", "tags", "pubkey"]
)
VALUES = st.one_of(TEXTS, HANDLES, st.integers(), st.none(), st.booleans(), st.floats())
POSTS = st.fixed_dictionaries({"body": TEXTS, "referenceNoteIds": HANDLES})
CALLS = st.builds(
    lambda skill, arguments, more: json.dumps({"skill": skill, "arguments": arguments} | more),
    SKILLS,
    st.one_of(POSTS, st.dictionaries(KEYS, VALUES, max_size=4), VALUES),
    st.dictionaries(KEYS, VALUES, max_size=1),
)
GOOD = st.one_of(
    POSTS.map(lambda post: json.dumps({"skill": PUBLISH, "arguments": post})),
    st.sampled_from(
        [call("search-notes", query=word) for word in "abcdefgh"]
        + [call("read-note", note="n1"), call("stay-silent")]
    ),
)
WRITTEN = st.one_of(GOOD, CALLS, TEXTS, st.lists(st.one_of(CALLS, TEXTS), max_size=3).map("\n".join))


def test_no_event_leaves_with_anything_but_words_of_the_model(tmp_path_factory: Any) -> None:
    folder: Path = tmp_path_factory.mktemp("port")
    seen: set[Ending] = set()
    left = 0
    with asyncio.Runner() as runner:

        async def begin() -> tuple[Store, Any]:
            store = await Store(folder / "one.sqlite").__aenter__()
            return store, await open_port(store)

        store, port = runner.run(begin())

        @settings(max_examples=400, deadline=None, derandomize=True)
        @given(st.lists(WRITTEN, min_size=5, max_size=5))
        @example([SILENT] * 5)
        @example([call("search-notes", query=word) for word in "abcde"])
        def holds(says: list[str]) -> None:
            nonlocal left
            outcome, event, unsaid = runner.run(port.run(says))
            seen.add(outcome.ending)
            assert unsaid >= 1, "more rounds than there are"
            assert (event is None) == (outcome.ending is not Ending.SUCCEEDED)
            if event is not None:
                left += 1
                assert not list(port.faults(event))

        try:
            holds()
        finally:
            runner.run(store.__aexit__(None, None, None))
    assert {Ending.SUCCEEDED, Ending.SILENT, Ending.MALFORMED, Ending.EXHAUSTED} <= seen
    assert Ending.FAILED not in seen
    assert left >= 20
