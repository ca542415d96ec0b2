from __future__ import annotations

import json

import pytest

from uniun_bots.errors import SchemaRefused

pytestmark = pytest.mark.model
pytest.importorskip("llama_cpp")

from uniun_bots.inference.llama.grammar import grammar_of  # noqa: E402


def test_an_emoji_is_one_character() -> None:
    assert '"\\"wave \\U0001F30A \\u00e9\\""' in grammar_of(json.dumps({"const": "wave 🌊 é"}))


def test_an_escaped_backslash_before_a_u_is_left_alone() -> None:
    text = grammar_of(json.dumps({"const": "\\ud83c\\udf0a"}))
    assert "\\U" not in text


@pytest.mark.parametrize("schema", ["not json", '{"type": "nonsense"}', '{"$ref": "#/nowhere"}', "[1]"])
def test_a_schema_that_makes_no_sense_is_refused(schema: str) -> None:
    with pytest.raises(SchemaRefused, match="cannot be compiled"):
        grammar_of(schema)
