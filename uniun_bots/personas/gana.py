"""A Gana: one persona bot as its file describes it. Aliases are the keys of the file that differ."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from uniun_bots.personas import scalars
from uniun_bots.personas.cron import cron_line
from uniun_bots.personas.identity import identity_reference
from uniun_bots.personas.references import event_id_hex, public_key_hex
from uniun_bots.personas.webhook import WEBHOOK_FORM, webhook_address

STRICT = ConfigDict(
    frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, hide_input_in_errors=True
)

Name = Annotated[str, scalars.text(60)]
Line = Annotated[str, scalars.text(1024)]
Task = Annotated[str, scalars.text(32_000)]
Words = Annotated[tuple[Annotated[str, scalars.text(64)], ...], scalars.list_of("names", 100)]
People = Annotated[
    tuple[Annotated[str, scalars.checked(public_key_hex, "public key")], ...],
    scalars.list_of("public keys (npub, nprofile or hex)", 10_000),
]
Flag = Annotated[bool, scalars.flag()]
Count = Annotated[int, scalars.whole(1, 1_000_000)]
DEFAULT_ROUNDS, AUTO_ROUNDS = 4, 0
Rounds = Annotated[int, scalars.whole_or("auto", AUTO_ROUNDS, 1, 20)]
# Written as `ref: same`; no file can spell it as a key of its own.
_SAME = "ref: same"


class Mode(StrEnum):
    OFF = "off"
    SHADOW = "shadow"
    APPROVE = "approve"
    LIVE = "live"


class Trigger(StrEnum):
    ONCE_ON_ENABLE = "once-on-enable"
    ONCE_ON_FIRST_MESSAGE = "once-on-first-message"
    EVERY_MESSAGE = "every-message"
    ON_SCHEDULE = "on-schedule"
    MESSAGE_OR_SCHEDULE = "message-or-schedule"

    @property
    def by_message(self) -> bool:
        return self in (Trigger.ONCE_ON_FIRST_MESSAGE, Trigger.EVERY_MESSAGE, Trigger.MESSAGE_OR_SCHEDULE)

    @property
    def by_timer(self) -> bool:
        return self in (Trigger.ON_SCHEDULE, Trigger.MESSAGE_OR_SCHEDULE)


class InputType(StrEnum):
    GROUP = "group"
    MENTIONS = "mentions"
    USER = "user"
    DM = "dm"
    PRIVATE_GROUP = "private-group"
    FOLLOWED_NOTE = "followed-note"


class OutputType(StrEnum):
    FEED = "feed"
    GROUP = "group"
    DM = "dm"
    PRIVATE_GROUP = "private-group"


class Batch(StrEnum):
    TURN = "turn"
    ALL = "all"


class References(StrEnum):
    """How a cited note is tagged: `e` with a mention marker (and `q` in kind 1), or `q` alone."""

    E = "e"
    Q = "q"


_REF_OF_INPUT = {
    InputType.GROUP: event_id_hex,
    InputType.USER: public_key_hex,
    InputType.FOLLOWED_NOTE: event_id_hex,
}


class Input(BaseModel):
    model_config = STRICT

    type: Annotated[InputType, scalars.one_of(InputType)]
    """`followed-note` takes what answers one note. `dm` and `private-group` are not built yet."""
    ref: Line | None = None
    """`group`: the id of its kind-40 event; `user`: the public key; `followed-note`: the id of the note.

    In any spelling, read to lower-case hex.
    """
    max_age_s: Annotated[int, scalars.seconds("1s", "365d")] = Field(
        default=86_400, validation_alias="max_age"
    )
    """Older notes are held."""
    batch: Annotated[Batch, scalars.one_of(Batch)] = Batch.TURN
    """One run answers a turn (one author in one thread), or everything that is pending; at most 20 notes."""
    allow: People = ()
    """When given, only these authors are answered."""
    deny: People = ()
    """These authors are never answered."""
    allow_bots: People = ()
    """Authors that are answered although their profile says `bot: true`."""
    max_chars: Annotated[int, scalars.whole(1, 100_000)] = 8000
    """A longer note is held."""

    @field_validator("ref")
    @classmethod
    def _read_ref(cls, ref: str | None, info: ValidationInfo) -> str | None:
        if ref is None or "type" not in info.data:
            return ref
        read = _REF_OF_INPUT.get(info.data["type"])
        return read(ref) if read else ref


class Output(BaseModel):
    model_config = STRICT

    type: Annotated[OutputType, scalars.one_of(OutputType)]
    """`dm` and `private-group` are not built yet."""
    ref: Line | None = None
    """`group`: `same` (the group of the input), or the id of its kind-40 event; read to lower-case hex."""
    reply: Flag = False
    """Answer the last note of the turn, instead of posting at top level."""
    max_chars: Annotated[int, scalars.whole(1, 20_000)] = 500
    """A longer text is cut where a sentence ends; without such a place the run is malformed."""
    references: Annotated[References, scalars.one_of(References)] = References.E
    """How cited notes are tagged: `e` with a mention marker (and `q` in kind 1), or `q` alone."""
    same: bool = Field(default=False, validation_alias=_SAME)
    """Answer where the input came from."""

    @field_validator("ref")
    @classmethod
    def _read_ref(cls, ref: str | None, info: ValidationInfo) -> str | None:
        is_group = info.data.get("type") == OutputType.GROUP
        return event_id_hex(ref) if ref is not None and is_group else ref

    @model_validator(mode="before")
    @classmethod
    def _read_same(cls, given: object) -> object:
        if isinstance(given, dict) and given.get("ref") == "same":
            return {key: value for key, value in given.items() if key != "ref"} | {_SAME: True}
        return given


class Limits(BaseModel):
    """Runs of any ending, counted per Gana."""

    model_config = STRICT

    per_hour: Count = 20
    per_day: Count = 100
    per_thread: Count = 3
    """In one thread, for as long as decisions are kept (90 days)."""
    per_author_per_hour: Count = 6
    depth: Annotated[int, scalars.whole(1, 1000)] = 12
    """Notes from a thread's root down; deeper ones are held."""


