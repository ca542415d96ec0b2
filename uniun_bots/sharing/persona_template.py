"""A persona as others may have it: what it does and when, and nothing about who, where, to whom or by which key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from uniun_bots.errors import BadContent, Fault
from uniun_bots.nostr.event_id import is_id
from uniun_bots.personas import scalars
from uniun_bots.personas.cron import cron_line
from uniun_bots.personas.frontmatter import FIRST_LINE, split_frontmatter
from uniun_bots.personas.gana import Flag, InputType, Line, Name, OutputType, References, Task, Trigger
from uniun_bots.personas.reading import Schema, read_model, with_clashes
from uniun_bots.personas.settings import TEMPLATE_KIND
from uniun_bots.personas.text_file import fault_at, read_text
from uniun_bots.personas.yaml_reader import read_yaml
from uniun_bots.sharing.event import Form
from uniun_bots.sharing.visible import comments_in
from uniun_bots.skills.hidden import hidden_characters, hidden_markup
from uniun_bots.skills.skill_name import skill_name

TEMPLATE = Form("persona template", "persona-template", TEMPLATE_KIND)
MOST_SKILLS = 20

_STRICT = ConfigDict(
    frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, hide_input_in_errors=True
)
_YOURS = ": whoever installs a template decides that, so it is not part of one"
_UNWRITABLE = {
    **dict.fromkeys(("identity", "mode", "relays", "manas", "webhook", "profile", "limits", "model"), _YOURS),
    **dict.fromkeys(("debounce", "temperature", "max_tokens", "id", "file"), _YOURS),
    "task": ": the task stands below the closing `---`",
}
_MISSING = {
    "name": "write `name: Tide Teller`",
    "description": "say in one sentence what the persona does",
    "output": "write `output: {type: feed}`",
    "trigger": "write `trigger: every-message` or `trigger: on-schedule`",
    "type": "say which kind it is",
    "task": "write below the closing `---` what the persona is to do",
}
_STAND_INS: dict[str, object] = {
    "name": "-",
    "description": "-",
    "output": {"type": "feed"},
    "trigger": "once-on-enable",
    "task": "-",
}


def _event_id(written: str) -> str:
    if not is_id(written):
        raise ValueError("must be the id of an event: 64 lower-case hex characters")
    return written


def _content_hash(written: str) -> str:
    kind, _, digits = written.partition(":")
    if kind != "sha256" or not is_id(digits):
        raise ValueError("must be `sha256:` and 64 lower-case hex characters")
    return written


class SkillReference(BaseModel):
    model_config = _STRICT

    name: Annotated[str, scalars.Form(skill_name, words="1 to 64 of `a-z`, `0-9` and `-`")]
    event: Annotated[str, scalars.checked(_event_id, "id of an event in hex")]
    """That of the version: its id stays."""
    hash: Annotated[str, scalars.checked(_content_hash, "`sha256:` and the hash of its text")]


class TemplateInput(BaseModel):
    model_config = _STRICT

    type: Annotated[InputType, scalars.one_of(InputType)]


class TemplateOutput(BaseModel):
    model_config = _STRICT

    type: Annotated[OutputType, scalars.one_of(OutputType)]
    ref: Annotated[str, scalars.one_of(("same",))] | None = None
    """Only that it answers where the input comes from; a place of its own is for whoever installs it to name."""
    reply: Flag = False
    max_chars: Annotated[int, scalars.whole(1, 20_000)] = 500
    references: Annotated[References, scalars.one_of(References)] = References.E


class PersonaTemplate(BaseModel):
    model_config = _STRICT

    name: Name
    description: Line
    input: TemplateInput | None = None
    output: TemplateOutput
    trigger: Annotated[Trigger, scalars.one_of(Trigger)]
    every_s: Annotated[int, scalars.seconds("5m", "365d")] | None = Field(
        default=None, validation_alias="every"
    )
    cron: Annotated[str, scalars.checked(cron_line, "cron line of five fields, in quotes")] | None = None
    agentic: Flag = False
    max_rounds: Annotated[int, scalars.whole(1, 20)] = 4
    skills: Annotated[
        tuple[SkillReference, ...], scalars.list_of("skills with name, event and hash", MOST_SKILLS)
    ] = ()
    task: Task


@dataclass(frozen=True, slots=True)
class _Given:
    text: str
    file: str

    def hidden(self) -> Iterator[Fault]:
        """A model reads the task as it stands, so nothing may stand there that a reader does not see."""
        for index, told in (*hidden_characters(self.text), *hidden_markup(self.text)):
            yield fault_at(self.file, self.text, index, told)
        for index, _ in comments_in(self.text):
            told = "a comment, which a reader does not see and the model would: remove it"
            yield fault_at(self.file, self.text, index, told)


def read_template(text: str, file: str) -> PersonaTemplate:
    """`file` is how it is told to people. Raises BadContent with every fault."""
    source = read_text(file, text.encode(errors="replace"))
    if source.text is None:
        raise BadContent(source.faults)
    try:
        parts = split_frontmatter(source.text)
    except ValueError as error:
        raise BadContent((*source.faults, fault_at(file, source.text, 0, str(error)))) from None
    sheet = read_yaml(parts.yaml, file, FIRST_LINE)
    sheet.values["task",] = parts.body_place
    given: dict[str, object] = {"task": parts.body} if parts.body else {}
    schema = Schema(PersonaTemplate, given, _STAND_INS, _MISSING, _UNWRITABLE)
    reading = with_clashes(read_model(schema, sheet), sheet, [], source.faults)
    faults = (*reading.faults, *_Given(source.text, file).hidden())
    if faults or reading.value is None:
        raise BadContent(faults)
    return reading.value
