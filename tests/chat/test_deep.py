"""A deep answer: rounds of reading first, and no way to publish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chat.scenes import MakeChat
from tests.graph.library import keep_texts
from tests.runs.agent import call
from tests.skills.samples import library
from uniun_bots.chat.conversation import State
from uniun_bots.chat.telling import Looked
from uniun_bots.database.store import Store
from uniun_bots.errors import EngineError
from uniun_bots.inference.scripted import Reply

FERRY, SAILS = "The ferry leaves at nine.", "Our boat has red sails."
NOW_ANSWER = call("answer-now")


async def test_the_model_looks_up_by_itself_and_then_answers_from_what_it_found(
    store: Store, chat: MakeChat
) -> None:
    ferry, sails = await keep_texts(store, FERRY, SAILS)
    talk = chat([call("search-notes", query="red sails"), NOW_ANSWER, "The one with red sails [n1]."])
    answer = await talk.ask("Which ferry is ours?", deep=True)
    assert answer.state is State.ANSWERED and answer.deep
    assert [one.note_id for one in answer.cited] == [sails.id]
    assert {one.note_id for one in answer.shown} == {ferry.id, sails.id}
    assert [one.skill for one in talk.told if isinstance(one, Looked)] == ["search-notes", "answer-now"]
    assert talk.heard() == answer.text


async def test_what_was_opened_stands_before_what_was_only_seen(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY, "The ferry is old.")
    talk = chat(
        [call("search-notes", query="ferry"), call("read-note", note="n2"), NOW_ANSWER, "It is old [n2]."]
    )
    answer = await talk.ask("Tell about the ferry", deep=True)
    assert [one.handle for one in answer.shown] == ["n2", "n1"]


async def test_every_job_of_a_deep_answer_is_a_chat(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat([call("search-notes", query="ferry"), NOW_ANSWER, "At nine [n1]."])
    await talk.ask("When does the ferry leave?", deep=True)
    assert [request.tier for request in talk.engine.requests] == [0, 0, 0]


async def test_there_is_no_skill_that_publishes(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    posts = [call("publish-feed-note", body="hello", referenceNoteIds=[])] * 2
    talk = chat([*posts, "At nine [n1]."])
    answer = await talk.ask("When does the ferry leave?", deep=True)
    assert answer.state is State.ANSWERED
    assert await store.read(lambda tx: tx.execute("SELECT count(*) FROM outbox").fetchone()[0]) == 0
    schema = json.loads(talk.engine.requests[0].json_schema or "")
    names = [one["properties"]["skill"]["const"] for one in schema["oneOf"]]
    assert names == ["search-notes", "expand-graph", "get-memories", "read-note", "answer-now"]


@pytest.mark.parametrize("rounds", [["no call at all"], [call("search-notes", query="zebra")] * 4])
async def test_rounds_that_found_nothing_leave_the_plain_answer(
    store: Store, chat: MakeChat, rounds: list[str]
) -> None:
    await keep_texts(store, FERRY)
    answers = iter([*rounds[:3], "At nine [n1]."])
    answer = await chat(lambda request: next(answers)).ask("When does the ferry leave?", deep=True)
    assert answer.text == "At nine [n1]."


async def test_a_text_skill_counts_where_it_was_called(store: Store, chat: MakeChat, tmp_path: Path) -> None:
    await keep_texts(store, FERRY)
    own = library(tmp_path, "tone")
    talk = chat([call("tone"), NOW_ANSWER, "At nine [n1].", NOW_ANSWER, "At nine [n1]."], own)
    await talk.ask("When does the ferry leave?", deep=True, skills=("tone",))
    assert "What tone says." in talk.engine.requests[-1].messages[0].content
    await talk.ask("When does the ferry leave?", deep=True, skills=("tone",))
    assert "What tone says." not in talk.engine.requests[-1].messages[0].content


async def test_a_text_skill_stands_in_the_task_of_a_plain_answer(
    store: Store, chat: MakeChat, tmp_path: Path
) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["At nine [n1]."], library(tmp_path, "tone"))
    await talk.ask("When does the ferry leave?", skills=("tone",))
    assert "tone:\nWhat tone says." in talk.prompt()


async def test_rounds_read_within_the_scope(store: Store, chat: MakeChat) -> None:
    ferry, _ = await keep_texts(store, "A private ferry.", FERRY)
    await store.write(lambda tx: tx.execute("UPDATE notes SET audience = 'dm:a:b' WHERE id = ?", (ferry.id,)))
    talk = chat([call("search-notes", query="private"), NOW_ANSWER, "At nine [n1]."])
    await talk.ask("When does the ferry leave?", deep=True)
    assert all("A private ferry" not in talk.prompt(at) for at in range(3))


async def test_a_fault_of_the_engine_in_a_round_is_raised(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat([Reply("", error=EngineError("no such luck"))])
    with pytest.raises(EngineError, match="no such luck"):
        await talk.ask("When does the ferry leave?", deep=True)
