"""What all requests of one engine took together."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.inference.health import EngineHealth
from uniun_bots.inference.llama.protocol import Counts


@dataclass(slots=True)
class Totals:
    answered: int = 0
    cancelled: int = 0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    evaluated_tokens: int = 0
    generated_tokens: int = 0
    kept_states: int = 0
    kept_bytes: int = 0

    def add(self, counts: Counts | None, *, cancelled: bool = False) -> None:
        """Without counts the worker died under the request."""
        self.cancelled += cancelled
        self.answered += not cancelled
        if counts is None:
            return
        self.prompt_tokens += counts.prompt_tokens
        self.reused_tokens += counts.reused_tokens
        self.evaluated_tokens += counts.evaluated_tokens
        self.generated_tokens += counts.generated_tokens
        self.kept_states, self.kept_bytes = counts.kept_states, counts.kept_bytes

    def forget_kept(self) -> None:
        self.kept_states = self.kept_bytes = 0

    def health(self, *, starts: int, deaths: int, last_death: str | None, resting_s: float) -> EngineHealth:
        return EngineHealth(
            starts=starts,
            deaths=deaths,
            last_death=last_death,
            resting_s=resting_s,
            answered=self.answered,
            cancelled=self.cancelled,
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused_tokens,
            evaluated_tokens=self.evaluated_tokens,
            generated_tokens=self.generated_tokens,
            kept_states=self.kept_states,
            kept_bytes=self.kept_bytes,
        )
