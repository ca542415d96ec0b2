"""`uniun-bots skill`: the skills of a project: look at them, write your own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.commands import Commands
from uniun_bots.cli.folder import console, data_dir, folder_option, json_option
from uniun_bots.cli.listing import listing
from uniun_bots.cli.skill.shelf import installed_rows, provenance, remove_installed
from uniun_bots.errors import AlreadyThere, ConfigError, NotFound, UniunError
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.names import files_in
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.editing import DESCRIPTION, TEMPLATE, Shelf
from uniun_bots.skills.library import PREFIX, Library
from uniun_bots.skills.load_skills import is_catalogue, load_skills
from uniun_bots.skills.skill import Skill, Source

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Take the text from a file (`-`: standard input) instead of $EDITOR.",
)


_HERE = "uniun_bots.cli"
PLACES = (
    ("install", f"{_HERE}.skill.install:install_skill", "Install a skill."),
    ("inspect", f"{_HERE}.skill.inspect:inspect_skill", "Look at a skill that somebody shared."),
    ("update", f"{_HERE}.skill.install:update_skill", "Follow the authors of installed skills."),
    ("publish", f"{_HERE}.skill.publish:publish_skill", "Give a skill of your own to others."),
    ("search", f"{_HERE}.skill.search:search_skills", "Skills that others published."),
    ("revoke", f"{_HERE}.sharing.revoke:revoke_skill", "Take back every version of a skill that you published."),
)  # fmt: skip


@click.group(cls=Commands, places=PLACES, epilog="Example: uniun-bots skill list --dir my-bots")
def skill() -> None:
    """Skills: what personas bring along and what agentic ones may call."""


@skill.command("list", epilog="Example: uniun-bots skill list --json")
@folder_option
@json_option
def list_skills(folder: Path, as_json: bool) -> None:
    """The project's own skills, installed ones and where they came from, those that cannot be used, the predefined."""
    found = [
        *_own(folder),
        *(_summary(name, one, ()) for name, one in load_skills(folder).predefined.items()),
    ]
    if as_json:
        click.echo(json.dumps(found))
        return
    keys = ("is", "state", "from", "personas", "description")
    rows = ([one["name"], *(_cell(one.get(key, "")) for key in keys)] for one in found)
    console().print(listing(("skill", *keys), rows))


