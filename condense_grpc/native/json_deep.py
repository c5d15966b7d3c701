"""Reading JSON of any depth: what is nested too deeply for the rules stays a text.

The reader of the standard library recurses and gives up at some depth. This one keeps a stack of its own and is as
strict; it is slow, and used only where the other one fails.
"""

import re
from json.decoder import JSONDecodeError
from typing import Any

from condense_grpc.native.json_scan import scan_string, skip_space

MAX_DEPTH = 200
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?+([eE][-+]?[0-9]++)?+")
_WORDS = {"true": True, "false": False, "null": None}


class _Open:
    """A container that is being read."""

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start = start
        self.is_object = is_object
        self.name = ""
        self.value: Any = {} if is_object else []

    def add(self, value: Any) -> None:
        if self.is_object:
            self.value[self.name] = value
        else:
            self.value.append(value)


def read_deep(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends. Containers below `MAX_DEPTH` are given as their text.

    Raises JSONDecodeError.
    """
    stack: list[_Open] = []
    while True:
        at = skip_space(text, at)
        first = text[at : at + 1]
        if first and first in "[{":
            stack.append(_Open(at, is_object=first == "{"))
            at = skip_space(text, at + 1)
            if text[at : at + 1] != ("}" if first == "{" else "]"):
                at = _name(text, at, stack[-1])
                continue
            value, at = _closed(text, at, stack)
        else:
            value, at = _scalar(text, at)
        while stack:
            stack[-1].add(value)
            at = skip_space(text, at)
            mark = text[at : at + 1]
            if mark == ",":
                at = _name(text, skip_space(text, at + 1), stack[-1])
                break
            if mark != ("}" if stack[-1].is_object else "]"):
                raise JSONDecodeError("Expecting ',' delimiter", text, at)
            value, at = _closed(text, at, stack)
        else:
            return value, at


def _closed(text: str, at: int, stack: list[_Open]) -> tuple[Any, int]:
    done = stack.pop()
    value = text[done.start : at + 1] if len(stack) >= MAX_DEPTH else done.value
    return value, at + 1


def _name(text: str, at: int, container: _Open) -> int:
    """Behind the name of the next member; in an array where the next item begins."""
    if not container.is_object:
        return at
    if text[at : at + 1] != '"':
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    container.name, at = scan_string(text, at + 1)
    at = skip_space(text, at)
    if text[at : at + 1] != ":":
        raise JSONDecodeError("Expecting ':' delimiter", text, at)
    return at + 1


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if text[at : at + 1] == '"':
        value, end = scan_string(text, at + 1)
        return value, end
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    match = _NUMBER.match(text, at)
    if match is None:
        raise JSONDecodeError("Expecting value", text, at)
    return number(match[0]), match.end()


def number(text: str) -> Any:
    """A number; one that no number of ours can hold stays a text."""
    try:
        value = int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
    return text if value in (float("inf"), float("-inf")) else value
