"""A JSON schema as a grammar for llama.cpp. Lives in the worker process only."""

from __future__ import annotations

import json
import re

from llama_cpp.llama_grammar import json_schema_to_gbnf

from uniun_bots.errors import SchemaRefused

_ESCAPES = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.", re.IGNORECASE | re.DOTALL)


def grammar_of(schema: str) -> str:
    """GBNF text. Raises SchemaRefused."""
    try:
        json.loads(schema)
        return _ESCAPES.sub(_whole, json_schema_to_gbnf(schema))
    except Exception as error:
        # The converter raises whatever its own code stumbles over.
        raise SchemaRefused(f"the JSON schema cannot be compiled: {error or type(error).__name__}") from error


def _whole(escape: re.Match[str]) -> str:
    """The converter writes UTF-16 pairs, which llama.cpp would read as two broken characters."""
    if escape[1] is None:
        return escape[0]
    pair = bytes.fromhex(escape[1] + escape[2])
    return f"\\U{ord(pair.decode('utf-16-be')):08X}"
