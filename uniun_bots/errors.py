"""Every error we raise, as one tree.

UniunError
├── ConfigError          the project folder cannot be used as it is; carries all its faults
├── KeyRefused           a text is not a usable secret key; never repeats the text
├── BadEvent             an event breaks the protocol; it is neither kept nor sent
├── BadBech32            a text is not bech32; says how, never repeats the text
├── BadReference         a text does not name the note or person that is wanted
├── AlreadyThere         a file would be overwritten; carries its path
├── StoreError           the database cannot be opened or written
├── HostRunning          another host holds the data folder; carries its pid
├── NoHost               a command needs a running host and there is none
├── HostLost             the host ended, or was ended, in the middle of an answer
├── NotFound             the thing that was named does not exist
├── EngineError          a model could not be loaded or did not answer
│   ├── NoModel          there is nothing to ask yet: whatever waits for it goes on waiting
│   │   ├── ModelNotFound
│   │   ├── ModelUnusable    not a GGUF, truncated, wrong kind, too big
│   │   └── LoadFailed       the engine died or hung while it loaded its model
│   ├── DownloadFailed   a model file did not arrive; what came is kept
│   ├── PromptTooLong    carries both counts
│   ├── SchemaRefused    a JSON schema that cannot be turned into a grammar
│   ├── EngineLost       the engine died or hung under the request
│   ├── ServerRefused    a model server says no; carries its HTTP status
│   ├── VectorRefused    an embedder gave numbers that point nowhere
│   ├── JobRefused       the queue is full, or the host is closing
│   ├── JobOverdue       no answer before the deadline of the one who asked
│   └── JobCancelled     stopped for good: a model switch was forced, or the engine stopped it
├── RelayError           a relay cannot be used as asked
└── SharingRefused       something that others shared is not taken, or ours is not shared; one for each step
    ├── Unresolved       a text names nothing that could be fetched
    ├── NotFetched       no relay that was asked has it
    │   └── Gone         its author replaced it; carries what took its place
    ├── WrongSignature   id or signature do not fit
    ├── WrongKind        an event of another kind
    ├── TooLarge         carries its size
    ├── BadManifest      the tags are not those of a manifest
    ├── WrongHash        the content is not the bytes that the manifest names
    ├── Expired          its author said until when it is good, and that is over
    ├── Deleted          its author took it back
    ├── BadContent       the text is not what it has to be; carries the faults
    ├── NotText          it asks for more than to be read
    ├── NotAccepted      nobody said yes to exactly these bytes
    └── Changed          what is stored is not what a person said yes to
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class UniunError(Exception):
    """Root of the tree: what a command line shows as one line without a traceback."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong in one file, with what to write instead. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.message}"


class ConfigError(UniunError):
    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class KeyRefused(UniunError):
    pass


class BadEvent(UniunError):
    pass


class BadBech32(UniunError):
    pass


class BadReference(UniunError):
    pass


class AlreadyThere(UniunError):
    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is there already and is never overwritten: remove it, or use another name")


class StoreError(UniunError):
    pass


class HostRunning(UniunError):
    def __init__(self, data_dir: str, pid: int) -> None:
        self.pid = pid
        super().__init__(f"a host already runs on {data_dir} (pid {pid})")


class NoHost(UniunError):
    pass


class HostLost(UniunError):
    pass


class NotFound(UniunError):
    pass


class EngineError(UniunError):
    pass


class NoModel(EngineError):
    pass


class ModelNotFound(NoModel):
    pass


class ModelUnusable(NoModel):
    pass


class LoadFailed(NoModel):
    pass


class DownloadFailed(EngineError):
    pass


class PromptTooLong(EngineError):
    def __init__(self, prompt_tokens: int, context_tokens: int, answer_tokens: int = 0) -> None:
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens
        self.answer_tokens = answer_tokens
        answer = f" and the answer may take {answer_tokens}" if answer_tokens else ""
        super().__init__(
            f"the prompt has {prompt_tokens} tokens{answer}, the context {context_tokens}: it needs a shorter"
            " prompt, a smaller `max_tokens`, or a model with a larger `context`"
        )


class SchemaRefused(EngineError):
    pass


class EngineLost(EngineError):
    def __init__(self, message: str, signal: int = 0) -> None:
        self.signal = signal
        """The signal that ended the worker process, 0 when it was none."""
        super().__init__(message)


class ServerRefused(EngineError):
    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


class VectorRefused(EngineError):
    pass


class JobRefused(EngineError):
    pass


class JobOverdue(EngineError):
    pass


class JobCancelled(EngineError):
    pass


class RelayError(UniunError):
    pass


class SharingRefused(UniunError):
    pass


class Unresolved(SharingRefused):
    pass


class NotFetched(SharingRefused):
    pass


class Gone(NotFetched):
    def __init__(self, message: str, replaced_by: str) -> None:
        self.replaced_by = replaced_by
        """A reference to what took its place."""
        super().__init__(message)


class WrongSignature(SharingRefused):
    pass


class WrongKind(SharingRefused):
    pass


class TooLarge(SharingRefused):
    def __init__(self, size_bytes: int, most_bytes: int) -> None:
        self.size_bytes = size_bytes
        super().__init__(f"the text has {size_bytes:,} bytes; at most {most_bytes:,} are taken")


class BadManifest(SharingRefused):
    pass


class WrongHash(SharingRefused):
    pass


class Expired(SharingRefused):
    pass


class Deleted(SharingRefused):
    def __init__(self, message: str, reason: str = "") -> None:
        self.reason = reason
        """In the author's words, fit to be shown."""
        super().__init__(f"{message}: {reason}" if reason else message)


class BadContent(SharingRefused):
    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class NotText(SharingRefused):
    pass


class NotAccepted(SharingRefused):
    pass


class Changed(SharingRefused):
    pass
