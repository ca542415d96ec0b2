"""Shiv: from a question to an answer that stands in the store."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from uniun_bots.chat import records
from uniun_bots.chat.answer import NOTHING_FOUND, Answer, Source
from uniun_bots.chat.conversation import Past, State
from uniun_bots.chat.deep import look_deeper
from uniun_bots.chat.looking import look_up, notes_of, unique
from uniun_bots.chat.prompt import TASK, Draft, compose
from uniun_bots.chat.question import Question
from uniun_bots.chat.saying import Said, Saying
from uniun_bots.chat.telling import Begun, Piece, Tell
from uniun_bots.clock import Clock
from uniun_bots.context.packing import Costs
from uniun_bots.context.task import task_with
from uniun_bots.database.store import Store
from uniun_bots.errors import NotFound, StoreError, UniunError
from uniun_bots.graph.label import label_of
from uniun_bots.graph.manas import check_manas
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of
from uniun_bots.graph.scope import Scope
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.nostr.secret import spells_a_secret
from uniun_bots.nostr.text import cut
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.library import Library
from uniun_bots.skills.reach import Reach, Search
from uniun_bots.skills.registry import Registered, register_for_shiv

ANSWER_TOKENS = 512
PREVIEW_CHARS = 120


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation in which a question stands that has no answer yet."""

    number: int
    question: int
    """The number of its message."""
    scope: Scope
    past: Past


@dataclass(kw_only=True)
class Shiv:
    store: Store
    scheduler: Scheduler
    engines: Mapping[str, Engine]
    search: Search
    clock: Clock
    library: Library
    is_secret: Callable[[str], bool] = spells_a_secret
    costs: Costs = field(default_factory=Costs)
    under_way: set[int | None] = field(default_factory=set)
    """Conversations in which a question is being answered."""

    async def ask(self, question: Question, tell: Tell) -> Answer:
        """`tell` hears how it goes, and the text of the answer bit by bit.

        Whatever becomes of it is kept. Cancelling stops the model. Raises NotFound for a conversation, a Manas, an
        engine or a skill that is not there, UniunError for what cannot be asked, and what the engine raises.
        """
        question = question.checked()
        self._check(question)
        claimed = {question.conversation} - {None}
        self.under_way |= claimed
        try:
            opened = await self._open(question)
            claimed.add(opened.number)
            self.under_way |= claimed
            return await self._answer(question, opened, tell)
        finally:
            self.under_way -= claimed

    async def _answer(self, question: Question, opened: Opened, tell: Tell) -> Answer:
        answering = Answering(self, question, opened, tell)
        try:
            tell(Begun(opened.number))
            async with self.scheduler.chat_turn(question.engine):
                answer = await answering.answer()
            await self._keep(opened, answer)
        except asyncio.CancelledError:
            await self._note(opened, answering.broken_off(State.CANCELLED, "it was stopped"))
            raise
        except Exception as fault:
            await self._note(opened, answering.broken_off(State.FAILED, str(fault)))
            raise
        return answer

    def _check(self, question: Question) -> None:
        if question.conversation in self.under_way:
            # Handles go on from those of the last answer.
            raise UniunError(
                f"conversation {question.conversation} waits for an answer already: begin another one"
            )
        if question.engine not in self.engines:
            known = ", ".join(sorted(self.engines))
            raise NotFound(f"there is no engine `{question.engine}` here; there are: {known}")
        for name in question.skills:
            if self.library.spoken_name(name) is None:
                known = ", ".join(sorted(self.library.texts)) or "none"
                raise NotFound(f"there is no text skill {name}; there are: {known}")

    async def _open(self, question: Question) -> Opened:
        now, manas = self.clock.now(), question.manas

        def unit(tx: sqlite3.Connection) -> Opened:
            check_manas(tx, manas or ())
            number = question.conversation
            if number is None:
                number = records.begin(tx, question.text, manas or (), now)
            found = records.conversation(tx, number)
            if manas is not None and manas != found.manas:
                records.narrow(tx, number, manas)
            past = Past(tuple(records.messages(tx, number)))
            message = records.write_question(tx, number, question.text, deep=question.deep, now=now)
            narrowed = found.manas if manas is None else manas
            return Opened(number, message, Scope(manas=narrowed, everything=not narrowed), past)

        return await self.store.write(unit)

    async def _note(self, opened: Opened, answer: Answer) -> None:
        """What ended it is raised, whatever the store says to this."""
        with contextlib.suppress(StoreError):
            await self._keep(opened, answer)

    async def _keep(self, opened: Opened, answer: Answer) -> None:
        now = self.clock.now()
        await self.store.write(lambda tx: records.write_answer(tx, opened.question, answer, now))


