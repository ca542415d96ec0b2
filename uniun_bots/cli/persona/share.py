"""`uniun-bots persona publish`, `inspect` and `install`: personas as templates that others fill in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from uniun_bots.cli.folder import folder_option, json_option, require_project
from uniun_bots.cli.sharing.common import (
    accept_option,
    go,
    opened,
    or_what_replaced_it,
    relays_option,
    skill_form,
    terminal,
)
from uniun_bots.cli.sharing.gate import gate_of, show_gate
from uniun_bots.cli.sharing.publish import Order, lint, publish, publish_options, text_to_sign
from uniun_bots.clock import WallClock
from uniun_bots.errors import NotFound
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.new_persona import check_free, write_persona
from uniun_bots.personas.project import load_project
from uniun_bots.sharing.candidate import is_local
from uniun_bots.sharing.consent import ask_consent
from uniun_bots.sharing.event import Release, hash_of
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.gate import Gate
from uniun_bots.sharing.persona_template import TEMPLATE, PersonaTemplate, read_template
from uniun_bots.sharing.publish import Before, release_of
from uniun_bots.sharing.template_candidate import TemplateCandidate, look_up_template, read_local_template
from uniun_bots.sharing.template_skills import skill_references
from uniun_bots.sharing.template_text import persona_text, template_of, template_text
from uniun_bots.skills.catalogue import DEVICE
from uniun_bots.skills.load_skills import load_skills

_EXAMPLE = "npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy/tide-teller"


@click.command("publish", epilog="Example: uniun-bots persona publish tide-teller --to public --dry-run")
@click.argument("name")
@publish_options
def publish_persona(order: Order, name: str) -> None:
    """Give a persona to others as a template: its task, when it runs, which types it has, and its skills by id.

    Never its identity, the places and people that it names, its relays, its Manas or its limits.
    """
    gana, signer = load_project(order.folder).gana(name), order.signer()

    async def main() -> int:
        async with opened(order.folder, order.relay_set, signer) as where:
            text = await _template_text(order.folder, where, gana, signer.public_key)
            lint(text, name, TEMPLATE)

            def release_after(before: Before) -> Release:
                return release_of(
                    name,
                    gana.description or gana.name,
                    text,
                    before,
                    version=order.version,
                    good_for_s=order.good_for_s,
                    now=WallClock().now(),
                )

            return await publish(order, where, signer, name, TEMPLATE, release_after)

    go(main())


@click.command("inspect", epilog=f"Example: uniun-bots persona inspect {_EXAMPLE}")
@click.argument("reference", metavar="REF")
@relays_option
@json_option
@folder_option
def inspect_persona(reference: str, relay_set: str | None, as_json: bool, folder: Path) -> None:
    """Look at a template that somebody shared: the whole of it, warnings, who signed it. Nothing is written.

    REF is note1…, nevent1…, naddr1…, hex, npub1…/name or npub1…/name@version; or a path.
    """

    async def main() -> int:
        async with _gate(folder, reference, relay_set, asks=not as_json) as (gate, _):
            show_gate(gate, as_json=as_json)
            return 0

    go(main())


@click.command("install", epilog=f"Example: uniun-bots persona install {_EXAMPLE} --as my-tides")
@click.argument("reference", metavar="REF")
@click.option("--as", "given", metavar="NAME", help="What the file is called; default: as the template is.")
@accept_option
@relays_option
@folder_option
def install_persona(
    reference: str, given: str | None, accept: str | None, relay_set: str | None, folder: Path
) -> None:
    """Write a persona file from a template, after a look at the whole of it and a yes.

    The persona is off, and what only you can say is left blank: `uniun-bots check` names each blank. Until they are
    filled in, a host leaves the persona out. Without a terminal nothing is written, unless --accept names exactly
    these bytes.
    """
    require_project(folder)

    async def main() -> int:
        async with _gate(folder, reference, relay_set, asks=accept is None) as (gate, candidate):
            name = given or candidate.name
            check_free(folder, name)
            show_gate(gate)
            if not ask_consent(gate.preview, accept, terminal()):
                click.echo("nothing was installed")
                return 1
            _write(folder, name, candidate)
            return 0

    go(main())


@asynccontextmanager
async def _gate(
    folder: Path, reference: str, relay_set: str | None, *, asks: bool
) -> AsyncIterator[tuple[Gate, TemplateCandidate]]:
    known = [path.stem for path in (folder / "personas").glob("*.*")]
    if is_local(reference):
        local = read_local_template(Path(reference))
        yield await gate_of(folder, local, None, known, TEMPLATE.what), local
        return
    async with opened(folder, relay_set) as where:

        async def look(at: str) -> TemplateCandidate:
            return await look_up_template(where, at, WallClock().now())

        found = await or_what_replaced_it(reference, look, asks=asks)
        yield await gate_of(folder, found, where, known, TEMPLATE.what), found


def _write(folder: Path, name: str, candidate: TemplateCandidate) -> None:
    text = persona_text(candidate.template, name, candidate.manifest, candidate.content_hash)
    path = write_persona(folder, name, text)
    click.echo(f"wrote {path}; the persona is off. Still to be filled in:")
    for fault in load_gana(path)[0].faults:
        click.echo(f"  {fault}")
    _tell_skills(folder, candidate.template)
    click.echo(f"Then: uniun-bots check {folder}")


def _tell_skills(folder: Path, template: PersonaTemplate) -> None:
    """A template names skills and never brings them along."""
    here = _hashes(folder, [skill.name for skill in template.skills])
    for skill in template.skills:
        if skill.name not in here:
            click.echo(f"  the skill {skill.name}: uniun-bots skill install {skill.event}")
        elif f"sha256:{here[skill.name]}" != skill.hash:
            click.echo(
                f"  the skill {skill.name} is here with another text than the template names ({skill.hash})"
            )


async def _template_text(folder: Path, where: Where, gana: Gana, author: str) -> str:
    """What is signed, read by our own reader first."""
    for device in (skill for skill in gana.skills if skill in DEVICE):
        click.echo(f"{device} is not part of a template: whoever installs it decides about that", err=True)
    wanted = [skill for skill in gana.skills if skill not in DEVICE]
    hashes = _hashes(folder, wanted)
    if missing := [skill for skill in wanted if skill not in hashes]:
        raise NotFound(f"the skill {missing[0]} of {gana.id} cannot be read; see `uniun-bots skill list`")
    installed = load_skills(folder).installed
    skills = await skill_references(where, author, hashes, installed, skill_form(folder))
    text = template_text(template_of(gana, skills))
    read_template(text, f"{gana.id}.md")
    return text


def _hashes(folder: Path, names: list[str]) -> dict[str, str]:
    """Of the texts of these skills as they are here, as far as they are."""
    library = load_skills(folder)
    kept = {one.name: one.content_hash for one in library.installed}
    found: dict[str, str] = {}
    for name in names:
        file = folder / "skills" / f"{name}.md"
        if name in {skill.name for skill in library.texts.values()}:
            found[name] = kept.get(name) or hash_of(text_to_sign(file))
    return found
