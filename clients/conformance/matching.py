"""Compares what a runner reports with what a scenario expects.

An object expects its members, whatever else there is; a list expects all of its members; everything else is expected
as it is. An object with one member that begins with `$` is a condition:

    $contains, $lacks, $startsWith    a text within a text, or a member of a list that matches
    $atLeast, $atMost, $length        numbers
    $sha256Of {"of", "n"}             the digest of a template's text
    $json                             a JSON text with a value that matches
    $saved, $notSaved                 a value that an earlier step has saved, or any other
    $savedJson                        exactly the value of a JSON text that an earlier step has saved
    $all                              every condition of a list
    $some                             true: neither empty nor null
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from templates import text_of


def find_difference(expected: Any, actual: Any, saved: Mapping[str, Any], where: str = "") -> str | None:
    """Where they differ and how, or None."""
    if isinstance(expected, dict):
        if len(expected) == 1 and next(iter(expected)).startswith("$"):
            ((name, operand),) = expected.items()
            return _condition(name, operand, actual, saved, where)
        if not isinstance(actual, dict):
            return f"{where or 'the report'} is {_shown(actual)}, not an object"
        found = (find_difference(value, actual.get(key), saved, f"{where}/{key}") for key, value in expected.items())
        return next((difference for difference in found if difference), None)
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return f"{where} is {_shown(actual)}, not a list of {len(expected)} like {_shown(expected)}"
        found = (
            find_difference(one, other, saved, f"{where}/{index}")
            for index, (one, other) in enumerate(zip(expected, actual, strict=True))
        )
        return next((difference for difference in found if difference), None)
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)  # 1 is not true
    return None if same else f"{where} is {_shown(actual)}, not {_shown(expected)}"


def _condition(name: str, operand: Any, actual: Any, saved: Mapping[str, Any], where: str) -> str | None:
    match name:
        case "$contains" | "$lacks":
            if isinstance(actual, list):
                holds = any(find_difference(operand, one, saved) is None for one in actual)
            else:
                holds = isinstance(actual, str) and operand in actual
            if name == "$lacks":
                holds = isinstance(actual, str | list) and not holds
        case "$startsWith":
            holds = isinstance(actual, str) and actual.startswith(operand)
        case "$atLeast":
            holds = isinstance(actual, int | float) and actual >= operand
        case "$atMost":
            holds = isinstance(actual, int | float) and actual <= operand
        case "$length":
            if not isinstance(actual, list | str):
                return f"{where} is {_shown(actual)}, which has no length"
            return find_difference(operand, len(actual), saved, f"{where} (its length)")
        case "$sha256Of":
            text = text_of(operand["of"], operand.get("n", 0))
            digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
            return find_difference(digest, actual, saved, where)
        case "$json":
            try:
                return find_difference(operand, json.loads(actual), saved, where)
            except (TypeError, ValueError):
                return f"{where} is {_shown(actual)}, which is no JSON text"
        case "$saved":
            return find_difference(saved[operand], actual, saved, where)
        case "$savedJson":
            holds = actual == json.loads(saved[operand])
        case "$notSaved":
            holds = actual != saved[operand]
        case "$all":
            found = (find_difference(one, actual, saved, where) for one in operand)
            return next((difference for difference in found if difference), None)
        case "$some":
            holds = bool(actual) is operand
        case _:
            raise ValueError(f"no condition {name!r}")
    return None if holds else f"{where} is {_shown(actual)}, which does not hold {name} {_shown(operand)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"
