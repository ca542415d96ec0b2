"""One answer in words: asked for, read, and held against what the model was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from uniun_bots.chat.answer import NOTHING_FOUND
from uniun_bots.chat.conversation import State
from uniun_bots.chat.likeness import repeated
from uniun_bots.chat.prompt import RULES, TASK, Prompt
from uniun_bots.chat.streaming import Streaming
from uniun_bots.chat.telling import Tell
from uniun_bots.errors import EngineLost, JobCancelled
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.job import Job
from uniun_bots.inference.request import Request
from uniun_bots.inference.sanitize import sanitize
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.runs.citations import Supported, keep_shown
from uniun_bots.runs.gate import Gate, Refused, lines_of, pass_gate
from uniun_bots.runs.one_shot import NOOP

SPEAKER = "shiv"
TRIES = 2
ENGINE_S = 600.0
"""What an answer may take of its engine."""
TEMPERATURE = 0.3
LONGEST_ANSWER = 50_000


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    state: State
    reason: str
    model: str
    cited: tuple[str, ...] = ()
    """Handles."""
    is_cut: bool = False


class Saying:
    def __init__(
        self,
        scheduler: Scheduler,
        engine_name: str,
        prompt: Prompt,
        *,
        question: str,
        notes: Mapping[str, str],
        answer_tokens: int,
        is_secret: Callable[[str], bool],
        tell: Tell,
    ) -> None:
        """`notes`: those that the prompt shows, handle to text."""
        self._scheduler, self._engine_name, self._prompt = scheduler, engine_name, prompt
        self._question, self._notes, self._answer_tokens = question, notes, answer_tokens
        self._gate = Gate(max_chars=LONGEST_ANSWER, prompt_texts=(RULES, TASK), is_secret=is_secret)
        self._allowance = Allowance(ENGINE_S)
        self.streaming = Streaming(tell, self._so_far)

    async def say(self) -> Said:
        """A text that is no answer is asked for once more; then it is told that nothing was found.

        Raises what the engine raises.
        """
        for attempt in range(TRIES):
            completion = await self._complete(attempt)
            said = self._read(completion)
            if said.state is not State.FAILED:
                break
        if said.state is State.FAILED:
            said = replace(said, state=State.NOTHING, text=NOTHING_FOUND)
        self.streaming.end(said.text)
        return said

    async def _complete(self, attempt: int) -> Completion:
        """A job that ends cancelled is tried once more."""
        request = Request(self._prompt.messages, self._answer_tokens, temperature=TEMPERATURE + 0.3 * attempt)
        job = Job(
            SPEAKER,
            self._engine_name,
            request,
            kind="chat",
            allowance=self._allowance,
            on_piece=self.streaming.hear,
        )
        self.streaming.anew()
        try:
            return await self._scheduler.submit(job)
        except (JobCancelled, EngineLost):
            self.streaming.anew()
            return await self._scheduler.submit(job)

    def _so_far(self, raw: str) -> str:
        """Nothing while it may be no answer at all."""
        text = self._supported(raw, at_end=False).text
        return "" if NOOP.match(text) or self._gate.is_secret(text) else text

    def _supported(self, raw: str, *, at_end: bool) -> Supported:
        cleaned = sanitize(raw, "stop" if at_end else "length", SPEAKER)
        return keep_shown(cleaned.text, self._notes.keys())

    def _read(self, completion: Completion) -> Said:
        found = self._supported(completion.text, at_end=completion.finish == "stop")
        model = completion.model
        if NOOP.fullmatch(found.text):
            return Said(NOTHING_FOUND, State.NOTHING, "the model found no answer in them", model)
        if why := self._fault(found.text):
            return Said("", State.FAILED, why, model)
        state, cited = State.ANSWERED, found.handles
        if not cited:
            cited = repeated(found.text, self._notes, self._question)
            state = State.RESEMBLES if cited else State.UNSUPPORTED
        reason = "" if state is State.ANSWERED else "the model names no note that it was shown"
        return Said(found.text, state, reason, model, cited, completion.finish == "length")

    def _fault(self, text: str) -> str:
        if not text.strip():
            return "the model gave no answer"
        if lines_of(text) == lines_of(self._question):
            return "the model repeated the question"
        passed = pass_gate(text, self._gate)
        return passed.reason if isinstance(passed, Refused) else ""
