"""A JSON schema as a grammar for llama.cpp. Lives in the worker process only."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

from llama_cpp.llama_grammar import SchemaConverter

from uniun_bots.errors import SchemaRefused

BLOCK_CHARS = 100
"""For strings of thousands of characters, which would nest too deep one by one."""
DEEPEST = 1000
"""llama.cpp refuses a grammar that nests deeper than a little more than this, and dies of one far deeper."""
MOST_CHOICES = 5000
"""With tens of thousands a token takes minutes."""
_LITERALS = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]')
_ESCAPES = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.", re.IGNORECASE | re.DOTALL)
# The converter's own lets line breaks and other control characters stand bare in a string, which is not JSON.
_CHAR = r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'


def grammar_of(schema: str) -> str:
    """GBNF text. Raises SchemaRefused."""
    try:
        converter: Any = _Converter()
        converter.visit(converter.resolve_refs(json.loads(schema), "stdin"), "")
        grammar = _ESCAPES.sub(_whole, converter.format_grammar())
    except Exception as error:
        # The converter raises whatever its own code stumbles over.
        raise SchemaRefused(f"the JSON schema cannot be compiled: {error or type(error).__name__}") from error
    if _is_too_much(_LITERALS.sub("", grammar)):
        raise SchemaRefused(
            "the JSON schema is too much for llama.cpp: set a smaller `maxItems` or `maxLength`, fewer values, or a"
            " `pattern` with fewer repetitions"
        )
    return grammar


class _Converter(SchemaConverter):
    """Strings are of JSON's characters, and may be long."""

    def __init__(self) -> None:
        parent: Any = super()
        parent.__init__(prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False)
        self._rules["char"] = _CHAR

    def visit(self, schema: dict[str, Any], name: str) -> str:
        own: Any = super()
        is_text = schema.get("type") == "string" and not schema.keys() & {
            "pattern",
            "const",
            "enum",
            "format",
        }
        if not is_text or "maxLength" not in schema:
            return str(own.visit(schema, name))
        least = schema.get("minLength", 0)
        letters = f"{'char ' * least}{self._up_to(schema['maxLength'] - least)}"
        return str(own._add_rule(name or "root", rf'"\"" {letters} "\"" space'))

    def _up_to(self, chars: int) -> str:
        blocks = max(0, chars // BLOCK_CHARS - 1)
        if blocks:
            self._rules["chars"] = " ".join(["char"] * BLOCK_CHARS)
        return f"{_optional('chars', blocks)} {_optional('char', chars - blocks * BLOCK_CHARS)}"


def _is_too_much(rules: str) -> bool:
    nesting = accumulate(1 if sign == "(" else -1 for sign in rules if sign in "()")
    return rules.count("|") > MOST_CHOICES or max(nesting, default=0) > DEEPEST


def _optional(rule: str, most: int) -> str:
    return f"({rule} " * most + ")?" * most


def _whole(escape: re.Match[str]) -> str:
    """The converter writes UTF-16 pairs, which llama.cpp would read as two broken characters."""
    if escape[1] is None:
        return escape[0]
    pair = bytes.fromhex(escape[1] + escape[2])
    return f"\\U{ord(pair.decode('utf-16-be')):08X}"
