"""Put an entry into a list of a YAML text, or take one out, and leave every other character as it is."""

from __future__ import annotations

import re

import yaml

Keys = tuple[str, ...]
"""From the top to the list: `("exclude", "authors")`."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*", re.ASCII)


def with_entry(text: str, keys: Keys, entry: str) -> str:
    """With the list, and what it stands in, when there was none. A text of another shape comes back unchanged."""
    spelled, node = _spelled(entry), yaml.compose(text, yaml.SafeLoader)
    if node is None:
        return text + _block(keys, spelled, 0)
    for depth, key in enumerate(keys):
        if not isinstance(node, yaml.MappingNode):
            return text
        found = _value(node, key)
        if found is None:
            return _with_key(text, node, keys[depth:], spelled, top=depth == 0)
        node = found
    if not isinstance(node, yaml.SequenceNode):
        return text
    if node.flow_style or not node.value:
        at = node.value[-1].end_mark.index if node.value else node.end_mark.index - 1
        return _put(text, at, f", {spelled}" if node.value else spelled)
    dash = " " * node.start_mark.column
    return _put(text, _line_end(text, _end(node)), f"\n{dash}- {spelled}")


def without_entry(text: str, keys: Keys, index: int) -> str:
    """A list in lines whose last entry this is goes with its key."""
    way: list[tuple[yaml.MappingNode, str]] = []
    node = yaml.compose(text, yaml.SafeLoader)
    for key in keys:
        if not isinstance(node, yaml.MappingNode):
            return text
        way.append((node, key))
        node = _value(node, key)
    if not isinstance(node, yaml.SequenceNode):
        return text
    item = node.value[index]
    if node.flow_style:
        return _cut(text, *_flow_span(node, index))
    if len(node.value) > 1:
        return _cut_lines(text, item.start_mark.index, item.end_mark.index)
    while len(way) > 1 and len(way[-1][0].value) == 1:
        way.pop()
    mapping, key = way[-1]
    (named, value), *_ = [pair for pair in mapping.value if pair[0].value == key]
    if mapping.flow_style:
        return text
    return _cut_lines(text, named.start_mark.index, _end(value))


def _value(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    return next((value for name, value in node.value if name.value == key), None)


def _with_key(text: str, node: yaml.MappingNode, keys: Keys, spelled: str, *, top: bool) -> str:
    if node.flow_style:
        inner = f"[{spelled}]"
        for key in reversed(keys[1:]):
            inner = f"{{{key}: {inner}}}"
        at = _end(node.value[-1][1]) if node.value else node.end_mark.index - 1
        return _put(text, at, f"{', ' if node.value else ''}{keys[0]}: {inner}")
    if top:
        return text + _block(keys, spelled, 0)
    block = _block(keys, spelled, node.start_mark.column)
    return _put(text, _line_end(text, _end(node)), "\n" + block.removesuffix("\n"))


def _block(keys: Keys, spelled: str, column: int) -> str:
    lines = [f"{' ' * (column + 2 * depth)}{key}:" for depth, key in enumerate(keys)]
    return "\n".join([*lines, f"{' ' * (column + 2 * len(keys))}- {spelled}", ""])


def _end(node: yaml.Node) -> int:
    """Behind its last character; the mark of a block stands behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _flow_span(node: yaml.SequenceNode, index: int) -> tuple[int, int]:
    items = node.value
    if index + 1 < len(items):
        return items[index].start_mark.index, items[index + 1].start_mark.index
    start = items[index - 1].end_mark.index if index else items[index].start_mark.index
    return start, items[index].end_mark.index


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _put(text: str, at: int, new: str) -> str:
    return text[:at] + new + text[at:]


def _cut(text: str, start: int, end: int) -> str:
    return text[:start] + text[end:]


def _cut_lines(text: str, start: int, end: int) -> str:
    return _cut(text, text.rfind("\n", 0, start) + 1, _line_end(text, end) + 1)


def _spelled(entry: str) -> str:
    return entry if _PLAIN.fullmatch(entry) else "'" + entry.replace("'", "''") + "'"
