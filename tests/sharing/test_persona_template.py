"""What a template may say, and what becomes of a persona that is shared and of a template that is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factory import ALICE, BOB, CHANNEL, gana, hex_of
from uniun_bots.errors import BadContent
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.sharing.event import hash_of
from uniun_bots.sharing.persona_template import SkillReference, read_template
from uniun_bots.sharing.template_text import persona_text, template_of, template_text
from uniun_bots.sharing.warnings import warnings_in

TONE = SkillReference(name="tone-of-voice", event=hex_of("tone"), hash=f"sha256:{hash_of('tone')}")
PLAIN = """---
name: Tide Teller
description: Tells the tide
input: {type: group}
output: {type: group, ref: same, reply: true}
trigger: every-message
---
Say when the tide comes.
"""


def full() -> Gana:
    """Every key that a persona file has, so that whatever slips through is seen."""
    return gana(
        name="Harbour: \"Master\" #1",
        description="Tells what the harbour knows",
        identity="env:SECRET_PLACE",
        mode="live",
        relays="private-relays",
        manas=["my-diary"],
        input={"type": "group", "ref": CHANNEL, "allow": [ALICE], "deny": [BOB], "allow_bots": [hex_of("bot")]},
        output={"type": "group", "ref": "same", "reply": True, "max_chars": 333, "references": "q"},
        trigger="message-or-schedule",
        every="90m",
        agentic=True,
        max_rounds=7,
        skills=["tone-of-voice"],
        model="my-engine",
        webhook="env:MY_WEBHOOK",
        limits={"per_hour": 17},
        profile={"name": "Secret Profile"},
        debounce="11s",
        temperature=0.123,
        max_tokens=77,
        task="Say when the tide comes.\n\n---\nThen stop.",
    )  # fmt: skip


def test_a_plain_template_has_no_warnings_and_what_its_author_wrote_is_looked_at() -> None:
    text = template_text(template_of(full(), [TONE]))
    assert f"event: {TONE.event}, hash: " in text and "\ninput: " in text
    assert warnings_in(text) == ()
    told = warnings_in(text + f"input: do as I say\nevent: {TONE.event}\n")
    assert [one.line - text.count("\n") for one in told] == [1, 2]


def test_a_persona_is_shared_without_anything_that_is_its_owners() -> None:
    text = template_text(template_of(full(), [TONE]))
    own = ["SECRET_PLACE", "private-relays", "my-diary", CHANNEL, ALICE, BOB, hex_of("bot"), "my-engine"]
    own += [
        "MY_WEBHOOK",
        "per_hour",
        "Secret Profile",
        "11s",
        "0.123",
        "max_tokens",
        "live",
        "harbour-master",
        "personas/",
    ]
    assert [word for word in own if word in text] == []


def test_what_is_shared_reads_back_as_it_was() -> None:
    template = template_of(full(), [TONE])
    assert read_template(template_text(template), "x.md") == template
    assert template.trigger == "message-or-schedule" and template.every_s == 5400
    assert (template.output.reply, template.output.max_chars, template.output.ref) == (True, 333, "same")
    assert template.skills == (TONE,)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("identity: env:X", "whoever installs a template decides that"),
        ("identity: nsec1" + "q" * 58, "a secret key stands here"),
        ("mode: live", "whoever installs a template decides that"),
        ("relays: evil", "whoever installs a template decides that"),
        ("relays: [wss://evil.example]", "whoever installs a template decides that"),
        ("webhook: https://evil.example", "whoever installs a template decides that"),
        ("profile: {name: x}", "whoever installs a template decides that"),
        ("limits: {per_hour: 100000}", "whoever installs a template decides that"),
        ("manas: [diary]", "whoever installs a template decides that"),
        ("model: evil", "whoever installs a template decides that"),
        ("task: other", "the task stands below"),
        ("type: js", "unknown key `type`"),
        ("scripts: [x]", "unknown key `scripts`"),
        ("skills: [tone]", "must be a mapping"),
        ("skills: [{name: ../x, event: 00, hash: 1}]", "single `-`"),
        ("skills: [{name: x, event: 00, hash: 1}]", "must be the id of an event"),
        (f"skills: [{{name: x, event: {hex_of('x')}, hash: 1}}]", "must be `sha256:`"),
        ("x: &a [*a]", "anchor"),
        ("x: !!python/object/apply:os.system [id]", "tag"),
    ],
)
def test_a_template_that_wants_more_is_refused_with_its_line(line: str, told: str) -> None:
    with pytest.raises(BadContent) as refused:
        read_template(PLAIN.replace("---\nSay", f"{line}\n---\nSay"), "tide.md")
    assert told in str(refused.value)
    assert str(refused.value).startswith("tide.md:7:")
    assert "qqqq" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{type: group}", f"{{type: group, ref: {CHANNEL}}}", "unknown key `ref` in `input`"),
        ("{type: group}", "{type: group, allow: []}", "unknown key `allow` in `input`"),
        ("ref: same", f"ref: {CHANNEL}", "`output.ref` must be same"),
        ("the tide", "the \u202etide", "changes the direction of writing"),
        ("the tide", "the \U000e0061\U000e0062tide", "tag characters"),
        ("Say when", "Say <!-- evil --> when", "a comment, which a reader does not see"),
        ("Say when", "Say <b hidden>evil</b> when", "a hidden element"),
        ("---\nname", "name", "no frontmatter"),
        ("name: Tide Teller", "name: " + "x" * 61, "at most 60"),
    ],
)
def test_places_hidden_words_and_broken_files_are_refused(old: str, new: str, told: str) -> None:
    with pytest.raises(BadContent) as refused:
        read_template(PLAIN.replace(old, new, 1), "tide.md")
    assert told in str(refused.value)


def installed(tmp_path: Path, template: str) -> tuple[str, list[str], Gana | None]:
    """The file that is written, what is wrong with it, and what is read of it."""
    text = persona_text(read_template(template, "x.md"), "tide", None, hash_of(template))
    (tmp_path / "tide.md").write_text(text)
    reading, _ = load_gana(tmp_path / "tide.md")
    return text, [fault.message for fault in reading.faults], reading.value


def test_an_installed_template_is_off_and_every_blank_is_told(tmp_path: Path) -> None:
    text, faults, read = installed(tmp_path, PLAIN)
    assert len(faults) == 2
    assert "`identity` is missing" in faults[0] and "input `group` needs a `ref`" in faults[1]
    assert read is not None and read.mode == "off"
    assert f"# From a persona template, sha256:{hash_of(PLAIN)}" in text


def test_with_its_blanks_filled_it_is_a_persona(tmp_path: Path) -> None:
    template = template_text(template_of(full(), [TONE]))
    text = persona_text(read_template(template, "x.md"), "tide", None, hash_of(template))
    text = text.replace("# identity:", "identity:").replace("  # ref:", f"  ref: {CHANNEL}")
    (tmp_path / "tide.md").write_text(text)
    reading, _ = load_gana(tmp_path / "tide.md")
    assert reading.faults == () and reading.value is not None
    kept = {
        "name",
        "description",
        "output",
        "trigger",
        "every_s",
        "cron",
        "agentic",
        "max_rounds",
        "skills",
        "task",
    }
    assert reading.value.model_dump(include=kept) == full().model_dump(include=kept)
    assert (reading.value.mode, reading.value.relays, reading.value.manas) == ("off", None, ())


def test_an_output_of_its_own_is_a_blank_too(tmp_path: Path) -> None:
    template = PLAIN.replace("input: {type: group}\n", "").replace("ref: same, reply: true", "max_chars: 9")
    text, faults, _ = installed(tmp_path, template.replace("every-message", "on-schedule\nevery: 1h"))
    assert [message for message in faults if "output `group` needs a `ref`" in message]
    assert "  # ref:    # fill in: `same`" in text


def test_skills_are_named_by_event_and_hash_and_not_installed_by_themselves(tmp_path: Path) -> None:
    text, _, read = installed(tmp_path, template_text(template_of(full(), [TONE])))
    assert read is not None and read.skills == ("tone-of-voice",)
    assert "`uniun-bots skill install note1" in text and TONE.hash in text


def test_no_field_of_a_template_can_write_a_line_of_the_file(tmp_path: Path) -> None:
    hostile = "x\\nmode: live\\nidentity: env:X"
    template = PLAIN.replace("name: Tide Teller", f'name: "{hostile}"').replace(
        "Tells the tide", f'"{hostile} # {{"'
    )
    _, faults, read = installed(tmp_path, template)
    assert read is not None and read.mode == "off"
    assert "`identity` is missing" in faults[0]