def _cell(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


@skill.command("show", epilog="Example: uniun-bots skill show tone-of-voice")
@click.argument("name")
@folder_option
@json_option
def show_skill(name: str, folder: Path, as_json: bool) -> None:
    """One skill: what its file says, and what the model gets of it."""
    library, spoken, found = _find(folder, name)
    origin = provenance(library, spoken) if found.source is Source.INSTALLED else {}
    if as_json:
        said = _summary(spoken, found, _users(folder, found.name)) | origin
        click.echo(json.dumps(said | {**found.file.model_dump(), "text": found.text}))
        return
    for key, value in {**_heading(spoken, found), **origin}.items():
        click.echo(f"{key:14} {', '.join(value) if isinstance(value, list) else value}")
    click.echo(f"\n{found.file.body}")
    if found.text != found.file.body:
        click.echo(f"\nThe model does not get the comments:\n\n{found.text}")


@skill.command("new", epilog="Example: uniun-bots skill new tone-of-voice --from tone.md")
@click.argument("name")
@click.option("--description", default=DESCRIPTION, help="For the template: when to use the skill.")
@from_option
@yes_option
@folder_option
def new_skill(name: str, description: str, source: Path | None, yes: bool, folder: Path) -> None:
    """Write a skill of your own: a template opens in $EDITOR, and is saved when nothing is wrong with it."""
    shelf = _shelf(folder)
    if shelf.text(name) is not None:  # in a clone the predefined ones too
        raise AlreadyThere(str(shelf.path(name)))
    template = TEMPLATE.format(name=name, description=description)
    text = _text_of(source) if source else _edited(shelf, name, template)
    _save(folder, shelf, name, text, new=True, yes=yes)
    if name in BUILTINS:
        click.echo(f"a predefined skill has that name: the model calls yours {PREFIX}{name}")
    click.echo(f"write `skills: [{name}]` into a persona file to give it to the persona")


@skill.command("edit", epilog="Example: uniun-bots skill edit tone-of-voice")
@click.argument("name")
@from_option
@yes_option
@folder_option
def edit_skill(name: str, source: Path | None, yes: bool, folder: Path) -> None:
    """Change a skill of your own in $EDITOR; it is saved when nothing is wrong with it and you agree to the change."""
    shelf = _shelf(folder)
    before = _there(shelf, name)
    text = _text_of(source) if source else _edited(shelf, name, before)
    shelf.check(name, text)
    if text == before:
        click.echo("nothing was changed")
        return
    click.echo("".join(unified_diff(_lines(before), _lines(text), "before", "after")), nl=False)
    _save(folder, shelf, name, text, new=False, yes=yes)


@skill.command("remove", epilog="Example: uniun-bots skill remove tone-of-voice --yes")
@click.argument("name")
@yes_option
@folder_option
def remove_skill(name: str, yes: bool, folder: Path) -> None:
    """Remove a skill of your own, which `skill undo` brings back; or an installed one, with all that is known of it."""
    shelf = _shelf(folder)
    is_installed = shelf.text(name) is None and any(one.name == name for one in load_skills(folder).installed)
    if not is_installed:
        _there(shelf, name)
    if users := _users(folder, name):
        raise NotFound(f"{name} is used by {', '.join(users)}: take it out of their `skills` first")
    if is_installed:
        _agree(f"Remove the installed skill {name}?", yes)
        remove_installed(folder, name)
        return
    _agree(f"Remove {shelf.path(name)}?", yes)
    shelf.remove(name)
    click.echo(f"{name} is removed; `uniun-bots skill undo {name}` brings it back")
    _tell_host(folder)


@skill.command("undo", epilog="Example: uniun-bots skill undo tone-of-voice")
@click.argument("name")
@folder_option
def undo_skill(name: str, folder: Path) -> None:
    """Bring back what was there before the last `new`, `edit` or `remove`; a second time, undo that."""
    there = _shelf(folder).undo(name)
    click.echo(f"{name} is as it was before" if there else f"{name} is gone, as it was before")
    _tell_host(folder)


def _text_of(source: Path) -> str:
    if str(source) == "-":
        return sys.stdin.read()
    return source.read_bytes().decode("utf-8", errors="replace")


def _shelf(folder: Path) -> Shelf:
    return Shelf(folder / "skills", data_dir(folder) / "skills-before")


def _there(shelf: Shelf, name: str) -> str:
    text = shelf.text(name)
    if name in BUILTINS and (text is None or is_catalogue(shelf.skills)):
        raise NotFound(
            f"{name} comes with the package and is not changed; `skill new` writes one of your own"
        )
    if text is None:
        raise NotFound(f"there is no {shelf.path(name)}; see `uniun-bots skill list`")
    return text


def _edited(shelf: Shelf, name: str, text: str) -> str:
    """What comes out of the editor, again and again until nothing is wrong with it or nobody wants to go on."""
    while True:
        edited = click.edit(text, extension=".md", require_save=True)
        if edited is None:
            click.echo("nothing was saved")
            sys.exit(1)
        text = edited
        try:
            shelf.check(name, text)
        except ConfigError as faults:
            click.echo(str(faults), err=True)
            if not click.confirm("Edit it again?", default=True):
                raise
        else:
            return text


def _save(folder: Path, shelf: Shelf, name: str, text: str, *, new: bool, yes: bool) -> None:
    shelf.check(name, text)
    _agree(f"Save {shelf.path(name)}?", yes)
    shelf.save(name, text, new=new)
    click.echo(f"saved {shelf.path(name)}; `uniun-bots skill undo {name}` takes it back")
    _tell_host(folder)


def _agree(question: str, yes: bool) -> None:
    if not yes and not click.confirm(question):
        click.echo("nothing was changed")
        sys.exit(1)


def _tell_host(folder: Path) -> None:
    """A running host reads the folder again."""
    where = data_dir(folder)
    if holder(where) is None:
        return
    try:
        asyncio.run(ask_host(where, "POST", "/reload", {"catch_up": [], "rearm": []}))
    except UniunError as fault:
        click.echo(f"the running host goes on with what it had: {fault}", err=True)


def _own(folder: Path) -> list[dict[str, Any]]:
    library = load_skills(folder)
    found = [
        _summary(name, one, _users(folder, one.name))
        for name, one in library.texts.items()
        if one.source is not Source.INSTALLED
    ]
    found += installed_rows(library, lambda name: _users(folder, name))
    return sorted([*found, *_broken(folder, library)], key=lambda one: str(one["name"]))


def _broken(folder: Path, library: Library) -> Iterable[dict[str, Any]]:
    for name in library.broken - {one.name for one in library.installed}:
        told = next(fault.message for fault in library.faults if Path(fault.file).stem == name)
        yield {"name": name, "is": "broken", "description": told, "personas": _users(folder, name)}


def _summary(name: str, found: Skill, users: Iterable[str]) -> dict[str, Any]:
    return {
        "name": name,
        "is": _is(name, found),
        "description": found.description,
        "personas": list(users),
        "file": found.path,
    }


def _is(name: str, found: Skill) -> str:
    """The same word in the list and for one alone."""
    if found.source is Source.INSTALLED:
        return str(Source.INSTALLED)
    return str(BUILTINS[name].role) if name in BUILTINS else "text"


def _heading(name: str, found: Skill) -> dict[str, str]:
    said = {"name": name, "is": _is(name, found), "file": found.path, "description": found.description}
    said |= {"license": found.file.license or "", "compatibility": found.file.compatibility or ""}
    said |= {f"metadata.{key}": value for key, value in found.file.metadata.items()}
    return {key: value for key, value in said.items() if value}


def _find(folder: Path, name: str) -> tuple[Library, str, Skill]:
    """Raises ConfigError for a skill that cannot be used, NotFound for none."""
    library = load_skills(folder)
    if name in library.broken:
        raise ConfigError([fault for fault in library.faults if Path(fault.file).stem == name])
    spoken = library.spoken_name(name)
    if spoken is not None:
        return library, spoken, library.texts[spoken]
    if name in library.disabled:
        raise NotFound(f"{name} is disabled: {library.disabled[name]}")
    if name in library.predefined:
        return library, name, library.predefined[name]
    raise NotFound(f"there is no skill {name}; see `uniun-bots skill list`")


def _users(folder: Path, name: str) -> list[str]:
    """Personas that name the skill, as far as their files can be read."""
    paths = files_in(folder / "personas", ".md", ".yaml")
    ganas = [gana for path in paths if (gana := load_gana(path)[0].value)]
    return [gana.id for gana in ganas if {name, PREFIX + name} & set(gana.skills)]


def _lines(text: str) -> list[str]:
    return [line + "\n" for line in text.splitlines()]
