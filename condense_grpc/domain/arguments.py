"""Arguments of tool calls: which member of a call holds them, what they say about paths, how long they are.

Some hosts store the arguments under `input` or `args`; a null counts as absent and the next name is tried.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from condense_grpc.domain.json_text import compact, parse_object, parse_or_text
from condense_grpc.domain.messages import ToolCallPart


def captured_arguments(call: ToolCallPart) -> str:
    """What capture and archiving record, as JSON text: `input`, `args`, the arguments, else `{}`."""
    return _first(call, ("input", "args"), "{}")


def tested_arguments(call: ToolCallPart) -> str:
    """What the protection test looks at, as JSON text: `input`, the arguments, else `{}`."""
    return _first(call, ("input",), "{}")


def _first(call: ToolCallPart, names: Iterable[str], default: str) -> str:
    if call.extra_json:
        extra = parse_object(call.extra_json)
        for name in names:
            if extra.get(name) is not None:
                return compact(extra[name])
    return default if call.arguments_json is None else call.arguments_json


def paths_in(arguments_json: str, path_arguments: Sequence[str]) -> tuple[str, ...]:
    """The string members named in `path_arguments`, with `/` for every backslash."""
    if not any(name in arguments_json for name in path_arguments) and "\\u" not in arguments_json:
        return ()
    return paths_of(parse_or_text(arguments_json), path_arguments)


def paths_of(value: Any, path_arguments: Sequence[str]) -> tuple[str, ...]:
    """The same for arguments that were read already."""
    if not isinstance(value, dict):
        return ()
    named = [value[name] for name in path_arguments if name in value]
    return tuple([path.replace("\\", "/") for path in named if isinstance(path, str)])


def purged_arguments(args_chars: int) -> str:
    """What replaces the arguments of a failed call, as JSON text: an object that no tool would accept."""
    return f'{{"_purged":"<purged-errored-args size=\\"{args_chars}\\"/>"}}'
