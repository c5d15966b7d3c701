"""The members of a JSON object by their places in its text: to read one, or to write another in its place, without
touching anything around it.

Strict where JavaScript is: `NaN` and control characters in strings are refused.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

_SPACE = " \t\n\r"


class Member(NamedTuple):
    """One value of an object and where its text stands."""

    value: Any
    start: int
    end: int


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def members_of(text: str) -> dict[str, Member]:
    """The members of the one object that a text is; of equal names the last one counts. Raises ValueError."""
    at = _behind(text, _skip(text, 0), "{")
    members: dict[str, Member] = {}
    if text[at : at + 1] == "}":
        at += 1
    else:
        at = _read_members(text, at, members)
    if _skip(text, at) != len(text):
        raise ValueError("there is something behind the object")
    return members


def _read_members(text: str, at: int, members: dict[str, Member]) -> int:
    while True:
        name, at = _decoder.raw_decode(text, at)
        if not isinstance(name, str):
            raise ValueError("a name is no string")
        start = _behind(text, _skip(text, at), ":")
        value, end = _decoder.raw_decode(text, start)
        members[name] = Member(value, start, end)
        at = _skip(text, end)
        if text[at : at + 1] == "}":
            return at + 1
        at = _behind(text, at, ",")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _behind(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError(f"{mark} is missing")
    return _skip(text, at + 1)


def with_member(text: str, members: Mapping[str, Member], name: str, value: Any) -> str:
    """The text with another value in the place of a member that is there."""
    start, end = members[name].start, members[name].end
    return text[:start] + json.dumps(value) + text[end:]
