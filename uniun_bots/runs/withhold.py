"""What a model wrote is kept for people to read, but for a secret key in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from uniun_bots.runs.outcome import Outcome, Step

WITHHELD = "(withheld: it spells a secret key)"


def withhold(outcome: Outcome, is_secret: Callable[[str], bool]) -> Outcome:
    """The same outcome; steps whose text spells a secret keep everything but the text."""

    def kept(step: Step) -> Step:
        if not is_secret(step.completion.text):
            return step
        return replace(step, completion=replace(step.completion, text=WITHHELD))

    return replace(outcome, steps=tuple(map(kept, outcome.steps)))
