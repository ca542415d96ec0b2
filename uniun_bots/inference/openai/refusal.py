"""What a server's no means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from uniun_bots.errors import EngineError, ModelNotFound, PromptTooLong, SchemaRefused, ServerRefused

_PAGE = re.compile(r"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)
_CONTEXT = re.compile(r"context (?:length|size|window)\D{0,24}(\d+)", re.IGNORECASE)
_PROMPT = re.compile(
    r"(\d+) (?:in the messages|in your prompt|input tokens|tokens from the input)|input \((\d+) tokens",
    re.IGNORECASE,
)
_ABOUT_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context|context (?:length|size|window)",
    re.IGNORECASE,
)
_ABOUT_MODEL = re.compile(
    r"model_not_found|\bmodel\b.*(?:not exist|not found|unknown)", re.IGNORECASE | re.DOTALL
)
_ABOUT_SCHEMA = re.compile(r"schema|grammar|response_format|guided", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the no is about."""

    url: str
    model: str = ""
    answer_tokens: int = 0
    has_schema: bool = False
    has_key: bool = False


def is_page(text: str) -> bool:
    return _PAGE.match(text) is not None


def refusal(status: int, text: str, asked: Asked) -> EngineError:
    """`status` is 0 when the answer had begun already."""
    found = _parsed(text)
    words = _words(found, text)
    if status in (401, 403):
        return ServerRefused(f"{asked.url}: {_about_key(asked)} ({status}: {words})", status)
    everything = f"{words} {json.dumps(found)}"
    if status in (0, 400, 413, 422) and _ABOUT_CONTEXT.search(everything):
        return _too_long(found, words, asked)
    if status in (0, 400, 404) and _ABOUT_MODEL.search(everything):
        return ModelNotFound(f"{asked.url} does not know the model `{asked.model}`: {words}")
    if asked.has_schema and status in (0, 400, 422) and _ABOUT_SCHEMA.search(everything):
        return SchemaRefused(f"{asked.url} refuses the schema: {words}; `json:` chooses another dialect")
    if status == 404:
        return ServerRefused(f"{asked.url}: not there; a `base_url` usually ends in /v1 ({words})", status)
    return ServerRefused(f"{asked.url} answers {status or 'with an error'}: {words}", status)


def _about_key(asked: Asked) -> str:
    return "the server refuses the API key" if asked.has_key else "the server wants an `api_key: env:NAME`"


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(found: dict[str, Any], text: str) -> str:
    """The message, from any of the places where servers put it."""
    error = found.get("error")
    inner = error if isinstance(error, dict) else {}
    for value in (inner.get("message"), error, found.get("message"), found.get("detail")):
        if value:
            return " ".join((value if isinstance(value, str) else json.dumps(value)).split())[:300]
    if is_page(text):
        return "a web page"
    return " ".join(text.split())[:100] or "without a word"


def _too_long(found: dict[str, Any], words: str, asked: Asked) -> PromptTooLong:
    """A count that the server does not tell is 0."""
    error = found.get("error")
    inner = error if isinstance(error, dict) else {}
    prompt = inner.get("n_prompt_tokens") or _number(_PROMPT, words)
    context = inner.get("n_ctx") or _number(_CONTEXT, words)
    return PromptTooLong(int(prompt), int(context), asked.answer_tokens)


def _number(pattern: re.Pattern[str], words: str) -> int:
    told = pattern.search(words)
    return int(next(group for group in told.groups() if group)) if told else 0
