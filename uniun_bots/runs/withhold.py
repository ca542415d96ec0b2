"""What a model wrote is kept for people to read, but for a secret key in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from uniun_bots.runs.outcome import Outcome, Step

WITHHELD = "(withheld: it spells a secret key)"


def withhold(outcome: Outcome, is_secret: Callable[[str], bool]) -> Outcome:
    """The same outcome; steps whose text spells a secret keep everything but the text."""

    return replace(outcome, steps=tuple(withheld(step, is_secret) for step in outcome.steps))


def withheld(step: Step, is_secret: Callable[[str], bool]) -> Step:
    if is_secret(step.completion.text):
        return replace(
            step,
            completion=replace(step.completion, text=WITHHELD),
            arguments=WITHHELD if step.arguments else "",
        )
    return replace(step, result=WITHHELD) if step.result and is_secret(step.result) else step
