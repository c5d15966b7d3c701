"""What the model says, turn by turn: texts, calls of tools, failures. From Python, or from a JSON file.

The file is an array with one object for each turn:

    [
      {"text": "Let me see.", "calls": [{"name": "bash", "arguments": {"command": "ls"}}]},
      {"failure": {"status": 529, "message": "overloaded", "retry_after_s": 1}},
      {"text": "It says: ", "quote_chars": 200}
    ]
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ScriptInvalid(ValueError):
    """A script cannot be read; the message names the turn and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is none, whatever was asked: an HTTP status with the provider's form of an error."""

    status: int
    message: str = "the script says so"
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: a text, calls of tools as name and arguments, or both; or a failure.

    `quote_chars`: the text ends with so many characters of the result that stands last in the request.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    quote_chars: int = 0
    failure: Failure | None = None


def read_script(text: str) -> list[Turn]:
    """The turns of a script as JSON. Raises `ScriptInvalid`."""
    try:
        turns = json.loads(text)
    except ValueError as error:
        raise ScriptInvalid(f"the script is not JSON: {error}") from error
    if not isinstance(turns, list) or not turns:
        raise ScriptInvalid("the script has to be an array of at least one turn")
    return [_turn(number, turn) for number, turn in enumerate(turns)]


def _turn(number: int, turn: Any) -> Turn:
    given = _members(f"turn {number}", turn, {"text": str, "calls": list, "quote_chars": int, "failure": dict})
    if "failure" in given:
        form = {"status": int, "message": str, "retry_after_s": int}
        return Turn(failure=Failure(**_members(f"the failure of turn {number}", given["failure"], form, "status")))
    if not given:
        raise ScriptInvalid(f"turn {number} says nothing: give it a text, calls or a failure")
    calls = [
        _members(f"call {place} of turn {number}", call, {"name": str, "arguments": dict}, "name")
        for place, call in enumerate(given.get("calls", []))
    ]
    named = [(call["name"], call.get("arguments", {})) for call in calls]
    return Turn(given.get("text", ""), named, given.get("quote_chars", 0))


def _members(what: str, value: Any, form: Mapping[str, type], *needed: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScriptInvalid(f"{what} has to be an object")
    for name, member in value.items():
        if name not in form:
            raise ScriptInvalid(f"{what} has a member {name!r}; known are {', '.join(form)}")
        if not isinstance(member, form[name]) or isinstance(member, bool):
            raise ScriptInvalid(f"{what}: {name} has to be of JSON's form of {form[name].__name__}")
    for name in needed:
        if name not in value:
            raise ScriptInvalid(f"{what} lacks {name!r}")
    return value
