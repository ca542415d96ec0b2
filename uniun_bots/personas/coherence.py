"""What cannot work in a persona file although each value is right by itself, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from uniun_bots.personas.gana import Gana, InputType, OutputType, Trigger
from uniun_bots.personas.sheet import Loc

_REF_EXAMPLES = {
    InputType.GROUP: "the id of its kind-40 event",
    InputType.USER: "the npub of the person",
    InputType.FOLLOWED_NOTE: "the id of the note (note1…, nevent1… or hex)",
}
_PRIVATE = (InputType.DM, InputType.PRIVATE_GROUP)
_KIND_1 = (InputType.MENTIONS, InputType.USER, InputType.FOLLOWED_NOTE)
_NOT_YET = "is not built yet in this version"


@dataclass(frozen=True, slots=True)
class Clash:
    loc: Loc
    message: str
    keys: frozenset[str]
    """Top-level keys it was concluded from; when one of them is broken, nothing is concluded."""


def clashes_in(gana: Gana) -> list[Clash]:
    rules = (_not_built, _trigger, _timer, _input, _output, _reply, _privacy)
    return [clash for rule in rules for clash in rule(gana)]


def _clash(loc: Loc, message: str, *more_keys: str) -> Clash:
    return Clash(loc, message, frozenset((str(loc[0]), *more_keys)))


def _not_built(gana: Gana) -> Iterator[Clash]:
    if gana.input and gana.input.type not in (InputType.GROUP, *_KIND_1):
        yield _clash(
            ("input", "type"),
            f"input `{gana.input.type}` {_NOT_YET}: use group, mentions, user or followed-note",
        )
    if gana.output.type not in (OutputType.FEED, OutputType.GROUP):
        yield _clash(("output", "type"), f"output `{gana.output.type}` {_NOT_YET}: use feed or group")


def _trigger(gana: Gana) -> Iterator[Clash]:
    if gana.trigger.by_message and gana.input is None:
        told = f"`trigger: {gana.trigger}` waits for messages, but there is no `input`"
        yield _clash(
            ("trigger",), f"{told}: add `input: {{type: mentions}}`, or write `trigger: on-schedule`", "input"
        )


def _timer(gana: Gana) -> Iterator[Clash]:
    if gana.every_s is not None and gana.cron is not None:
        yield _clash(("cron",), "`every` and `cron` are both given: keep one", "every")
    given = "every" if gana.every_s is not None else "cron" if gana.cron is not None else None
    if gana.trigger.by_timer and given is None:
        told = f'`trigger: {gana.trigger}` needs a time: add `every: 1h` or `cron: "0 9 * * *"`'
        yield _clash(("trigger",), told, "every", "cron")
    if given and not gana.trigger.by_timer:
        instead = Trigger.MESSAGE_OR_SCHEDULE if gana.trigger.by_message else Trigger.ON_SCHEDULE
        told = (
            f"`{given}` does nothing with `trigger: {gana.trigger}`: remove it, or write `trigger: {instead}`"
        )
        yield _clash((given,), told, "trigger")


def _input(gana: Gana) -> Iterator[Clash]:
    if gana.input is None:
        return
    needed = _REF_EXAMPLES.get(gana.input.type)
    if needed and gana.input.ref is None:
        yield _clash(("input",), f"input `{gana.input.type}` needs a `ref`: {needed}")
    if gana.input.type is InputType.MENTIONS and gana.input.ref is not None:
        yield _clash(("input", "ref"), "input `mentions` takes no `ref`: it watches the persona's own name")
    for author in sorted({*gana.input.allow} & {*gana.input.deny}):
        yield _clash(("input", "deny"), f"{author[:8]}… stands in `allow` and in `deny`: keep one")


def _output(gana: Gana) -> Iterator[Clash]:
    output, source = gana.output, gana.input
    if output.same and source is None:
        yield _clash(("output", "ref"), "`ref: same` needs an `input` to be the same as", "input")
    elif output.same and source and str(source.type) != str(output.type):
        told = f"`ref: same` cannot lead from input `{source.type}` to output `{output.type}`"
        instead = "remove it" if output.type is OutputType.FEED else "write the id of the group"
        yield _clash(("output", "ref"), f"{told}: {instead}", "input")
    elif output.type is OutputType.FEED and output.ref is not None:
        told = "output `feed` takes no `ref`: remove it; `reply: true` answers the note that came in"
        yield _clash(("output", "ref"), told)
    elif output.type is OutputType.GROUP and output.ref is None and not output.same:
        yield _clash(("output",), "output `group` needs a `ref`: `same`, or the id of its kind-40 event")


def _reply(gana: Gana) -> Iterator[Clash]:
    output, source = gana.output, gana.input
    if not output.reply:
        return
    at: Loc = ("output", "reply")
    if source is None:
        yield _clash(at, "`reply: true` needs an `input` to answer: add one, or remove `reply`", "input")
    elif gana.trigger is Trigger.ONCE_ON_ENABLE:
        told = "`reply: true` has nothing to answer with `trigger: once-on-enable`: remove `reply`"
        yield _clash(at, told, "trigger")
    elif output.type is OutputType.FEED and source.type not in _KIND_1:
        told = f"a feed note can answer kind-1 notes only, not input `{source.type}`"
        yield _clash(at, f"{told}: write `type: {source.type}` and `ref: same`, or `reply: false`", "input")
    elif output.type is OutputType.GROUP and (source.type is not InputType.GROUP or source.ref != output.ref):
        told = (
            "`reply: true` in a group answers that group only: read `input` from it, or write `reply: false`"
        )
        yield _clash(at, told, "input")


def _privacy(gana: Gana) -> Iterator[Clash]:
    public = gana.output.type in (OutputType.FEED, OutputType.GROUP)
    if gana.input and gana.input.type in _PRIVATE and public:
        told = f"private input (`{gana.input.type}`) must not reach the public output `{gana.output.type}`"
        yield _clash(("output", "type"), f"{told}: answer where it came from", "input")
