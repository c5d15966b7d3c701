"""Places in a JSON text: where values, members and items stand, without reading them.

For texts that are known to be JSON. Every function is linear and does not recurse, however deeply a value is nested.
"""

import re
from json import decoder
from typing import Any, NamedTuple

# The reader of strings that the standard library's own decoder uses.
scan_string: Any = vars(decoder)["scanstring"]

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_MARK = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]++")


class Place(NamedTuple):
    """Where a value stands: `text[start:end]`."""

    start: int
    end: int


class MemberPlace(NamedTuple):
    """Where a member of an object stands: its name begins at `name_start`, its value is `text[start:end]`."""

    name: str
    name_start: int
    start: int
    end: int


def skip_space(text: str, at: int) -> int:
    """The first position from `at` on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def end_of_value(text: str, at: int) -> int:
    """The position behind the value that begins at `at`. Raises ValueError when there is none."""
    first = text[at : at + 1]
    if first == '"':
        match = _STRING.match(text, at)
    elif first and first in "[{":
        return _end_of_container(text, at)
    else:
        match = _SCALAR.match(text, at)
    if match is None:
        raise ValueError("there is no value")
    return match.end()


def _end_of_container(text: str, at: int) -> int:
    depth = 0
    for match in _MARK.finditer(text, at):
        mark = match[0]
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
            if not depth:
                return match.end()
    raise ValueError("a bracket is not closed")


def depth_of(text: str) -> int:
    """How deeply the containers of a text are nested."""
    depth = deepest = 0
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif mark in ("]", "}"):
            depth -= 1
    return deepest


def members_at(text: str, at: int = 0) -> list[MemberPlace]:
    """The members of the object that begins at `at`, in order, repeated names included."""
    found: list[MemberPlace] = []
    at = skip_space(text, at)
    if text[at : at + 1] != "{":
        raise ValueError("there is no object")
    at = skip_space(text, at + 1)
    while text[at : at + 1] == '"':
        name_start = at
        name, at = scan_string(text, at + 1)
        start = skip_space(text, skip_space(text, at) + 1)
        end = end_of_value(text, start)
        found.append(MemberPlace(name, name_start, start, end))
        at = skip_space(text, end)
        if text[at : at + 1] != ",":
            break
        at = skip_space(text, at + 1)
    return found


def member_at(text: str, name: str, at: int = 0) -> MemberPlace | None:
    """The member of that name; of several the last one, which is the one that counts."""
    found = None
    for member in members_at(text, at):
        if member.name == name:
            found = member
    return found


def items_at(text: str, at: int = 0) -> list[Place]:
    """The items of the array that begins at `at`."""
    found: list[Place] = []
    at = skip_space(text, at)
    if text[at : at + 1] != "[":
        raise ValueError("there is no array")
    at = skip_space(text, at + 1)
    while text[at : at + 1] not in ("]", ""):
        end = end_of_value(text, at)
        found.append(Place(at, end))
        at = skip_space(text, end)
        if text[at : at + 1] != ",":
            break
        at = skip_space(text, at + 1)
    return found
