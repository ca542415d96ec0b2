"""A JSON schema as a grammar for llama.cpp. Lives in the worker process only."""

from __future__ import annotations

import json
import re
from typing import Any

from llama_cpp.llama_grammar import SchemaConverter

from uniun_bots.errors import SchemaRefused

BLOCK_CHARS = 100
"""llama.cpp refuses a grammar that nests too deep, and dies of one that nests far too deep."""
_ESCAPES = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.", re.IGNORECASE | re.DOTALL)
# The converter's own lets line breaks and other control characters stand bare in a string, which is not JSON.
_CHAR = r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'


def grammar_of(schema: str) -> str:
    """GBNF text. Raises SchemaRefused."""
    try:
        converter: Any = _Converter()
        converter.visit(converter.resolve_refs(json.loads(schema), "stdin"), "")
        return _ESCAPES.sub(_whole, converter.format_grammar())
    except Exception as error:
        # The converter raises whatever its own code stumbles over.
        raise SchemaRefused(f"the JSON schema cannot be compiled: {error or type(error).__name__}") from error


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


def _optional(rule: str, most: int) -> str:
    return f"({rule} " * most + ")?" * most


def _whole(escape: re.Match[str]) -> str:
    """The converter writes UTF-16 pairs, which llama.cpp would read as two broken characters."""
    if escape[1] is None:
        return escape[0]
    pair = bytes.fromhex(escape[1] + escape[2])
    return f"\\U{ord(pair.decode('utf-16-be')):08X}"
