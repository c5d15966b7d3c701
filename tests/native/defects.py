"""Defects put into histories of every shape: each takes elements and a place, and gives the elements back broken."""

import contextlib
import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from condense_grpc.native.formats import NativeFormat

Json = dict[str, Any]
Defect = Callable[[NativeFormat, list[Json], int], list[Json]]


def _results(form: NativeFormat, elements: list[Json]) -> list[tuple[int, int | None]]:
    """Where results stand: element, and part in it."""
    found: list[tuple[int, int | None]] = []
    for at, element in enumerate(elements):
        match form:
            case NativeFormat.OPENAI_CHAT if element.get("role") == "tool":
                found.append((at, None))
            case NativeFormat.PI if element.get("role") == "toolResult":
                found.append((at, None))
            case NativeFormat.OPENAI_RESPONSES if element.get("type") == "function_call_output":
                found.append((at, None))
            case NativeFormat.ANTHROPIC if isinstance(element.get("content"), list):
                parts = enumerate(element["content"])
                found += [(at, part) for part, block in parts if block.get("type") == "tool_result"]
            case NativeFormat.GEMINI:
                found += [(at, part) for part, one in enumerate(element["parts"]) if "functionResponse" in one]
    return found


def _list(form: NativeFormat) -> str:
    return "parts" if form is NativeFormat.GEMINI else "content"


def lost_result(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    where = _results(form, elements)
    if not where:
        return elements
    at, part = where[place % len(where)]
    if part is None or len(elements[at][_list(form)]) == 1:
        return elements[:at] + elements[at + 1 :]
    del elements[at][_list(form)][part]
    return elements


def repeated_result(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    where = _results(form, elements)
    if not where:
        return elements
    at, part = where[place % len(where)]
    if part is None:
        return [*elements[: at + 1], copy.deepcopy(elements[at]), *elements[at + 1 :]]
    parts = elements[at][_list(form)]
    parts.insert(part + 1, copy.deepcopy(parts[part]))
    return elements


def wandering_result(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    """A result stands somewhere else."""
    where = _results(form, elements)
    if not where:
        return elements
    at, part = where[place % len(where)]
    if part is None:
        moved = elements.pop(at)
        elements.insert(place % (len(elements) + 1), moved)
        return elements
    parts = elements[at][_list(form)]
    other = elements[place % len(elements)]
    if isinstance(other.get(_list(form)), list) and len(parts) > 1:
        other[_list(form)].append(parts.pop(part))
    return elements


def user_between(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    """The user says something in the middle."""
    said: Json = {"role": "user", _list(form): "wait" if form is not NativeFormat.GEMINI else [{"text": "wait"}]}
    return [*elements[: place % (len(elements) + 1)], said, *elements[place % (len(elements) + 1) :]]


def notice_between(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    """A role that is neither of the user nor of the model."""
    said: Json = {"role": "system", _list(form): "note" if form is not NativeFormat.GEMINI else [{"text": "note"}]}
    return [*elements[: place % (len(elements) + 1)], said, *elements[place % (len(elements) + 1) :]]


def lost_element(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    at = place % len(elements)
    return elements[:at] + elements[at + 1 :]


def repeated_element(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    at = place % len(elements)
    return [*elements[: at + 1], copy.deepcopy(elements[at]), *elements[at + 1 :]]


def same_ids(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    """Every id is one of two."""
    text = json.dumps(elements)
    for number in range(20, -1, -1):
        text = text.replace(f'"call_{number}"', f'"call_{number % (1 + place % 2)}"')
    changed: list[Json] = json.loads(text)
    return changed


def no_ids(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    text = json.dumps(elements)
    for number in range(21):
        text = text.replace(f'"call_{number}"', '""')
    changed: list[Json] = json.loads(text)
    return changed


def empty_content(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    element = elements[place % len(elements)]
    for name in ("content", "parts", "output"):
        if name in element:
            element[name] = [[], "", None][place % 3]
    return elements


def odd_member(form: NativeFormat, elements: list[Json], place: int) -> list[Json]:
    """A member has a form that it cannot have."""
    element = elements[place % len(elements)]
    name = sorted(element)[place % len(element)]
    element[name] = [7, None, {"odd": 1}, ["odd", None], [{"type": "tool_result"}, 1]][place % 5]
    return elements


DEFECTS: list[Defect] = [
    lost_result,
    repeated_result,
    wandering_result,
    user_between,
    notice_between,
    lost_element,
    repeated_element,
    same_ids,
    no_ids,
    empty_content,
    odd_member,
]


def with_defects(form: NativeFormat, elements: list[Json], defects: Sequence[tuple[Defect, int]]) -> list[Json]:
    """The elements with one defect after the other; one that finds its place broken already is left out."""
    elements = copy.deepcopy(elements)
    for defect, place in defects:
        with contextlib.suppress(TypeError, KeyError, AttributeError, ZeroDivisionError):
            elements = defect(form, elements, place)
    return elements
