"""The first line of a call in a summary: which call it was, on what, how it ended, how large the result was.

It opens with the call's label, `[[n:tool]]`, verbatim: the service replaces it by the ref, and the name is gone.
Inside of a compressed chain the call itself is gone too, so the name of the tool follows once more. Labels match by
the exact name of the tool, so nothing is changed in a name unless it could not be part of a label anyway.
"""

import re
from typing import Any

from condense_grpc.domain.batches import Call
from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.summarize.quoting import cut, cut_front, quote

_COMMAND_NAMES = ("command", "cmd", "script", "code")
_PATH_NAMES = ("file_path", "path", "filePath", "filename", "file", "notebook_path", "directory", "dir", "cwd")
_TERM_NAMES = ("pattern", "query", "regex", "glob", "url", "q", "search", "name", "description", "prompt", "id")
_NAME_CHARS = 40
_LEADING_CD = re.compile(r"cd [^;&|\n]{1,300}&& ?")
_NOT_IN_LABEL = re.compile(r"[\]\n]")


def label_of(number: int, tool_name: str) -> str:
    """The label of the call at this position; a name that cannot stand in one is made to, for display only."""
    return f"[[{number}:{_NOT_IN_LABEL.sub('_', tool_name) or '_'}]]"


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments as an object; a call whose arguments are anything else has one argument without a name."""
    value = parse_or_text(call.args_json)
    return value if isinstance(value, dict) else {"": value}


def command_of(arguments: dict[str, Any]) -> str:
    """The shell command of a call, or nothing."""
    for name in _COMMAND_NAMES:
        value = arguments.get(name)
        if isinstance(value, list):
            value = " ".join(str(word) for word in value[:50] if isinstance(word, str))
        if isinstance(value, str) and value:
            return _LEADING_CD.sub("", value[:4000], count=1).strip()
    return ""


def telling_argument(arguments: dict[str, Any], limit: int) -> str:
    """What the call was about, in at most `limit` characters: its command, its term and its path, or what there is."""
    command = command_of(arguments)
    if command:
        return cut(quote(command, 2 * limit), limit)
    path = quote(_first(arguments, _PATH_NAMES), 1000)
    term = quote(_first(arguments, _TERM_NAMES), limit)
    if path and term:
        return cut(term, limit // 2) + " in " + cut_front(path, limit - 4 - min(len(term), limit // 2))
    if path:
        return cut_front(path, limit)
    return term or quote(_first(arguments, tuple(arguments)), limit) or _whole(arguments, limit)


def _whole(arguments: dict[str, Any], limit: int) -> str:
    """All arguments as JSON, when none of them is a text."""
    return cut(quote(compact(arguments)[:4000], 2 * limit), limit) if arguments else ""


def _first(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def heading(call: Call, label: str, limit: int, *, detail: str, arguments: dict[str, Any]) -> str:
    """The line in at most `limit` characters if the label leaves room; the outcome is always there."""
    outcome = "ERROR" if call.is_error else "OK"
    name = cut(quote(call.tool_name, 200), _NAME_CHARS)
    room = limit - len(f"- {label} {outcome}")
    named = f"{label} {name}" if name and len(name) < room else label
    shortest = f"- {named} {outcome}"
    room = limit - len(shortest)
    size = f", {detail}" if detail and len(detail) + 2 <= room // 2 else ""
    room -= len(size) + 2
    argument = telling_argument(arguments, min(room, max(24, min(limit // 4, 100)))) if room >= 12 else ""
    return f"- {named} {argument}: {outcome}{size}" if argument else shortest + size
