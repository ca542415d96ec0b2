"""The JSON schema of one round: a call of one of the skills that the run has, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from uniun_bots.skills.registry import Registered, Registration


def schema_of_calls(registration: Registration) -> str:
    return json.dumps({"oneOf": [_call_of(skill) for skill in registration.skills]})


def _call_of(skill: Registered) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"skill": {"const": skill.name}, "arguments": skill.schema},
        "required": ["skill", "arguments"],
        "additionalProperties": False,
    }
