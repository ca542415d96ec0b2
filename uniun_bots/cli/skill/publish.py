"""`uniun-bots skill publish`: a skill of your own as signed events on relays."""

from __future__ import annotations

from pathlib import Path

import click

from uniun_bots.cli.sharing.common import go, opened, skill_form
from uniun_bots.cli.sharing.publish import Order, lint, publish, publish_options, text_to_sign
from uniun_bots.clock import WallClock
from uniun_bots.errors import NotFound, SharingRefused
from uniun_bots.sharing.event import Release
from uniun_bots.sharing.publish import Before, release_of, written_version
from uniun_bots.sharing.verify import skill_of
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.load_skills import own_files


@click.command("publish", epilog="Example: uniun-bots skill publish tone-of-voice --to public --dry-run")
@click.argument("name")
@click.option("--topic", "topics", multiple=True, help="A word under which others find it; may be repeated.")
@publish_options
def publish_skill(order: Order, name: str, topics: tuple[str, ...]) -> None:
    """Give a skill of your own to others, as two signed events: this version for ever, and the newest by name."""
    text, form = _own_text(order.folder, name), skill_form(order.folder)
    skill = skill_of(text, name)
    if skill.name != name:
        raise SharingRefused(f"skills/{name}.md says that it is {skill.name}: call it {skill.name}.md")
    lint(text, name, form, BUILTINS.keys() - {name})
    signer = order.signer()

    def release_after(before: Before) -> Release:
        version = order.version or written_version(skill, before)
        return release_of(
            name,
            skill.description,
            text,
            before,
            version=version,
            good_for_s=order.good_for_s,
            now=WallClock().now(),
            topics=topics,
        )

    async def main() -> int:
        async with opened(order.folder, order.relay_set, signer) as where:
            return await publish(order, where, signer, name, form, release_after)

    go(main())


def _own_text(folder: Path, name: str) -> str:
    """Raises NotFound for what is no skill file of the project."""
    found = next((path for path in own_files(folder / "skills") if path.stem == name), None)
    if found is None:
        raise NotFound(f"there is no skills/{name}.md: only skills of your own can be published")
    return text_to_sign(found)
