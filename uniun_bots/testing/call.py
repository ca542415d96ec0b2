"""What a scripted model says to call a skill."""

from __future__ import annotations

import json


def call(skill: str, /, **arguments: object) -> str:
    """`call("publish-group-message", body="At noon.", referenceNoteIds=[])`: for personas with `agentic: true`."""
    return json.dumps({"skill": skill, "arguments": arguments}, ensure_ascii=False)
