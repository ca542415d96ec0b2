"""Conversations and their messages, as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from uniun_bots.chat.answer import Answer
from uniun_bots.chat.conversation import Conversation, Message, State
from uniun_bots.errors import NotFound
from uniun_bots.nostr.text import cut

TITLE_CHARS = 80
_CONVERSATIONS = (
    "SELECT c.conversation, c.title, c.manas, coalesce(max(m.at), c.at) AS at,"
    " sum(m.role = 'question') AS questions FROM conversations c LEFT JOIN messages m USING (conversation)"
)


def begin(tx: sqlite3.Connection, question: str, manas: Sequence[str], now: float) -> int:
    title = cut(" ".join(question.split()), TITLE_CHARS)
    row = tx.execute(
        "INSERT INTO conversations (title, manas, at) VALUES (?, ?, ?)", (title, json.dumps(list(manas)), now)
    )
    return int(row.lastrowid or 0)


def narrow(tx: sqlite3.Connection, conversation: int, manas: Sequence[str]) -> None:
    """From now on it is about these."""
    tx.execute(
        "UPDATE conversations SET manas = ? WHERE conversation = ?", (json.dumps(list(manas)), conversation)
    )


def write_question(tx: sqlite3.Connection, conversation: int, text: str, *, deep: bool, now: float) -> int:
    row = tx.execute(
        "INSERT INTO messages (conversation, role, text, deep, at) VALUES (?, 'question', ?, ?, ?)",
        (conversation, text, deep, now),
    )
    return int(row.lastrowid or 0)


def write_answer(tx: sqlite3.Connection, question: int, answer: Answer, now: float) -> None:
    """Not of a question that was forgotten meanwhile, or has its answer."""
    tx.execute(
        "INSERT INTO messages (conversation, answers, role, text, deep, state, reason, model, notes, cited, at)"
        " SELECT conversation, message, 'answer', ?, ?, ?, ?, ?, ?, ?, ? FROM messages"
        " WHERE message = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE answers = ?)",
        (
            answer.text,
            answer.deep,
            answer.state,
            answer.reason,
            answer.model,
            json.dumps(list(answer.notes)),
            json.dumps([source.handle for source in answer.cited]),
            now,
            question,
            question,
        ),
    )


def conversations(tx: sqlite3.Connection, at_most: int = -1) -> list[Conversation]:
    """The one with the newest message first."""
    rows = tx.execute(
        f"{_CONVERSATIONS} GROUP BY c.conversation ORDER BY at DESC, 1 DESC LIMIT ?", (at_most,)
    )
    return [_conversation(row) for row in rows]


def conversation(tx: sqlite3.Connection, number: int) -> Conversation:
    """Raises NotFound."""
    row = tx.execute(
        f"{_CONVERSATIONS} WHERE c.conversation = ? GROUP BY c.conversation", (number,)
    ).fetchone()
    if row is None:
        raise NotFound(f"there is no conversation {number}; see `uniun-bots chat --list`")
    return _conversation(row)


def messages(tx: sqlite3.Connection, number: int) -> list[Message]:
    """Oldest first."""
    rows = tx.execute("SELECT * FROM messages WHERE conversation = ? ORDER BY message", (number,))
    return [_message(row) for row in rows]


def forget(tx: sqlite3.Connection, number: int) -> None:
    """Raises NotFound."""
    conversation(tx, number)
    tx.execute("DELETE FROM messages WHERE conversation = ?", (number,))
    tx.execute("DELETE FROM conversations WHERE conversation = ?", (number,))


def _conversation(row: sqlite3.Row) -> Conversation:
    manas = tuple(json.loads(row["manas"]))
    return Conversation(row["conversation"], row["title"], manas, row["at"], row["questions"] or 0)


def _message(row: sqlite3.Row) -> Message:
    return Message(
        number=row["message"],
        role=row["role"],
        text=row["text"],
        at=row["at"],
        answers=row["answers"],
        deep=bool(row["deep"]),
        state=State(row["state"]) if row["state"] else None,
        reason=row["reason"],
        model=row["model"],
        notes=tuple(json.loads(row["notes"])),
        cited=tuple(json.loads(row["cited"])),
    )
