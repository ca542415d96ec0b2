"""The skills of a persona as a template names them: by the event that anybody can fetch, and its hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from uniun_bots.errors import SharingRefused
from uniun_bots.sharing.event import Form
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.persona_template import SkillReference
from uniun_bots.sharing.publish import published_before
from uniun_bots.skills.provenance import Installed


async def skill_references(
    where: Where,
    author: str,
    texts: Mapping[str, str],
    installed: Iterable[Installed],
    form: Form,
) -> tuple[SkillReference, ...]:
    """`texts`: the hash of each skill that the persona has here, by name; `author` signs the template.

    Raises SharingRefused for one that nobody else could fetch as it is here.
    """
    known = {one.name: one for one in installed}
    return tuple(
        [await _reference(where, author, name, texts[name], known.get(name), form) for name in texts]
    )


async def _reference(
    where: Where, author: str, name: str, content_hash: str, installed: Installed | None, form: Form
) -> SkillReference:
    origin = installed.origin if installed and installed.content_hash == content_hash else None
    before = await published_before(where, origin.author if origin else author, name, form)
    for manifest in (before.of_version, before.of_name):
        if manifest is not None and manifest.content_hash == content_hash:
            return SkillReference(name=name, event=manifest.event.id, hash=f"sha256:{content_hash}")
    if origin is not None:
        return SkillReference(name=name, event=origin.event_id, hash=f"sha256:{content_hash}")
    raise SharingRefused(
        f"the skill {name} is not published as it is here: `uniun-bots skill publish {name}` first, or take it out of"
        " `skills`"
    )
