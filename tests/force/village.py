"""A project folder with several Ganas, the people who write to them, and what each input must lead to."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from nostr_sdk import Event as SdkEvent
from nostr_sdk import Keys

from tests.relays.conftest import note
from tests.runs.agent import call

GROUP = "4b7df1c9e5b40a4e7a3b0a2f6f0d1c5a8e9d2b3c4f5061728394a5b6c7d8e9f0"
HERALD = "herald"
"""Says one thing when it is turned on, and nothing ever after."""
LONGEST = 300
"""Characters; a longer input is held."""
GANAS = ("teller", "second", "helper", "fan")
"""Two in the same group, the second one in rounds; one that is mentioned, one that reads a user."""
LIMITS = ", ".join(
    f"{name}: 1000000" for name in ("per_hour", "per_day", "per_thread", "per_author_per_hour")
)
PERSONA = """\
---
name: {name}
identity: env:{variable}
mode: {mode}
input: {{{input}, max_chars: {longest}}}
output: {{{output}, reply: true}}
trigger: every-message
{more}debounce: 0s
limits: {{{limits}, depth: 1000}}
---
Answer in one sentence.
"""
HERALD_FILE = """\
---
name: Herald
identity: env:HERALD_KEY
mode: live
output: {type: feed}
trigger: once-on-enable
---
Say that the village is open.
"""


def calls(life: int) -> list[str]:
    """What a model says in rounds: mostly it looks and publishes, sometimes it is silent, wrong, or says no call."""
    posts = [
        call("publish-group-message", body=f"Life {life}, round {{n}}.", referenceNoteIds=["n1", "n2", "n77"])
        for _ in range(5)
    ]
    looks = [call("search-notes", query="Input {n}") for _ in range(5)]
    turns = [one for pair in zip(looks, posts, strict=True) for one in pair]
    return [*turns, call("stay-silent"), call("zap", sats=21), posts[0], "I have published it."]


@dataclass
class Village:
    folder: Path
    relay: str
    seed: int
    latency: tuple[int, int] = (50, 300)
    slots: int = 3
    people: list[Keys] = field(default_factory=lambda: [Keys.generate() for _ in range(7)])
    bots: dict[str, Keys] = field(default_factory=lambda: {gana: Keys.generate() for gana in GANAS})
    herald: bool = False
    mode: str = "live"
    inputs: dict[str, frozenset[str]] = field(default_factory=dict)
    """By event id: the Ganas that watch it."""
    lives: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        for folder in ("personas", "relays"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "relays" / "local.yaml").write_text(f"relays:\n  - {self.relay}\n")
        user = self.people[0].public_key().to_hex()
        self._persona("teller", f"type: group, ref: {GROUP}", "type: group, ref: same")
        in_rounds = "agentic: true\nmodel: rounds\n"
        self._persona("second", f"type: group, ref: {GROUP}", "type: group, ref: same", in_rounds)
        self._persona("helper", "type: mentions", "type: feed")
        self._persona("fan", f"type: user, ref: {user}", "type: feed")
        if self.herald:
            self.bots[HERALD] = Keys.generate()
            (self.folder / "personas" / f"{HERALD}.md").write_text(HERALD_FILE)

    @property
    def database(self) -> Path:
        return self.folder / "data" / "uniun-bots.sqlite"

    def key_of(self, gana: str) -> str:
        return str(self.bots[gana].public_key().to_hex())

    def environ(self) -> dict[str, str]:
        return {f"{gana.upper()}_KEY": keys.secret_key().to_hex() for gana, keys in self.bots.items()}

    def new_life(self) -> None:
        """Every life says other words, as a model would: a reply that repeats the last one is refused."""
        self.lives += 1
        replies = [f"Life {self.lives}, answer {{n}}." for _ in range(9)] + ["<NOOP>"]
        engines = {"script": replies, "rounds": calls(self.lives)}
        lines = [line for name, said in engines.items() for line in self._engine(name, said)]
        (self.folder / "host.yaml").write_text(
            "\n".join(["model: script", "embedder: none", "engines:", *lines, ""])
        )

    def _engine(self, name: str, replies: list[str]) -> list[str]:
        low, high = self.latency
        return [
            f"  {name}:",
            "    type: scripted",
            f"    slots: {self.slots}",
            f"    latency: {low}ms",
            f"    latency_max: {high}ms",
            "    replies:",
            *(f"      - '{reply}'" for reply in replies),
        ]

    def next_input(self) -> SdkEvent:
        """Somebody says something: mostly in the group, sometimes to the helper or by the user, some too long."""
        number, chance = len(self.inputs) + 1, self.random.random()
        text = f"Input {number}: what now?" + " and what then?" * (LONGEST if number % 13 == 0 else 0)
        if chance < 0.45:
            event = note(self.random.choice(self.people), text, 42, tags=[["e", GROUP, "", "root"]])
            watched = {"teller", "second"}
        elif chance < 0.75:
            writer = self.random.choice(self.people)
            event = note(writer, text, 1, tags=[["p", self.key_of("helper")]])
            watched = {"helper", "fan"} if writer is self.people[0] else {"helper"}
        else:
            event, watched = note(self.people[0], text, 1), {"fan"}
        self.inputs[event.id().to_hex()] = frozenset(watched)
        return event

    def _persona(self, gana: str, given: str, output: str, more: str = "") -> None:
        text = PERSONA.format(
            name=gana.title(),
            variable=f"{gana.upper()}_KEY",
            mode=self.mode,
            input=given,
            output=output,
            longest=LONGEST,
            limits=LIMITS,
            more=more,
        )
        (self.folder / "personas" / f"{gana}.md").write_text(text)
