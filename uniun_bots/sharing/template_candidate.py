"""A persona template that waits for a yes: a verified event of somebody else, or a local file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import BadContent, Fault, Unresolved
from uniun_bots.nostr.event import Event
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.sharing.event import Manifest, hash_of, normal
from uniun_bots.sharing.fetch import Where, fetch
from uniun_bots.sharing.persona_template import TEMPLATE, PersonaTemplate, read_template
from uniun_bots.sharing.reference import read_wanted
from uniun_bots.sharing.verify import check_size, verified


@dataclass(frozen=True, slots=True)
class TemplateCandidate:
    template: PersonaTemplate
    name: str
    """Of the event or the file: what the persona file would be called."""
    text: str
    source: str
    """The reference or the path that was given."""
    manifest: Manifest | None = None
    left_out: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        return hash_of(self.text)


async def look_up_template(where: Where, reference: str, now: float) -> TemplateCandidate:
    """Resolved, fetched and verified by the same steps as a skill. Raises SharingRefused of the step that failed."""
    fetched = await fetch(where, read_wanted(reference, TEMPLATE), TEMPLATE)
    return verified_template(fetched.event, now, fetched.deletions, reference)


def verified_template(
    event: Event, now: float, deletions: tuple[Event, ...] = (), source: str = ""
) -> TemplateCandidate:
    manifest = verified(event, now, deletions, TEMPLATE)
    template = read_template(manifest.text, f"{manifest.name}.md")
    return TemplateCandidate(template, manifest.name, manifest.text, source, manifest)


def read_local_template(path: Path) -> TemplateCandidate:
    """Raises SharingRefused."""
    path = path.expanduser()
    if not path.exists():
        raise Unresolved(f"there is no {path}")
    found = read_text_file(path)
    if found.text is None or found.faults:
        raise BadContent(found.faults or (Fault(str(path), 1, 1, "cannot be read"),))
    text = normal(found.text)
    check_size(text)
    return TemplateCandidate(read_template(text, str(path)), path.stem, text, str(path.resolve()))
