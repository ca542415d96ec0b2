"""One inference, one decision."""

from __future__ import annotations

import logging
import re
import signal
from dataclasses import dataclass, replace

from uniun_bots.context.context import Context
from uniun_bots.errors import EngineError, EngineLost, JobCancelled, JobOverdue, NoModel, SchemaRefused
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.job import Job
from uniun_bots.inference.request import Request
from uniun_bots.inference.sanitize import Cleaned, sanitize
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.runs.citations import take_citations
from uniun_bots.runs.gate import Gate, Refused, lines_of, pass_gate
from uniun_bots.runs.outcome import Ending, Outcome, Step
from uniun_bots.runs.shorten import shorten

log = logging.getLogger(__name__)

NOOP = re.compile(r"`?[<\[(]?NOOP[>\])]?`?\.?")
"""The whole of an answer that is silence."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How one Gana asks its model."""

    engine_name: str
    answer_tokens: int
    context_tokens: int
    temperature: float = 0.7
    top_p: float = 0.95
    seed: int | None = None
    tries: int = 2
    speaker: str = ""
    """The name that the model may put in front of its words."""


async def run_one_shot(
    context: Context,
    *,
    scheduler: Scheduler,
    asking: Asking,
    gate: Gate,
    allowance: Allowance | None = None,
) -> Outcome:
    """Never raises for what a model or an engine does, but NoModel when there is none to ask.

    An answer without words, or one that the gate refuses, is asked for again up to `asking.tries` times.
    """
    steps: list[Step] = []
    gate = replace(gate, prompt_lines=gate.prompt_lines | _prompt_lines(context))
    request = _first_request(context, asking)
    while True:
        try:
            completion = await ask(
                scheduler,
                Job(
                    context.turn.gana,
                    asking.engine_name,
                    request,
                    due=context.turn.due,
                    allowance=allowance,
                ),
            )
        except JobCancelled as error:
            return Outcome(Ending.CANCELLED, None, (), str(error), tuple(steps))
        except NoModel:
            raise
        except EngineError as error:
            return Outcome(Ending.FAILED, None, (), str(error), tuple(steps))
        cleaned = sanitize(completion.text, completion.finish, asking.speaker)
        outcome, note = _decide(context, completion, cleaned, gate)
        steps.append(Step(len(steps) + 1, completion, note))
        if outcome.body is not None or outcome.ending is Ending.SILENT or len(steps) >= asking.tries:
            return replace(outcome, steps=tuple(steps))
        request = _next_request(request, context, completion, asking)


async def ask(scheduler: Scheduler, job: Job) -> Completion:
    """A job that ends cancelled is tried once more; giving way to others is not an end.

    So is one whose grammar the engine cannot make or dies of, and then without it: the answer is read as strictly
    as ever. Raises JobCancelled when it ended so again, or had all of its time; EngineError for what else went wrong.
    """
    try:
        try:
            return await scheduler.submit(job)
        except JobOverdue:
            raise
        except (JobCancelled, EngineLost, SchemaRefused) as fault:
            again = _without_grammar(job, fault) if _is_of_grammar(fault) else job
        return await scheduler.submit(again)
    except (EngineLost, JobOverdue) as over:
        raise JobCancelled(str(over)) from over


def _is_of_grammar(fault: EngineError) -> bool:
    """Inside llama.cpp a sampler that has lost its way in a grammar aborts the process."""
    return isinstance(fault, SchemaRefused) or (
        isinstance(fault, EngineLost) and fault.signal == signal.SIGABRT
    )


def _without_grammar(job: Job, fault: EngineError) -> Job:
    if job.request.json_schema is not None:
        log.warning("%s is asked once more without a grammar: %s", job.gana, fault)
    return replace(job, request=replace(job.request, json_schema=None))


def _first_request(context: Context, asking: Asking) -> Request:
    return Request(
        messages=context.messages,
        max_tokens=asking.answer_tokens,
        temperature=asking.temperature,
        top_p=asking.top_p,
        seed=asking.seed,
    )


def _next_request(request: Request, context: Context, completion: Completion, asking: Asking) -> Request:
    """More room when the model ran out of it; another seed, so that the same nothing is not said again."""
    seed = None if request.seed is None else request.seed + 1
    if completion.finish == "stop":
        return replace(request, seed=seed)
    room = asking.context_tokens - context.prompt_tokens
    return replace(request, seed=seed, max_tokens=max(request.max_tokens, min(4 * request.max_tokens, room)))


def _prompt_lines(context: Context) -> frozenset[str]:
    return frozenset(line for message in context.messages for line in lines_of(message.content))


def _decide(context: Context, completion: Completion, cleaned: Cleaned, gate: Gate) -> tuple[Outcome, str]:
    """The outcome, without its steps, and what became of this text."""
    if not cleaned.text:
        why = _why_empty(completion, cleaned)
        return _without_body(Ending.FAILED, f"no answer: {why}"), why
    if NOOP.fullmatch(cleaned.text):
        return _without_body(Ending.SILENT, "the model chose to say nothing"), "NOOP"
    cited = take_citations(cleaned.text, context.handles)
    body = cited.text if completion.finish == "stop" else shorten(cited.text, len(cited.text))
    if body is None:
        reason = "the answer was cut by the token limit before its first sentence ended"
        return _without_body(Ending.MALFORMED, reason), reason
    passed = pass_gate(body, gate)
    if isinstance(passed, Refused):
        return _without_body(Ending.MALFORMED, passed.reason), f"refused: {passed.reason}"
    answered = {note.id for note in context.turn.notes}
    references = tuple(note_id for note_id in cited.note_ids if note_id not in answered)
    outcome = Outcome(Ending.SUCCEEDED, passed.body, references, "", ())
    return outcome, _what_became(passed.body, cleaned, cited.unknown)


def _without_body(ending: Ending, reason: str) -> Outcome:
    return Outcome(ending, None, (), reason, ())


def _why_empty(completion: Completion, cleaned: Cleaned) -> str:
    what = f"only {' and '.join(cleaned.removed)}" if cleaned.removed else "empty"
    return f"{what}, cut by the token limit" if completion.finish == "length" else what


def _what_became(body: str, cleaned: Cleaned, unknown: tuple[str, ...]) -> str:
    parts = [f"answered with {len(body)} characters"]
    if cleaned.removed:
        parts.append(f"removed {', '.join(cleaned.removed)}")
    if len(body) < len(cleaned.text):
        parts.append("shortened")
    if unknown:
        parts.append(f"handles it was not shown: {', '.join(unknown)}")
    return "; ".join(parts)
