from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.personas.folder import GROUP, NPUB, NSEC, PUBKEY, loaded, persona, told
from uniun_bots.personas.gana import Gana, Input, InputType, Mode, Output, OutputType, Trigger


def group_gana(**changes: object) -> Gana:
    given = {
        "id": "tide",
        "file": "personas/tide.md",
        "name": "Tide",
        "identity": "env:TIDE",
        "input": Input(type=InputType.GROUP, ref=GROUP),
        "output": Output(type=OutputType.GROUP, same=True, reply=True),
        "trigger": Trigger.EVERY_MESSAGE,
        "task": "Answer.",
    }
    return Gana.model_validate(given | changes)


def test_a_new_gana_is_off_and_has_the_documented_defaults(tmp_path: Path) -> None:
    gana = loaded(tmp_path, persona())
    assert gana.id == "tide"
    assert gana.file == str(tmp_path / "tide.md")
    assert gana.mode is Mode.OFF
    assert (gana.debounce_s, gana.max_rounds, gana.model, gana.relays) == (3.0, 4, "default", None)
    assert gana.limits.model_dump() == {
        "per_hour": 20, "per_day": 100, "per_thread": 3, "per_author_per_hour": 6, "depth": 12
    }  # fmt: skip
    assert gana.input is not None
    assert (gana.input.max_age_s, gana.input.max_chars) == (86_400, 8000)


def test_a_yaml_file_with_a_task_is_the_same_as_a_markdown_file(tmp_path: Path) -> None:
    markdown = persona("every: 30m", trigger="message-or-schedule", task="One\n\nTwo")
    as_yaml = markdown.split("---\n")[1] + "task: |\n  One\n\n  Two\n"
    first, second = loaded(tmp_path, markdown), loaded(tmp_path, as_yaml, "tide.yaml")
    assert first.model_copy(update={"file": second.file}) == second


def test_durations_are_seconds(tmp_path: Path) -> None:
    gana = loaded(
        tmp_path,
        persona(
            "every: 30m",
            "debounce: 500ms",
            trigger="message-or-schedule",
            input="{type: mentions, max_age: 2d}",
        ),
    )
    assert (gana.every_s, gana.debounce_s) == (1800, 0.5)
    assert gana.input is not None
    assert gana.input.max_age_s == 172_800


@pytest.mark.parametrize(
    "word", ["no", "on", "007", "123", "2024-05-01", "1e3", "null-ish", "true", ".inf", "22:30"]
)
def test_a_name_is_what_was_written(tmp_path: Path, word: str) -> None:
    """D01, D02, C08: words that become booleans, dates and numbers elsewhere."""
    assert loaded(tmp_path, persona(name=word)).name == word


@pytest.mark.parametrize("name", ["[a, b]", '"   "', "{a: b}", "null", ""])
def test_a_name_that_is_no_text_is_refused(tmp_path: Path, name: str) -> None:
    (found,) = told(tmp_path, persona(name=name))
    assert found.startswith("2:")
    assert "`name`" in found


@pytest.mark.parametrize("mode", ["off", "shadow", "live"])
def test_modes_are_words(tmp_path: Path, mode: str) -> None:
    assert loaded(tmp_path, persona(mode=mode)).mode == Mode(mode)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("mode: on", "`mode` must be off, shadow, approve or live, not `on`"),
        (
            "mode: shaddow",
            "`mode` must be off, shadow, approve or live, not `shaddow` (did you mean `shadow`?)",
        ),
        ('agentic: "false"', "`agentic` must not be in quotes: write false"),
        ("agentic: no", "`agentic` must be true or false, not `no`"),
        ("temperature: .nan", "`temperature` must be a number such as 0.7, not `.nan`"),
        ("temperature: .inf", "`temperature` must be a number such as 0.7, not `.inf`"),
        ("temperature: 3", "`temperature` must be between 0 and 2, not `3.0`"),
        ("max_tokens: 1e3", "`max_tokens` must be a whole number such as 20, not `1e3`"),
        ("max_tokens: 12.0", "`max_tokens` must be a whole number such as 20, not `12.0`"),
        ("max_tokens: 99999999999999999999", "`max_tokens` must be a whole number such as 20"),
        ('max_tokens: "20"', "`max_tokens` must be a whole number without quotes"),
        ("max_rounds: 0", "`max_rounds` must be between 1 and 20, not `0`"),
        ("max_rounds: many", "`max_rounds` must be a whole number such as 20, not `many`"),
        ("manas: life", "`manas` must be a list of names: write [life]"),
        (
            "debounce: 3",
            "`debounce` must be a duration such as 30s, 30m, 12h or 1d, not `3`: write the unit, such as 3m",
        ),
        ("debounce: 2h", "`debounce` must be between 0s and 1h, not `2h`"),
        ("limits: 20", "`limits` must be a mapping (`key: value`), not text"),
        ("limits: {per_hour: 0}", "`limits.per_hour` must be between 1 and 1000000, not `0`"),
        ("limits: {perhour: 5}", "unknown key `perhour` in `limits` (did you mean `per_hour`?)"),
        ("max_age: 1d", "unknown key `max_age`: it belongs under `input`"),
        ("limits: {every: 1d}", "unknown key `every` in `limits`: it belongs at the top, not under `limits`"),
        ("id: other", "unknown key `id`: the file's name is the id"),
        ("task: do it", "unknown key `task`: in a .md file the task stands below the closing `---`"),
        ("same: true", "unknown key `same`"),
        ("max_age_s: 5", "unknown key `max_age_s`"),
        ("profile: {about: x}", "`profile.name` is missing"),
    ],
)
def test_a_wrong_value_is_told_in_its_line(tmp_path: Path, line: str, fault: str) -> None:
    (found,) = told(tmp_path, persona(line))
    assert found.startswith("7:")
    assert fault in found


