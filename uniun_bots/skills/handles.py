"""Short names for notes: what a model sees and says instead of ids, which cost it some 57 tokens each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


class Handles(Mapping[str, str]):
    """Handle (`n1`) to note id, for every note that a run has shown; a note keeps its first handle."""

    def __init__(self, note_ids: Iterable[str] = ()) -> None:
        self._ids: dict[str, str] = {}
        self._handles: dict[str, str] = {}
        for note_id in note_ids:
            self.give(note_id)

    def give(self, note_id: str) -> str:
        """The handle of a note that is going to be shown."""
        if note_id not in self._handles:
            handle = f"n{len(self._ids) + 1}"
            self._ids[handle], self._handles[note_id] = note_id, handle
        return self._handles[note_id]

    def of(self, note_id: str) -> str | None:
        return self._handles.get(note_id)

    def __getitem__(self, handle: str) -> str:
        return self._ids[handle]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