class Answering:
    """One question on its way to an answer."""

    def __init__(self, shiv: Shiv, question: Question, opened: Opened, tell: Tell) -> None:
        self._shiv, self._question, self._opened, self._tell = shiv, question, opened, tell
        self._engine = shiv.engines[question.engine]
        self._saying: Saying | None = None

    async def answer(self) -> Answer:
        question, opened, shiv = self._question, self._opened, self._shiv
        handles = opened.past.handles()
        known = len(handles)
        notes, texts, why = await self._look(handles)
        if not notes:
            return self._nothing(why or "no note fits the question")
        names = await shiv.store.read(lambda tx: names_of(tx, {note.author for note in notes}))
        answer_tokens = min(ANSWER_TOKENS, (await self._engine.info()).context_tokens // 4)
        draft = Draft(
            question=question.text,
            task=task_with(TASK, texts),
            exchanges=opened.past.exchanges(),
            notes=tuple(notes),
            names=names,
            handles=handles,
            now=shiv.clock.now(),
        )
        prompt = await compose(draft, engine=self._engine, answer_tokens=answer_tokens, costs=shiv.costs)
        if not prompt.notes:
            return self._nothing("no note that fits the question fits into the model's context")
        shown = {handles.give(note.id): note for note in prompt.notes}
        self._saying = Saying(
            shiv.scheduler,
            question.engine,
            prompt,
            question=question.text,
            notes={handle: note.text for handle, note in shown.items()},
            answer_tokens=answer_tokens,
            is_secret=shiv.is_secret,
            tell=self._tell,
        )
        return _told(await self._saying.say(), shown, names, tuple(handles.values())[known:], question.deep)

    def broken_off(self, state: State, reason: str) -> Answer:
        told = self._saying.streaming.told if self._saying else ""
        return Answer(told, state, reason, deep=self._question.deep)

    async def _look(self, handles: Handles) -> tuple[list[Note], Iterable[Registered], str]:
        """Notes, best first; the text skills that count; and why rounds ended, when that tells something."""
        shiv, question, opened = self._shiv, self._question, self._opened
        registration = register_for_shiv(question.skills, shiv.library)
        hits = await look_up(shiv.store, shiv.search, question.text, opened.scope, opened.past)
        if not question.deep:
            return hits, registration.texts, ""
        rounds = await look_deeper(
            question.text,
            registration,
            Reach(shiv.store, opened.scope, shiv.search, shiv.clock.now(), handles=handles),
            scheduler=shiv.scheduler,
            engine_name=question.engine,
            engine=self._engine,
            tell=self._tell,
        )
        found = await notes_of(shiv.store, rounds.note_ids, opened.scope)
        return unique([*found, *hits]), rounds.texts, rounds.why

    def _nothing(self, why: str) -> Answer:
        self._tell(Piece(NOTHING_FOUND))
        return Answer(NOTHING_FOUND, State.NOTHING, why, deep=self._question.deep)


def _told(
    said: Said, shown: Mapping[str, Note], names: Mapping[str, str], fresh: Sequence[str], deep: bool
) -> Answer:
    """`fresh`: ids that got a handle now, in the order of the handles."""
    sources = {handle: _source(handle, note, names) for handle, note in shown.items()}
    cited = {shown[handle].id for handle in said.cited}
    kept = max((at + 1 for at, note_id in enumerate(fresh) if note_id in cited), default=0)
    return Answer(
        text=said.text,
        state=said.state,
        reason=said.reason,
        model=said.model,
        deep=deep,
        notes=tuple(fresh[:kept]),
        cited=tuple(sources[handle] for handle in said.cited),
        shown=tuple(sources.values()),
        is_cut=said.is_cut,
    )


def _source(handle: str, note: Note, names: Mapping[str, str]) -> Source:
    by = label_of(note.author, "", names).strip('"')
    preview = cut(" ".join(note.text.split()), PREVIEW_CHARS)
    return Source(handle, note.id, by, note.created_at, preview)
