"""From a question to an answer that stands in the store."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace

import pytest

from tests.chat.scenes import MakeChat
from tests.factory import BOB, profile
from tests.factory import heard as heard_from
from tests.graph.library import keep_texts
from uniun_bots.chat.answer import NOTHING_FOUND
from uniun_bots.chat.conversation import State
from uniun_bots.chat.question import LONGEST_CHARS, Question
from uniun_bots.chat.telling import Again, Begun
from uniun_bots.database.store import Store
from uniun_bots.errors import EngineError, EngineLost, NotFound, UniunError
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.inference.scripted import Reply

FERRY, BREAD, MARKET = "The ferry leaves at nine.", "Bread is baked on Mondays.", "The market opens at eight."


async def test_an_answer_cites_the_notes_that_it_is_from(store: Store, chat: MakeChat) -> None:
    ferry, _ = await keep_texts(store, FERRY, BREAD)
    talk = chat(["The ferry leaves at nine [n1]."])
    answer = await talk.ask("When does the ferry leave?")
    assert (answer.text, answer.state) == ("The ferry leaves at nine [n1].", State.ANSWERED)
    assert [(one.handle, one.note_id, one.preview) for one in answer.cited] == [("n1", ferry.id, FERRY)]
    assert talk.heard() == answer.text
    assert isinstance(talk.told[0], Begun)
    assert f"> {FERRY}\n(n1, " in talk.prompt()
    assert BREAD not in talk.prompt()


async def test_a_citation_of_what_was_not_shown_is_dropped(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["At nine [n7]. It leaves from the pier [n1, n9]."])
    answer = await talk.ask("When does the ferry leave?")
    assert answer.text == "At nine. It leaves from the pier [n1]."
    assert [one.handle for one in answer.cited] == ["n1"]
    assert talk.heard() == answer.text


async def test_an_answer_without_support_is_told_as_such(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    answer = await chat(["It leaves at ten, I think [n4]."]).ask("When does the ferry leave?")
    assert (answer.text, answer.state) == ("It leaves at ten, I think.", State.UNSUPPORTED)
    assert answer.cited == ()
    assert [one.preview for one in answer.shown] == [FERRY]


async def test_without_a_note_that_fits_no_model_is_asked(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat([])
    answer = await talk.ask("zebra?")
    assert (answer.text, answer.state) == (NOTHING_FOUND, State.NOTHING)
    assert talk.engine.requests == []
    assert talk.heard() == NOTHING_FOUND


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (["<NOOP>"], "the model found no answer in them"),
        (["", "   "], "the model gave no answer"),
        (["<think>hm", "<think>hm"], "the model gave no answer"),
        (
            ['{"skill": "search-notes", "arguments": {"query": "x"}}'] * 2,
            "the text is a tool call, not an answer",
        ),
        (["When does the ferry leave?"] * 2, "the model repeated the question"),
        (
            ["You answer the questions of a person from that person's own notes."] * 2,
            "the text repeats the instr",
        ),
    ],
)
async def test_a_model_that_fails_ends_in_an_honest_word(
    store: Store, chat: MakeChat, replies: list[str], reason: str
) -> None:
    await keep_texts(store, FERRY)
    talk = chat(replies)
    answer = await talk.ask("When does the ferry leave?")
    assert (answer.text, answer.state, len(talk.engine.requests)) == (
        NOTHING_FOUND,
        State.NOTHING,
        len(replies),
    )
    assert answer.reason.startswith(reason)
    assert talk.heard() == NOTHING_FOUND


async def test_a_text_that_is_no_answer_is_asked_for_once_more(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["You answer the questions of a person from that person's own notes. So?", "At nine [n1]."])
    answer = await talk.ask("When does the ferry leave?")
    assert answer.text == talk.heard() == "At nine [n1]."
    assert any(isinstance(one, Again) for one in talk.told)


async def test_an_engine_that_is_lost_is_asked_once_more_and_what_was_heard_is_taken_back(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(store, FERRY)
    lost = Reply("At ten, or so it", error=EngineLost("gone"))
    talk = chat([lost, "At nine [n1]."])
    answer = await talk.ask("When does the ferry leave?")
    assert answer.text == talk.heard() == "At nine [n1]."


async def test_what_was_said_before_stands_in_the_prompt_and_handles_stay(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(store, FERRY, MARKET)
    talk = chat(["The ferry leaves at nine [n1].", "It costs nothing [n1]. The market opens at eight [n2]."])
    await talk.ask("When does the ferry leave?")
    answer = await talk.ask("And the market?")
    roles = [message.role for message in talk.engine.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert talk.engine.requests[1].messages[2].content == "The ferry leaves at nine [n1]."
    assert {one.handle: one.preview for one in answer.cited} == {"n1": FERRY, "n2": MARKET}
    assert [(one.role, one.state) for one in await talk.kept()] == [
        ("question", None),
        ("answer", State.ANSWERED),
        ("question", None),
        ("answer", State.ANSWERED),
    ]


async def test_a_question_that_only_points_back_finds_what_the_last_answer_was_from(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["At nine [n1].", "From the pier, says the same note [n1]."])
    await talk.ask("When does the ferry leave?")
    answer = await talk.ask("From where?")
    assert [one.preview for one in answer.cited] == [FERRY]


async def test_what_came_to_nothing_is_no_example(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["<NOOP>", "At nine [n1]."])
    await talk.ask("Who sails the ferry?")
    await talk.ask("When does the ferry leave?")
    assert [message.role for message in talk.engine.requests[1].messages] == ["system", "user"]


async def test_private_notes_are_never_shown(store: Store, chat: MakeChat) -> None:
    ferry, _ = await keep_texts(store, FERRY, "The ferry is late, they say.")
    await store.write(lambda tx: tx.execute("UPDATE notes SET audience = 'dm:a:b' WHERE id = ?", (ferry.id,)))
    talk = chat(["Late [n1]."])
    await talk.ask("When does the ferry leave?")
    assert FERRY not in talk.prompt()


async def test_a_manas_narrows_and_stays_with_the_conversation(store: Store, chat: MakeChat) -> None:
    ferry, _ = await keep_texts(store, FERRY, "A ferry is painted red.")

    def curate(tx: sqlite3.Connection) -> None:
        tx.execute("INSERT INTO manas (manas) VALUES ('sea')")
        tx.execute("INSERT INTO manas_notes SELECT 'sea', seq FROM notes WHERE id = ?", (ferry.id,))

    await store.write(curate)
    talk = chat(["At nine [n1].", "At nine [n1]."])
    await talk.ask("Tell about the ferry", manas=("sea",))
    await talk.ask("Is the ferry red?")
    assert "painted" not in talk.prompt(0) + talk.prompt(1)
    with pytest.raises(NotFound, match="there is no Manas see; there are: sea"):
        await talk.ask("Is the ferry red?", manas=("see",))


async def test_people_are_called_by_their_names(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY, author=BOB)
    await store.write(lambda tx: keep(tx, heard_from(profile(BOB, name="Bob"))))
    talk = chat(["At nine [n1]."])
    answer = await talk.ask("When does the ferry leave?")
    assert '(n1, "Bob", ' in talk.prompt()
    assert answer.cited[0].by == "Bob"


async def test_a_cancelled_question_stops_the_model_and_is_kept_as_such(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat([Reply("The ferry leaves at nine", hangs=True), "At nine [n1]."])
    asking = asyncio.ensure_future(talk.ask("When does the ferry leave?"))
    await talk.until(lambda: "leaves" in talk.heard())
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(talk.engine.cancelled) == 1
    assert talk.scheduler.snapshot()["seats"][0]["running"] == []
    question, answer = await talk.kept()
    assert (question.role, answer.state) == ("question", State.CANCELLED)
    assert answer.text.startswith("The ferry leaves")
    assert (await talk.ask("When does the ferry leave?")).state is State.ANSWERED


async def test_a_fault_of_the_engine_is_raised_and_kept(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat([Reply("", error=EngineError("no such luck"))])
    with pytest.raises(EngineError, match="no such luck"):
        await talk.ask("When does the ferry leave?")
    assert [(one.state, one.reason) for one in await talk.kept()][1] == (State.FAILED, "no such luck")


async def test_background_work_stands_back_from_the_question_to_the_answer(
    store: Store, chat: MakeChat
) -> None:
    """Also while notes are searched and no model runs."""
    talk = chat([])
    (seat,) = talk.scheduler._seats.values()
    searching = asyncio.Event()

    async def search(text: str, scope: Scope, limit: int) -> list[Note]:
        searching.set()
        return await asyncio.Future()

    shiv = replace(talk.shiv(), search=search)
    asking = asyncio.ensure_future(shiv.ask(Question("When does the ferry leave?"), talk.tell))
    await searching.wait()
    assert (seat.policy.chat.open, len(seat.policy.running)) == (1, 0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert seat.policy.chat.open == 0


@pytest.mark.parametrize("text", ["", "  \n", "x" * (LONGEST_CHARS + 1)])
async def test_what_cannot_be_asked_leaves_nothing_behind(store: Store, chat: MakeChat, text: str) -> None:
    talk = chat([])
    with pytest.raises(UniunError):
        await talk.ask(text)
    for wrong in (
        Question("x", engine="big"),
        Question("x", conversation=7),
        Question("x", manas=("sea",)),
        Question("x", skills=("tone",)),
    ):
        with pytest.raises(NotFound):
            await talk.shiv().ask(wrong, talk.tell)
    assert talk.told == []
    assert await store.read(lambda tx: tx.execute("SELECT count(*) FROM messages").fetchone()[0]) == 0


async def test_a_secret_in_an_answer_is_neither_told_nor_kept(store: Store, chat: MakeChat) -> None:
    await keep_texts(store, FERRY)
    talk = chat(["The key is hunter2, it opens all [n1]."] * 2)
    answer = await talk.shiv(is_secret=lambda text: "hunter2" in text).ask(Question("ferry"), talk.tell)
    assert answer.text == talk.heard() == NOTHING_FOUND
    assert "hunter2" not in str(talk.told)


async def test_an_answer_that_ran_out_of_tokens_is_whole_as_far_as_it_goes_and_says_so(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(store, FERRY)
    answer = await chat([Reply("It leaves at nine [n1], and then it", finish="length")]).ask("ferry?")
    assert answer.is_cut and answer.text.endswith("and then it")


async def test_an_answer_that_repeats_a_note_without_naming_it_is_told_with_that_note(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(store, "The ferry to the island leaves at nine in the morning.", "A ferry is a ship.")
    answer = await chat(["The ferry to the island leaves at nine."]).ask("When does the ferry leave?")
    assert answer.state is State.RESEMBLES
    assert [one.preview for one in answer.cited] == ["The ferry to the island leaves at nine in the morning."]
    assert answer.text == "The ferry to the island leaves at nine."
