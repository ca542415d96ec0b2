from __future__ import annotations

import json
import re

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


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "maxItems": 100_000},
        {"type": "string", "pattern": "^(a{1,100000})$"},
        {"enum": [f"value {n}" for n in range(10_000)]},
    ],
    ids=["items", "pattern", "values"],
)
def test_what_llama_cpp_would_die_of_is_refused_before(schema: dict[str, object]) -> None:
    with pytest.raises(SchemaRefused, match="is too much for llama"):
        grammar_of(json.dumps(schema))


def test_brackets_in_texts_do_not_count_as_nesting() -> None:
    assert "(((((" in grammar_of(json.dumps({"enum": ["(" * 2000, '"[(']}))


def test_white_space_between_the_parts_of_an_object_is_bounded() -> None:
    """A small model writes blanks for ever where it may."""
    text = grammar_of(json.dumps({"type": "object", "properties": {"at": {"type": "string"}}}))
    assert 'space ::= " "?\n' in f"{text}\n"


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "string", "maxLength": 10}])
def test_no_control_character_stands_bare_in_a_string(schema: dict[str, object]) -> None:
    text = grammar_of(json.dumps(schema))
    assert r'char ::= [^"\\\x00-\x1F\x7F] |' in text


@pytest.mark.parametrize(
    ("least", "most"), [(0, 0), (0, 1), (3, 3), (1, 99), (0, 199), (0, 200), (1, 500), (2, 4321)]
)
def test_a_bounded_string_may_have_exactly_that_many_characters(least: int, most: int) -> None:
    schema = {"type": "string", "minLength": least, "maxLength": most}
    rules = dict(line.split(" ::= ") for line in grammar_of(json.dumps(schema)).splitlines())
    shape = re.compile(spelled_out(rules))
    for length in {0, least, (least + most) // 2, most, most + 1, max(0, least - 1), max(0, most - 1)}:
        fits = shape.fullmatch('"' + "x" * length + '"') is not None
        assert fits == (least <= length <= most), length


def spelled_out(rules: dict[str, str]) -> str:
    """The rule of a bounded string as a regular expression; brackets without nesting, which `re` limits."""
    chars = rules.get("chars", "").count("char")
    body = rules["root"]
    blocks, rest = body.count("(chars "), body.count("(char ")
    least = body.partition("(")[0].count("char")
    return f'"x{{{least}}}(?:(?:x{{{chars}}}){{0,{blocks}}})x{{0,{rest}}}"'
