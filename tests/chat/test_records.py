from __future__ import annotations

import sqlite3

import pytest

from tests.factory import NOW
from tests.stores import tx as tx
from uniun_bots.chat import records
from uniun_bots.chat.answer import Answer, Source
from uniun_bots.chat.conversation import Exchange, Past, State
from uniun_bots.errors import NotFound

FIRST, SECOND = "a" * 64, "b" * 64


def said(text: str, state: State = State.ANSWERED) -> Answer:
    cited = (Source("n2", SECOND, "Bob", NOW, "text"),)
    return Answer(text, state, "why", "model", notes=(FIRST, SECOND), cited=cited)


def asked(tx: sqlite3.Connection, text: str = "When?", at: float = NOW) -> int:
    number = records.begin(tx, text, ["sea"], at)
    records.write_question(tx, number, text, deep=True, now=at)
    return number


def test_what_was_written_is_read_again(tx: sqlite3.Connection) -> None:
    number = asked(tx)
    records.write_answer(tx, number, said("At nine [n2]."), NOW + 5)
    question, answer = records.messages(tx, number)
    assert (question.role, question.text, question.deep, question.state) == ("question", "When?", True, None)
    assert (answer.state, answer.reason, answer.model, answer.cited) == (
        State.ANSWERED,
        "why",
        "model",
        ("n2",),
    )
    past = Past((question, answer))
    assert past.exchanges() == (Exchange("When?", "At nine [n2]."),)
    assert dict(past.handles()) == {"n1": FIRST, "n2": SECOND}
    assert past.last_cited() == [SECOND]
    found = records.conversation(tx, number)
    assert (found.title, found.manas, found.at, found.questions) == ("When?", ("sea",), NOW + 5, 1)


def test_a_question_whose_process_died_is_no_exchange(tx: sqlite3.Connection) -> None:
    number = asked(tx)
    records.write_question(tx, number, "Once more?", deep=False, now=NOW)
    records.write_answer(tx, number, said("At nine."), NOW)
    past = Past(tuple(records.messages(tx, number)))
    assert past.exchanges() == (Exchange("Once more?", "At nine."),)


@pytest.mark.parametrize("state", [State.NOTHING, State.CANCELLED, State.FAILED])
def test_what_came_to_nothing_is_no_exchange(tx: sqlite3.Connection, state: State) -> None:
    number = asked(tx)
    records.write_answer(tx, number, said("At", state), NOW)
    assert Past(tuple(records.messages(tx, number))).exchanges() == ()


def test_the_conversation_with_the_newest_message_stands_first(tx: sqlite3.Connection) -> None:
    first, second = asked(tx, at=NOW), asked(tx, "x " * 200, at=NOW + 10)
    assert [one.number for one in records.conversations(tx)] == [second, first]
    assert len(records.conversations(tx)[0].title) <= records.TITLE_CHARS
    records.write_answer(tx, first, said("Yes."), NOW + 20)
    assert [one.number for one in records.conversations(tx, 1)] == [first]


def test_what_is_forgotten_is_gone_and_takes_no_answer_any_more(tx: sqlite3.Connection) -> None:
    number = asked(tx)
    records.forget(tx, number)
    records.write_answer(tx, number, said("Late."), NOW)
    assert tx.execute("SELECT count(*) FROM messages").fetchone()[0] == 0
    with pytest.raises(NotFound):
        records.forget(tx, number)
    assert asked(tx) > number
