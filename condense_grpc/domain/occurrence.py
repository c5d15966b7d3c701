"""Occurrence keys: the identity of one tool result in a session.

Provider ids repeat inside a session, so the bare id never identifies a result. The key is the id, the result's
timestamp if there is one, and a number where two results would share both.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from condense_grpc.domain.frozen import frozen

# Bounded, since Python refuses to read integers of thousands of digits: such a tail is part of a bare id.
_TAIL = re.compile(r"([0-9]{1,400})(?:#([2-9]|[1-9][0-9]{1,400}))?")

DISPLACED = 1_000_000_000
"""From this number on there are no results, only records that are kept although their result is not in the history."""


def base_key(tool_call_id: str, result_timestamp_ms: int | None) -> str:
    """The key before numbering: the bare id, or `id@timestamp`."""
    return tool_call_id if result_timestamp_ms is None else f"{tool_call_id}@{result_timestamp_ms}"


def occurrence_key(tool_call_id: str, result_timestamp_ms: int | None, occurrence: int | None = None) -> str:
    """The key of a result; `occurrence` is its number from 2 upwards, absent for the first."""
    key = tool_call_id if result_timestamp_ms is None else f"{tool_call_id}@{result_timestamp_ms}"
    return key if occurrence is None or occurrence < 2 else f"{key}#{occurrence}"


class _Identified(Protocol):
    """What has an occurrence key."""

    @property
    def tool_call_id(self) -> str: ...

    @property
    def result_timestamp_ms(self) -> int | None: ...

    @property
    def occurrence(self) -> int | None: ...


def occurrence_keys(values: Iterable[_Identified]) -> list[str]:
    """The keys of many; nearly all of them have a time and no number."""
    return [
        f"{one.tool_call_id}@{one.result_timestamp_ms}"
        if one.occurrence is None and one.result_timestamp_ms is not None
        else occurrence_key(one.tool_call_id, one.result_timestamp_ms, one.occurrence)
        for one in values
    ]


@frozen
class ParsedKey:
    """The pieces of a key that was read as text."""

    tool_call_id: str
    result_timestamp_ms: int | None = None
    occurrence: int | None = None


def parse_key(key: str) -> ParsedKey:
    """Read a key; whatever does not follow the form after its last `@` is a bare id."""
    at = key.rfind("@")
    match = _TAIL.fullmatch(key, at + 1) if at > 0 else None
    if match is None:
        return ParsedKey(key)
    return ParsedKey(key[:at], int(match[1]), int(match[2]) if match[2] else None)


def bare_id(key: str) -> str:
    """The tool call id of a key."""
    if "@" not in key:
        return key
    return parse_key(key).tool_call_id


class Numbering:
    """Counts results with the same base key in message order. One instance per list; not thread-safe."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def take(self, tool_call_id: str, result_timestamp_ms: int | None) -> int | None:
        """The number of the next result: None for the first of its base key, else 2, 3, ..."""
        return self.name(tool_call_id, result_timestamp_ms)[1]

    def name(self, tool_call_id: str, result_timestamp_ms: int | None) -> tuple[str, int | None]:
        """The key of the next result, and its number."""
        key = base_key(tool_call_id, result_timestamp_ms)
        number = self._seen.get(key, 0) + 1
        self._seen[key] = number
        return (key, None) if number < 2 else (f"{key}#{number}", number)

    def name_all(self, results: Sequence[tuple[str, int | None]]) -> tuple[list[str], list[int | None]]:
        """The keys and the numbers of the next results, given as (id, timestamp)."""
        keys = [tool_call_id if time is None else f"{tool_call_id}@{time}" for tool_call_id, time in results]
        once = dict.fromkeys(keys, 1)
        if self._seen or len(once) < len(keys):
            named = [self.name(tool_call_id, time) for tool_call_id, time in results]
            return [key for key, _ in named], [number for _, number in named]
        self._seen = once
        return keys, [None] * len(keys)


def number_results(results: Iterable[tuple[str, int | None]]) -> list[int | None]:
    """The numbers of a list of (id, timestamp)."""
    numbering = Numbering()
    return [numbering.take(tool_call_id, timestamp) for tool_call_id, timestamp in results]
