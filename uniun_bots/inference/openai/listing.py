"""Which models a server says it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniun_bots.errors import EngineLost, ModelNotFound

MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Listing:
    models: tuple[str, ...]
    context: dict[str, int]
    """Tokens, of those models of which the server tells them (vLLM does)."""


def read_listing(found: Any, url: str) -> Listing:
    rows = found.get("data") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise EngineLost(f"{url} sent JSON that lists no models: a `base_url` usually ends in /v1")
    named = {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}
    context = {
        name: row["max_model_len"] for name, row in named.items() if _is_size(row.get("max_model_len"))
    }
    return Listing(tuple(named), context)


def choose_model(wanted: str | None, listing: Listing, base_url: str) -> str:
    """Raises ModelNotFound with those that there are."""
    has = f"it has {_shown(listing.models)}"
    if wanted is None:
        if len(listing.models) == 1:
            return listing.models[0]
        raise ModelNotFound(f"{base_url}: write `model:`; {has}")
    if wanted in listing.models or not listing.models:
        return wanted
    raise ModelNotFound(f"{base_url} has no model `{wanted}`; {has}")


def _shown(models: tuple[str, ...]) -> str:
    more = f" and {len(models) - MOST_SHOWN} more" if len(models) > MOST_SHOWN else ""
    return ", ".join(f"`{name}`" for name in models[:MOST_SHOWN]) + more if models else "none"


def _is_size(value: Any) -> bool:
    return type(value) is int and value > 0
