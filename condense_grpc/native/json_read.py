"""Native JSON as it arrives: an array of objects, each kept as its own text beside its value."""

import json
from collections.abc import Mapping
from json.decoder import JSONDecodeError
from typing import Any

from condense_grpc.domain.frozen import frozen
from condense_grpc.native.json_deep import MAX_DEPTH, number, read_deep
from condense_grpc.native.json_scan import depth_of, skip_space


class JsonFault(ValueError):
    """What is wrong with a native text. `offset` counts bytes; `element_index` is None outside of any element."""

    def __init__(self, what: str, element_index: int | None = None, offset: int | None = None) -> None:
        place = "the text" if element_index is None else f"element {element_index}"
        at = "" if offset is None else f" (at byte {offset})"
        super().__init__(f"{place}: {what}{at}")
        self.element_index = element_index
        self.offset = offset


@frozen
class RawElement:
    """One element: its text, exactly as it came, and what it says.

    Values nested more deeply than rules can look stand in `value` as their text.
    """

    text: str
    value: Mapping[str, Any]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_float=number, parse_constant=_refuse)


def read_elements(data: bytes, first_index: int = 0) -> list[RawElement]:
    """The elements of a JSON array of objects. `first_index` counts those of earlier texts. Raises JsonFault."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise JsonFault("is not UTF-8", offset=error.start) from None
    at = skip_space(text, 0)
    if text[at : at + 1] != "[":
        raise JsonFault("is no JSON array", offset=_bytes_before(text, at))
    at = skip_space(text, at + 1)
    elements: list[RawElement] = []
    while text[at : at + 1] != "]" or elements:
        element, end = _read_element(text, at, first_index + len(elements))
        elements.append(element)
        at = skip_space(text, end)
        if text[at : at + 1] != ",":
            break
        at = skip_space(text, at + 1)
    if text[at : at + 1] != "]":
        last = first_index + len(elements) - 1
        raise JsonFault("is not followed by a comma or the end of the array", last, _bytes_before(text, at))
    if skip_space(text, at + 1) != len(text):
        raise JsonFault("goes on behind its array", offset=_bytes_before(text, at + 1))
    return elements


def _bytes_before(text: str, at: int) -> int:
    return len(text[:at].encode())


def _read_element(text: str, at: int, index: int) -> tuple[RawElement, int]:
    try:
        value, end = _read_at(text, at)
    except JSONDecodeError as error:
        raise JsonFault(f"is no JSON: {error.msg}", index, _bytes_before(text, error.pos)) from None
    except ValueError as error:
        raise JsonFault(f"is no JSON: {error}", index, _bytes_before(text, at)) from None
    if not isinstance(value, dict):
        raise JsonFault("is no object", index, _bytes_before(text, at))
    return RawElement(text[at:end], value), end


def _read_at(text: str, at: int) -> tuple[Any, int]:
    """A value and its end: by the fast reader if that can, and not more deeply than rules can look."""
    try:
        value, end = _decoder.raw_decode(text, at)
    except JSONDecodeError:
        raise
    except (RecursionError, ValueError):  # also integers of thousands of digits, and names that are no numbers
        return read_deep(text, at)
    if text.count("[", at, end) + text.count("{", at, end) > MAX_DEPTH:
        source = text[at:end]
        if depth_of(source) > MAX_DEPTH:
            return read_deep(source, 0)[0], end
    return value, end


def read_value(text: str) -> Any:
    """The value of a text that is known to be JSON."""
    return _read_at(text, skip_space(text, 0))[0]
