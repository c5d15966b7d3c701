"""JSON as text: lengths and forms of values, and reading that never fails.

Arguments of tool calls travel as the model's own text. They are parsed only to look at them, and what cannot
be parsed (also: nested too deeply, integers with thousands of digits) is a plain text, not an error.
"""

import json
import re
from typing import Any

# What is nested deeper is a text. Far below what Python can read, so that who reads it, wherever, can also write it.
_MAX_DEPTH = 400
_OTHER_THAN_BRACKETS = re.compile(r'(?:[^"\[\]{}]|"(?:[^"\\]|\\.)*+"?)+', re.S)

_decode = json.JSONDecoder().decode
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def compact(value: Any) -> str:
    """Compact JSON: no whitespace, keys in insertion order, non-ASCII characters unescaped."""
    return _encode(value)


def pretty(value: Any) -> str:
    """The same as `compact` with two-space indentation; empty containers stay `{}` and `[]`."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:  # reading reaches deeper than indenting in newer Pythons
        return compact(value)


def parse_or_text(text: str) -> Any:
    """The value of a JSON text, or the text itself when it is not JSON."""
    if text.count("[") + text.count("{") > _MAX_DEPTH and _is_deep(text):
        return text
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return text


def _is_deep(text: str) -> bool:
    """Whether the brackets of a JSON text are nested beyond the limit: each pass takes the innermost pairs away."""
    brackets = _OTHER_THAN_BRACKETS.sub("", text)
    for _ in range(_MAX_DEPTH):
        fewer = brackets.replace("[]", "").replace("{}", "")
        if len(fewer) == len(brackets):
            return False
        brackets = fewer
    return bool(brackets)


def parse_object(text: str) -> dict[str, Any]:
    """The members of a JSON object; empty for everything else."""
    if not text:
        return {}
    value = parse_or_text(text)
    return value if isinstance(value, dict) else {}


def value_chars(value: Any) -> int:
    """Length of the compact JSON of a value, in code points."""
    return len(_encode(value))
