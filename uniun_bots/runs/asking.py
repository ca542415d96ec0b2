"""How a Gana's settings become a request to its engine."""

from __future__ import annotations

from collections.abc import Sequence

from uniun_bots.context.assembly import RULES
from uniun_bots.nostr.secret import Spellings, spelled_in, spells_a_secret
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.settings import HostSettings
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking

DEFAULT_TEMPERATURE = 0.7
CHARS_PER_TOKEN = 3
"""A cautious guess for the length of an answer; scripts without spaces need more tokens for a character."""

CHARS_PER_TOKEN_AT_WORST = 2
CALL_TOKENS = 64
"""What stands around the text in a call."""


def answer_tokens(gana: Gana, settings: HostSettings, context_tokens: int) -> int:
    """What the persona says, else enough for its max_chars; never more than a quarter of the context."""
    wanted = gana.max_tokens or settings.defaults.max_tokens or gana.output.max_chars // CHARS_PER_TOKEN + 16
    return max(16, min(wanted, context_tokens // 4))


def call_tokens(gana: Gana, settings: HostSettings, context_tokens: int) -> int:
    """For one call of an agentic run. A text that is cut there is no call at all, so it gets more room."""
    text = (
        gana.max_tokens or settings.defaults.max_tokens or gana.output.max_chars // CHARS_PER_TOKEN_AT_WORST
    )
    return max(16, min(text + CALL_TOKENS, context_tokens // 4))


def longest_answer(gana: Gana, settings: HostSettings, context_tokens: int) -> int:
    return (call_tokens if gana.agentic else answer_tokens)(gana, settings, context_tokens)


def gate_for(gana: Gana, last_reply: str | None, secrets: Sequence[Spellings], rules: str = RULES) -> Gate:
    """`secrets`: all that the host holds; none of them may leave in anybody's words."""
    return Gate(
        max_chars=gana.output.max_chars,
        prompt_texts=(rules, gana.task),
        last_reply=last_reply,
        is_secret=lambda text: spells_a_secret(text) or spelled_in(text, secrets),
    )


def room_for_rounds(context_tokens: int) -> int:
    """Of the context, what the first prompt of an agentic run leaves to calls and their results."""
    return context_tokens // 4


def asking_of(
    gana: Gana, settings: HostSettings, engine_name: str, context_tokens: int, seed: int | None = None
) -> Asking:
    temperature = gana.temperature if gana.temperature is not None else settings.defaults.temperature
    return Asking(
        engine_name=engine_name,
        answer_tokens=longest_answer(gana, settings, context_tokens),
        context_tokens=context_tokens,
        temperature=DEFAULT_TEMPERATURE if temperature is None else temperature,
        seed=seed,
        speaker=gana.name,
    )
