"""The whole walk on the bundled model: nothing in it is scripted, so only what must always hold is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nostr_sdk import Event as SdkEvent

from tests.cli.child import Child
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.threads import read_thread
from uniun_bots.personas.settings import DEFAULT_MODEL


@pytest.mark.model
@pytest.mark.timeout(240)
async def test_the_demo_answers_a_question_with_words_that_the_model_wrote(tmp_path: Path) -> None:
    async with Child("demo", "--json", "--keep", tmp_path / "demo") as demo:
        ended = await demo.end(None, within_s=200)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out.splitlines()[-1])
    assert found["model"] == DEFAULT_MODEL
    assert found["reply_event"]["content"] in found["raw_text"]
    assert SdkEvent.from_json(json.dumps(found["reply_event"])).verify()
    thread = read_thread(read_event(json.dumps(found["reply_event"]).encode()))
    assert (thread.root, thread.parent) == (found["group_event"]["id"], found["input_event"]["id"])
    assert "small enough to come along" in ended.err
