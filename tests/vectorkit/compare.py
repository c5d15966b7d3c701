"""Compares parsed JSON values.

5 equals 5.0, true does not equal 1, the order of members is free, the order of lists counts.
"""

import json
from typing import Any

SHOWN_CHARS = 160


def difference(expected: Any, actual: Any, at: str = "$") -> str | None:
    """The first place where two values differ, in words; None when they are equal."""
    if isinstance(actual, tuple):
        actual = list(actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _dict_difference(expected, actual, at)
    if isinstance(expected, list) and isinstance(actual, list):
        for position, (one, other) in enumerate(zip(expected, actual, strict=False)):
            if found := difference(one, other, f"{at}[{position}]"):
                return found
        if len(expected) != len(actual):
            longer = expected if len(expected) > len(actual) else actual
            odd = short(longer[min(len(expected), len(actual))])
            return f"{at}: expected {len(expected)} elements, came {len(actual)}; the first odd one: {odd}"
        return None
    if _kind(expected) == _kind(actual) and expected == actual:
        return None
    if isinstance(expected, str) and isinstance(actual, str):
        return _text_difference(expected, actual, at)
    return f"{at}: expected {short(expected)}, came {short(actual)}"


def as_multiset(items: list[Any]) -> list[Any]:
    """A list in an order that depends only on its elements, for answers whose order is free."""
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, default=repr))


def short(value: Any) -> str:
    """The beginning of a value's JSON."""
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}... ({len(text)})"


def _dict_difference(expected: dict[str, Any], actual: dict[str, Any], at: str) -> str | None:
    for name, value in expected.items():
        if name not in actual:
            return f"{at}.{name}: expected {short(value)}, is absent"
        if found := difference(value, actual[name], f"{at}.{name}"):
            return found
    for name in actual:
        if name not in expected:
            return f"{at}.{name}: expected absent, came {short(actual[name])}"
    return None


def _text_difference(expected: str, actual: str, at: str) -> str:
    same = next((i for i, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), None)
    position = min(len(expected), len(actual)) if same is None else same
    start = max(0, position - 20)
    return f"{at}: texts differ at {position}: expected {short(expected[start:])}, came {short(actual[start:])}"


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "constant"
    return "number" if isinstance(value, int | float) else "text" if isinstance(value, str) else "other"
