"""A project made ready for the stage: its personas live, on keys and in a folder of their own, and no way out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from uniun_bots.errors import KeyRefused, NotFound
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.gana import Gana, Mode
from uniun_bots.personas.keys import resolve_identity
from uniun_bots.personas.project import Project
from uniun_bots.personas.settings import DEFAULT_ENGINE, DEFAULT_MODEL, NO_EMBEDDER

VARIABLE = "STAGED_KEY_"


@dataclass(frozen=True, slots=True)
class Staged:
    project: Project
    environ: dict[str, str]
    """With the keys of the personas, under names that nothing else uses."""
    throwaway: tuple[str, ...]
    """Ganas whose real key was not at hand."""


def stage(
    project: Project,
    data_dir: Path,
    environ: Mapping[str, str],
    *,
    only: Collection[str] | None = None,
    real_keys: bool = False,
    scripted: bool = False,
) -> Staged:
    """`only`: these Ganas are put on. With `real_keys` those that can be opened without asking anybody are used.

    Every one of them runs live, whatever its mode: what it says goes where the caller leads it. `scripted`: the
    caller brings the engine `default`, and no other is made.
    """
    ganas: list[Gana] = []
    keys: dict[str, str] = {}
    throwaway: list[str] = []
    given = dict(environ)
    for gana in project.ganas:
        if only is not None and gana.id not in only:
            continue
        variable = keys.setdefault(gana.identity, f"{VARIABLE}{len(keys)}")
        if variable not in given:
            found = _real_key(gana.identity, project, environ) if real_keys else None
            given[variable] = found or new_secret().reveal
            if found is None:
                throwaway.append(gana.id)
        changes: dict[str, object] = {"mode": Mode.LIVE, "identity": f"env:{variable}", "webhook": None}
        ganas.append(gana.model_copy(update=changes | ({"model": DEFAULT_ENGINE} if scripted else {})))
    changes = {"data_dir": str(data_dir), "proxy": None, "webhook": None, "pow": 0, "embedder": NO_EMBEDDER}
    if scripted:
        changes |= {"engines": {}, "model": DEFAULT_MODEL}
    settings = project.settings.model_copy(update=changes)
    return Staged(replace(project, settings=settings, ganas=tuple(ganas)), given, tuple(throwaway))


def _real_key(identity: str, project: Project, environ: Mapping[str, str]) -> str | None:
    try:
        signer: LocalSigner = resolve_identity(identity, project.data_dir, environ, _ask_nobody)
    except (KeyRefused, NotFound):
        return None
    return str(signer.keys.secret_key().to_hex())


def _ask_nobody(purpose: str) -> str:
    raise KeyRefused(f"{purpose} is needed, and nobody is asked")