def test_a_mistyped_key_is_told_once_and_not_as_missing_too(tmp_path: Path) -> None:
    found = told(tmp_path, persona("trigr: every-message", trigger=None))
    assert found == ["6:1 unknown key `trigr` (did you mean `trigger`?)"]


def test_a_number_with_an_exponent_is_a_number(tmp_path: Path) -> None:
    assert loaded(tmp_path, persona("temperature: 7e-1")).temperature == 0.7


def test_people_become_hex_and_what_is_nobody_is_named(tmp_path: Path) -> None:
    """D12: an npub inside a filter was only logged by the relay, and nothing came back."""
    other = "D23D30861AA5F307EB9331096D719E362CA39ACF38212E3C70E20167C3F51A63"
    gana = loaded(tmp_path, persona(input=f"{{type: mentions, allow: [{NPUB}, {other}, 'nostr:{NPUB}']}}"))
    assert gana.input is not None
    assert gana.input.allow == (PUBKEY, other.lower(), PUBKEY)
    (found,) = told(tmp_path, persona(input=f"{{type: mentions, allow: [{NPUB}, nobody]}}"))
    assert found.startswith("4:98 `input.allow` entry 2 is not usable: 'nobody'")


def test_an_id_of_digits_stays_an_id(tmp_path: Path) -> None:
    digits = "1234567890" * 6 + "1234"
    gana = loaded(
        tmp_path, persona(input=f"{{type: group, ref: {digits}}}", output="{type: group, ref: same}")
    )
    assert gana.output.ref == digits


@pytest.mark.parametrize("identity", ["env:TIDE_NSEC", "env:_x1", "key:tide", "key:tide-2"])
def test_an_identity_names_where_the_key_is(tmp_path: Path, identity: str) -> None:
    assert loaded(tmp_path, persona(identity=identity)).identity == identity


@pytest.mark.parametrize(
    ("identity", "fault"),
    [
        ("6b52b64bab2c2d9c0f0814540f607980aafe91791c49dcfc9a38c10e2df17071", "must not hold the key itself"),
        (NPUB, "is a public key (npub)"),
        ("bunker://abc?relay=wss://r.example", "not built yet in this version"),
        ("TIDE_NSEC", "must be env:NAME (a variable) or key:NAME"),
        ("env:TIDE NSEC", "must be env:NAME"),
        ("key:../../etc/passwd", "must be env:NAME"),
        ("key:Tide", "must be env:NAME"),
    ],
)
def test_an_identity_that_names_nothing_is_refused_without_repeating_it(
    tmp_path: Path, identity: str, fault: str
) -> None:
    (found,) = told(tmp_path, persona(identity=f'"{identity}"'))
    assert fault in found
    assert identity not in found


def test_an_error_of_the_model_itself_hides_what_was_given() -> None:
    """Python code that builds a Gana gets pydantic's own error: the key must not stand in it."""
    with pytest.raises(ValidationError) as caught:
        group_gana(identity=NSEC)
    assert NSEC[5:20] not in str(caught.value)


def test_a_huge_value_is_not_repeated(tmp_path: Path) -> None:
    (found,) = told(tmp_path, persona(f"max_tokens: {'9' * 5000}"))
    assert len(found) < 200


@pytest.mark.parametrize(
    ("kind", "ref", "surface"),
    [
        (InputType.GROUP, GROUP, f"group:{GROUP}"),
        (InputType.USER, NPUB, f"user:{PUBKEY}"),
        (InputType.MENTIONS, None, f"mentions:{'b' * 64}"),
    ],
)
def test_the_input_decides_the_surface(kind: InputType, ref: str | None, surface: str) -> None:
    gana = group_gana(input=Input(type=kind, ref=ref), output=Output(type=OutputType.FEED))
    assert gana.input_surface("b" * 64) == surface
    assert group_gana(input=None).input_surface("b" * 64) is None


def test_same_becomes_the_id_of_the_input() -> None:
    output = group_gana().output
    assert (output.same, output.ref) == (True, GROUP)
    assert group_gana(output=Output(type=OutputType.GROUP, ref="same", reply=True)).output == output


def test_a_gana_does_not_change() -> None:
    with pytest.raises(ValidationError):
        group_gana().name = "Other"


@pytest.mark.parametrize(
    "name", ["Tide.md", "tide_1.md", "-tide.md", "tide table.md", "x" * 65 + ".md", "é.md"]
)
def test_a_file_name_that_is_no_id_is_told_with_a_better_one(tmp_path: Path, name: str) -> None:
    (found,) = told(tmp_path, persona(), name)
    assert found.startswith("1:1 file names are 1 to 64 of a-z, 0-9 and -: rename it to ")


@pytest.mark.parametrize(
    ("written", "value", "rounds", "told"), [("auto", 0, 4, "auto"), ("7", 7, 7, 7), ('"auto"', 0, 4, "auto")]
)
def test_rounds_are_a_number_or_what_was_measured(
    tmp_path: Path, written: str, value: int, rounds: int, told: int | str
) -> None:
    gana = loaded(tmp_path, persona(f"max_rounds: {written}"))
    assert (gana.max_rounds, gana.rounds) == (value, rounds)
    assert gana.model_dump(mode="json")["max_rounds"] == told
    assert gana.model_validate(gana.model_dump()) == gana
