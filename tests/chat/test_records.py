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


def asked(tx: sqlite3.Connection, text: str = "When?", at: float = NOW) -> tuple[int, int]:
    """The numbers of a conversation and of its question."""
    number = records.begin(tx, text, ["sea"], at)
    return number, records.write_question(tx, number, text, deep=True, now=at)


def past(tx: sqlite3.Connection, number: int) -> Past:
    return Past(tuple(records.messages(tx, number)))


def test_what_was_written_is_read_again(tx: sqlite3.Connection) -> None:
    number, first = asked(tx)
    records.write_answer(tx, first, said("At nine [n2]."), NOW + 5)
    question, answer = records.messages(tx, number)
    assert (question.role, question.text, question.deep, question.state) == ("question", "When?", True, None)
    told = (answer.answers, answer.state, answer.reason, answer.model, answer.cited)
    assert told == (first, State.ANSWERED, "why", "model", ("n2",))
    before = past(tx, number)
    assert before.exchanges() == (Exchange("When?", "At nine [n2]."),)
    assert dict(before.handles()) == {"n1": FIRST, "n2": SECOND}
    assert before.last_cited() == [SECOND]
    found = records.conversation(tx, number)
    assert (found.title, found.manas, found.at, found.questions) == ("When?", ("sea",), NOW + 5, 1)


def test_two_questions_at_once_keep_their_own_answers(tx: sqlite3.Connection) -> None:
    number, first = asked(tx, "When?")
    second = records.write_question(tx, number, "Where?", deep=False, now=NOW)
    records.write_answer(tx, second, said("Here."), NOW)
    records.write_answer(tx, first, said("Now."), NOW)
    assert past(tx, number).exchanges() == (Exchange("Where?", "Here."), Exchange("When?", "Now."))


def test_the_first_answer_to_a_question_stays(tx: sqlite3.Connection) -> None:
    """One that was on its way to the disk when it was cancelled."""
    number, question = asked(tx)
    records.write_answer(tx, question, said("At nine."), NOW)
    records.write_answer(tx, question, Answer("At", State.CANCELLED), NOW)
    assert [one.text for one in records.messages(tx, number)] == ["When?", "At nine."]


def test_a_question_whose_process_died_is_no_exchange(tx: sqlite3.Connection) -> None:
    number, lost = asked(tx)
    again = records.write_question(tx, number, "Once more?", deep=False, now=NOW)
    records.write_answer(tx, again, said("At nine."), NOW)
    before = past(tx, number)
    assert before.exchanges() == (Exchange("Once more?", "At nine."),)
    assert [before.answer_to(one) is None for one in before.messages if one.role == "question"] == [
        True,
        False,
    ]


@pytest.mark.parametrize("state", [State.NOTHING, State.CANCELLED, State.FAILED])
def test_what_came_to_nothing_is_no_exchange_and_hides_no_earlier_one(
    tx: sqlite3.Connection, state: State
) -> None:
    number, first = asked(tx)
    records.write_answer(tx, first, said("At nine [n2]."), NOW)
    second = records.write_question(tx, number, "And?", deep=False, now=NOW)
    records.write_answer(tx, second, Answer("At", state), NOW)
    before = past(tx, number)
    assert before.exchanges() == (Exchange("When?", "At nine [n2]."),)
    assert before.last_cited() == [SECOND]


def test_the_conversation_with_the_newest_message_stands_first(tx: sqlite3.Connection) -> None:
    first, question = asked(tx, at=NOW)
    second, _ = asked(tx, "x " * 200, at=NOW + 10)
    assert [one.number for one in records.conversations(tx)] == [second, first]
    assert len(records.conversations(tx)[0].title) <= records.TITLE_CHARS
    records.write_answer(tx, question, said("Yes."), NOW + 20)
    assert [one.number for one in records.conversations(tx, 1)] == [first]


def test_what_is_forgotten_is_gone_and_takes_no_answer_any_more(tx: sqlite3.Connection) -> None:
    number, question = asked(tx)
    records.forget(tx, number)
    records.write_answer(tx, question, said("Late."), NOW)
    assert tx.execute("SELECT count(*) FROM messages").fetchone()[0] == 0
    with pytest.raises(NotFound):
        records.forget(tx, number)
    assert asked(tx) > (number, question)