class Profile(BaseModel):
    """What kind 0 says; published only when the file has this block."""

    model_config = STRICT

    name: Name
    display_name: Name | None = None
    about: Annotated[str, scalars.text(5000)] | None = None
    picture: Line | None = None
    banner: Line | None = None
    website: Line | None = None
    nip05: Line | None = None
    lud16: Line | None = None


class Gana(BaseModel):
    model_config = STRICT

    id: str
    file: str
    """Path as it is told to people."""
    name: Name
    """For people, and what the model may put before its words."""
    description: Line | None = None
    """For people; the model does not see it."""
    identity: Annotated[str, scalars.checked(identity_reference, "`env:NAME` or `key:NAME`")]
    """The secret key: a variable, or a key file made with `uniun-bots keys`."""
    mode: Annotated[Mode, scalars.one_of(Mode)] = Mode.OFF
    """`shadow` runs, logs and moves on like `live`, and sends nothing.

    `approve` puts each text before a person and sends it after a yes.
    """
    relays: Name | None = None
    """Name of a relay set; without one: the host's."""
    manas: Words = ()
    """What it may read as knowledge, by name. Without one: its own notes, drafts and its own surface."""
    input: Input | None = None
    output: Output
    trigger: Annotated[Trigger, scalars.one_of(Trigger)]
    """When it runs. The first three go by notes or once; the last two need `every` or `cron`."""
    every_s: Annotated[int, scalars.seconds("5m", "365d")] | None = Field(
        default=None, validation_alias="every"
    )
    """From when it was turned on."""
    cron: Annotated[str, scalars.checked(cron_line, "cron line of five fields, in quotes")] | None = None
    """In the host's time zone; at least 5 minutes between two firings."""
    agentic: Flag = False
    """`true`: the model calls skills round by round, until it publishes or keeps quiet."""
    max_rounds: Rounds = DEFAULT_ROUNDS
    """Calls that an agentic run may make. `auto`: as many as its model needed when it was probed, else 4."""
    skills: Words = ()
    """Text skills by name: appended to the task, and with `agentic: true` called by the model when it wants them.

    `remind-me` and `share-external`, which ask a person first, are for agentic Ganas only.
    """
    model: Annotated[str, scalars.text(300)] = "default"
    """`default` is the host's; else the name of one of its engines."""
    webhook: Annotated[str, scalars.checked(webhook_address, WEBHOOK_FORM)] | None = Field(
        default=None, repr=False
    )
    """Where what the skill `share-external` proposes goes after a person's yes; without one: the host's."""
    limits: Limits = Limits()
    profile: Profile | None = None
    """Published as kind 0 with `bot: true`, and kind 10002 with the relays."""
    debounce_s: Annotated[float, scalars.seconds("0s", "1h")] = Field(
        default=3.0, validation_alias="debounce"
    )
    """So long after a note the next one is waited for, at most 15 s after the first."""
    temperature: Annotated[float, scalars.number(0, 2)] | None = None
    """Without one: the host's, else 0.7."""
    max_tokens: Annotated[int, scalars.whole(1, 32_768)] | None = None
    """Longest answer of the model; without one: as `max_chars` needs, at most a quarter of the context."""
    task: Task
    """What the persona is to do. In a `.md` file it stands below the second `---`."""

    @field_serializer("max_rounds", when_used="json")
    def _write_rounds(self, rounds: int) -> int | str:
        return "auto" if rounds == AUTO_ROUNDS else rounds

    @model_validator(mode="after")
    def _resolve_same(self) -> Gana:
        if self.output.same and self.output.ref is None and self.input is not None:
            # The one field that another one decides; the model is frozen for everybody else.
            object.__setattr__(self, "output", self.output.model_copy(update={"ref": self.input.ref}))
        return self

    @property
    def rounds(self) -> int:
        """Calls that a run may make; the default as long as `auto` knows nothing."""
        return self.max_rounds if self.max_rounds != AUTO_ROUNDS else DEFAULT_ROUNDS

    def input_surface(self, own_pubkey: str) -> str | None:
        """The surface whose notes wake this Gana; `own_pubkey` is its identity in hex."""
        match self.input:
            case Input(type=InputType.MENTIONS):
                return f"mentions:{own_pubkey}"
            case Input(type=InputType.GROUP | InputType.USER, ref=str(ref)):
                return f"{self.input.type}:{ref}"
            case Input(type=InputType.FOLLOWED_NOTE, ref=str(ref)):
                return f"thread:{ref}"
        return None
