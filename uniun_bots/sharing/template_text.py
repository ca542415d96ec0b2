"""Templates written out: from a persona to what is published, and from a template to a file with blanks to fill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from uniun_bots.nostr.reference import spell_note, spell_npub
from uniun_bots.personas.gana import Gana, InputType, OutputType
from uniun_bots.sharing.event import Manifest
from uniun_bots.sharing.persona_template import PersonaTemplate, SkillReference, TemplateInput, TemplateOutput

_REF_OF_INPUT = {
    InputType.GROUP: "the id of the group's kind-40 event",
    InputType.PRIVATE_GROUP: "the id of the group",
    InputType.USER: "the npub of the person",
    InputType.FOLLOWED_NOTE: "the id of the note",
    InputType.DM: "the npub of the person, or any",
}
_UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def template_of(gana: Gana, skills: Iterable[SkillReference]) -> PersonaTemplate:
    """What others may have of it. Field by field, so that what a persona file learns later does not slip through."""
    return PersonaTemplate(
        name=gana.name,
        description=gana.description or gana.name,
        input=TemplateInput(type=gana.input.type) if gana.input else None,
        output=TemplateOutput(
            type=gana.output.type,
            ref="same" if gana.output.same else None,
            reply=gana.output.reply,
            max_chars=gana.output.max_chars,
            references=gana.output.references,
        ),
        trigger=gana.trigger,
        every_s=gana.every_s,
        cron=gana.cron,
        agentic=gana.agentic,
        max_rounds=gana.max_rounds,
        skills=tuple(skills),
        task=gana.task,
    )


def template_text(template: PersonaTemplate) -> str:
    """As it is signed. It reads back as the same template."""
    lines = ["---", *_head(template)]
    if template.input:
        lines.append(f"input: {{type: {template.input.type}}}")
    lines += [f"output: {_output(template.output)}", *_timing(template)]
    if template.skills:
        lines.append("skills:")
        lines += [
            f"  - {{name: {_text(s.name)}, event: {s.event}, hash: {_text(s.hash)}}}" for s in template.skills
        ]
    return "\n".join([*lines, "---", template.task, ""])


def persona_text(
    template: PersonaTemplate, gana_id: str, manifest: Manifest | None, content_hash: str
) -> str:
    """A persona file that is off, with what its owner has to say left blank: `check` names each of them."""
    lines = ["---", *_head(template)]
    lines.append(f"# identity: key:{gana_id}    # fill in: `uniun-bots keys new {gana_id}` makes the key")
    lines.append("mode: off")
    if template.input:
        lines += ["input:", f"  type: {template.input.type}"]
        if blank := _REF_OF_INPUT.get(template.input.type):
            lines.append(f"  # ref:    # fill in: {blank}")
    lines += [*_output_lines(template.output), *_timing(template)]
    lines += _skill_lines(template.skills)
    lines.append(_origin(manifest, content_hash))
    return "\n".join([*lines, "---", template.task, ""])


def _head(template: PersonaTemplate) -> list[str]:
    return [f"name: {_text(template.name)}", f"description: {_text(template.description)}"]


def _output(output: TemplateOutput) -> str:
    return "{" + ", ".join(_output_keys(output)) + "}"


def _output_lines(output: TemplateOutput) -> Iterator[str]:
    yield "output:"
    yield from (f"  {line}" for line in _output_keys(output))
    if output.type is not OutputType.FEED and output.ref is None:
        yield "  # ref:    # fill in: `same` for where the input comes from, or the id of a place"


def _output_keys(output: TemplateOutput) -> Iterator[str]:
    yield f"type: {output.type}"
    if output.ref:
        yield f"ref: {output.ref}"
    if output.reply:
        yield "reply: true"
    yield f"max_chars: {output.max_chars}"
    yield f"references: {output.references}"


def _timing(template: PersonaTemplate) -> Iterator[str]:
    yield f"trigger: {template.trigger}"
    if template.every_s is not None:
        yield f"every: {_duration(template.every_s)}"
    if template.cron is not None:
        yield f"cron: {_text(template.cron)}"
    if template.agentic:
        yield "agentic: true"
        yield f"max_rounds: {template.max_rounds}"


def _skill_lines(skills: Iterable[SkillReference]) -> Iterator[str]:
    found = list(skills)
    for skill in found:
        yield f"# `uniun-bots skill install {spell_note(skill.event)}` gets {skill.name}, {skill.hash}"
    if found:
        yield f"skills: [{', '.join(_text(skill.name) for skill in found)}]"


def _origin(manifest: Manifest | None, content_hash: str) -> str:
    said = f"# From a persona template, sha256:{content_hash}"
    if manifest is None:
        return said
    return f"{said}: {manifest.name} {manifest.version} by {spell_npub(manifest.author)}, event {manifest.event.id}"


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _text(value: str) -> str:
    """In the double quotes of YAML, which JSON's are too."""
    return json.dumps(value, ensure_ascii=False)
