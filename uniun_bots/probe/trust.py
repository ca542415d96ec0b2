"""Whether what was measured of a model is enough for `agentic: true`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from uniun_bots.personas.settings import ProbeSettings
from uniun_bots.probe.probes import Probe


class Trust(StrEnum):
    UNKNOWN = "not measured"
    REFUSED = "refused"
    LOW = "low"
    ENOUGH = "enough"


@dataclass(frozen=True, slots=True)
class Verdict:
    trust: Trust
    told: str
    """For people, with what to do."""
    score: float | None = None
    rounds_needed: int | None = None


def verdict(probe: Probe | None, model: str, settings: ProbeSettings) -> Verdict:
    """`model`: as `uniun-bots model probe` takes it."""
    if probe is None:
        told = (
            f"its model was not measured: `uniun-bots model probe {model}` tells how reliable it is in rounds"
        )
        return Verdict(Trust.UNKNOWN, told)
    score, needed = probe.rates.score, probe.rates.rounds_needed
    if score is None or not probe.is_whole:
        known = probe.rates.situations
        told = f"its model was measured in part ({known} of {known + len(probe.missing)} situations)"
        return Verdict(Trust.UNKNOWN, f"{told}: `uniun-bots model probe {model}` goes on")
    for trust, below, name in (
        (Trust.REFUSED, settings.refuse_below, "refuse_below"),
        (Trust.LOW, settings.warn_below, "warn_below"),
    ):
        if score < below:
            told = f"its model came to a score of {score:.2f}, and `probe.{name}` of host.yaml is {below:g}"
            return Verdict(trust, f"{told}: use a better one, or write `agentic: false`", score, needed)
    return Verdict(Trust.ENOUGH, f"its model came to a score of {score:.2f}", score, needed)
