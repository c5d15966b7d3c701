"""The shape of a JSON text in a few words: its short members as they are, the others by size and keys.

`{"id": 7, "items": [{"sku": "a", "price": 1}, …]}` becomes `id=7`, `items[2]{sku,price}`. Values that are short
tell more than keys, and keys tell more than the head of a long value.
"""

import json
from typing import Any

from condense_grpc.summarize.quoting import quote

_VALUE_CHARS = 48
_KEY_CHARS = 40
_MAX_MEMBERS = 40
_MAX_KEYS = 12


def json_outline(text: str) -> list[str]:
    """The pieces of the outline, harmless to quote, in the order of the text; none when it is not JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, list):
        pieces = [_shape("", value)]
        if value and isinstance(value[0], dict):
            pieces.append("first: " + " ".join(_members(value[0])))
        return pieces
    return _members(value) if isinstance(value, dict) else []


def _members(value: dict[str, Any]) -> list[str]:
    return [_shape(quote(key, _KEY_CHARS), member) for key, member in list(value.items())[:_MAX_MEMBERS]]


def _shape(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"{key}{_keys(value)}"
    if isinstance(value, list):
        inner = _keys(value[0]) if value and isinstance(value[0], dict) else ""
        if value and not inner and all(isinstance(member, str | int | float) for member in value[:4]):
            inner = "(" + quote(", ".join(map(_scalar, value[:4])), _VALUE_CHARS) + ")"
        return f"{key}[{len(value)}]{inner}"
    return f"{key}={quote(_scalar(value), _VALUE_CHARS)}"


def _keys(value: dict[str, Any]) -> str:
    names = ",".join(quote(key, _KEY_CHARS) for key in list(value)[:_MAX_KEYS])
    return "{" + names + (",…" if len(value) > _MAX_KEYS else "") + "}"


def _scalar(value: Any) -> str:
    """A value as JSON writes it, a string without its quotes; of a huge one only the size."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value.bit_length() > 4096:
        return f"a number of {value.bit_length()} bits"
    return json.dumps(value, ensure_ascii=False)[:1000]
