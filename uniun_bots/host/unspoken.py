"""What leaves in nobody's words: besides the keys of personas, the secrets that host.yaml and personas take by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from uniun_bots.nostr.secret import Spellings
from uniun_bots.personas.project import Project

FROM = "env:"


def unspoken(project: Project, environ: Mapping[str, str]) -> tuple[Spellings, ...]:
    """API keys and the addresses of webhooks that stand in a variable. What is not set is told elsewhere."""
    values = {environ.get(name.removeprefix(FROM), "").strip() for name in _named(project)}
    return tuple(found for value in sorted(values) if (found := Spellings.of_text(value)))


def _named(project: Project) -> Iterator[str]:
    written = [engine.api_key for engine in project.settings.engines.values()]
    written += [project.settings.webhook, *(gana.webhook for gana in project.ganas)]
    return (one for one in written if one and one.startswith(FROM))
