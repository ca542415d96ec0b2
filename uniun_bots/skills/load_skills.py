"""Load every skill of a project. A file that cannot be used is told and left out; all others load."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from uniun_bots.clock import WallClock
from uniun_bots.errors import Fault, NotFound
from uniun_bots.personas.load_relay_set import bundled_folder
from uniun_bots.personas.names import files_in
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.library import Library, named
from uniun_bots.skills.load_installed import Shelved, load_installed, told_as
from uniun_bots.skills.lookalikes import similar_names
from uniun_bots.skills.skill import Skill, Source
from uniun_bots.skills.skill_file import read_skill_file

MOST_FILES = 500


def load_skills(project: Path, now: float | None = None) -> Library:
    """Of a project folder; a clone of the repository is one whose skills/ is the predefined catalogue as well.

    Installed ones come from the store; a file of the project goes before an installed skill of the same name.
    """
    predefined = predefined_skills()
    folder = project / "skills"
    own = own_files(folder)
    texts: list[Skill] = []
    faults: list[Fault] = [*_misplaced(folder)]
    warnings: list[Fault] = []
    broken: set[str] = set()
    for path in own[:MOST_FILES]:
        read = read_skill_file(path, Source.PROJECT)
        faults += read.faults
        warnings += read.warnings
        if read.skill is None:
            broken.add(path.stem)
        else:
            texts.append(read.skill)
    warnings += [
        Fault(str(folder / f"{name}.md"), 1, 1, f"the name looks like {other}: do you mean two skills?")
        for name, other in similar_names([skill.name for skill in texts], BUILTINS)
    ]
    shelved = load_installed(project, WallClock().now() if now is None else now)
    taken = {skill.name for skill in texts} | broken
    texts += [skill for skill in shelved.skills if skill.name not in taken]
    warnings += [*_hiding(folder, taken, shelved), *_disabled(shelved)]
    if len(own) > MOST_FILES:
        told = f"{len(own)} skills; at most {MOST_FILES} are read"
        faults.append(Fault(str(folder), 1, 1, told))
    return Library(
        predefined,
        named(texts),
        frozenset(broken | {Path(fault.file).stem for fault in shelved.faults} - {one.name for one in texts}),
        shelved.kept,
        {name: why for name, why in shelved.disabled.items() if name not in taken},
        (*faults, *shelved.faults),
        tuple(warnings),
    )


def _hiding(folder: Path, taken: Collection[str], shelved: Shelved) -> Iterator[Fault]:
    for one in shelved.kept:
        if one.name in taken:
            told = f"an installed skill has this name too and is not used: `skill remove {one.name}`, or rename this"
            yield Fault(str(folder / f"{one.name}.md"), 1, 1, told)


def _disabled(shelved: Shelved) -> Iterator[Fault]:
    for name, why in shelved.disabled.items():
        yield Fault(told_as(name), 1, 1, f"is disabled: {why}")


@cache
def predefined_skills() -> dict[str, Skill]:
    """Raises NotFound when the package is not whole."""
    folder = bundled_folder("skills")
    if folder is None:
        raise NotFound("the predefined skills that come with the package are missing: install it again")
    found: dict[str, Skill] = {}
    for name in BUILTINS:
        read = read_skill_file(folder / f"{name}.md", Source.PREDEFINED)
        if read.skill is None:
            raise NotFound(f"the predefined skill {name} cannot be used: {read.faults[0]}")
        found[name] = read.skill
    return found


def own_files(folder: Path) -> list[Path]:
    """In a clone the predefined ones stand in the same folder as those that somebody adds."""
    predefined = BUILTINS if is_catalogue(folder) else ()
    return [path for path in files_in(folder, ".md") if path.stem not in predefined]


def is_catalogue(folder: Path) -> bool:
    bundled = bundled_folder("skills")
    return bundled is not None and folder.is_dir() and folder.resolve() == bundled.resolve()


def _misplaced(folder: Path) -> Iterator[Fault]:
    """Skills as folders, with scripts beside them, and files of other endings would be passed over without a word."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (path / "SKILL.md").exists():
            told = f"a skill is one file and nothing beside it is run: move SKILL.md to {path.name}.md"
            yield Fault(str(path), 1, 1, told)
        elif path.suffix.lower() in (".markdown", ".yaml", ".yml", ".json", ".txt"):
            yield Fault(
                str(path), 1, 1, f"only .md files are skills: rename it to {path.stem}.md, or remove it"
            )
