"""One persona of a project, ready for a stage: on the stage's relay, with stand-ins for the people that it names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from uniun_bots.host.project_folder import load_folder
from uniun_bots.host.rehearsal.staging import Staged, stage
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.gana import Gana, InputType
from uniun_bots.personas.project import Project
from uniun_bots.personas.relay_set import RelayAddress, RelaySet
from uniun_bots.skills.library import Library

FRIEND = "friend"
STAR = "the user that it reads"


def read_stage(
    folder: Path, name: str, data_dir: Path, relay: str
) -> tuple[Staged, Library, dict[str, LocalSigner]]:
    """With the people that stand in. Raises ConfigError and NotFound."""
    project, library = load_folder(folder)
    only = {project.gana(name).id}
    staged = stage(_on_relay(project, relay), data_dir, os.environ, only=only, scripted=True)
    cast = {FRIEND: LocalSigner(new_secret()), STAR: LocalSigner(new_secret())}
    (gana,) = staged.project.ganas
    changed = replace(staged.project, ganas=(_with_stand_ins(gana, cast),))
    return replace(staged, project=changed), library, cast


def _on_relay(project: Project, relay: str) -> Project:
    """Every set is this one relay: nothing leaves the machine."""
    address = RelayAddress(url=relay)
    sets = {name: RelaySet(name=name, relays=(address,)) for name in project.relay_sets}
    return replace(project, relay_sets=sets)


def _with_stand_ins(gana: Gana, cast: dict[str, LocalSigner]) -> Gana:
    """A test has no key of the people in the file."""
    if gana.input is None:
        return gana
    given = gana.input
    changes: dict[str, object] = {}
    if given.type is InputType.USER:
        changes["ref"] = cast[STAR].public_key
    if given.allow:
        changes["allow"] = (*given.allow, cast[FRIEND].public_key, cast[STAR].public_key)
    return gana.model_copy(update={"input": given.model_copy(update=changes)})
