"""The tool by which a model gets originals back: its definition for each provider, and how its arguments are read.

Register the definition from the first request of a session on: a list of tools that changes later breaks the
provider's prompt cache. For the same reason the definition never changes within a version. Models write arguments in
many ways; whatever is clear is taken, and the rest is answered with a sentence that says what is wanted.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from condense_grpc.api.condense.v1.query_pb2 import Slice
from condense_grpc.client import slices
from condense_grpc.client.errors import RequestInvalid

Provider: TypeAlias = Literal["openai", "openai_responses", "anthropic", "gemini"]

NAME = "context_tree_query"
DESCRIPTION = (
    "Returns the original, complete output of earlier tool calls that now appear only as a summary or a stub. "
    "Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask for a part by "
    "lines, chars or a pattern."
)
_PARAMETERS_JSON = json.dumps(
    {
        "type": "object",
        "properties": {
            "toolCallIds": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Refs of tool calls, such as t12, or tool call ids.",
            },
            "slices": {
                "type": "array",
                "description": "Optional: parts instead of whole outputs. Each names a ref of toolCallIds.",
                "items": {
                    "type": "object",
                    "properties": {
                        "ref": {"type": "string", "description": "A member of toolCallIds."},
                        "lines": {
                            "type": "array",
                            "items": {"type": "integer"},
                            "description": "First and last line, from 1, for example [2001, 2400].",
                        },
                        "chars": {
                            "type": "array",
                            "items": {"type": "integer"},
                            "description": "First and last character, from 1.",
                        },
                        "pattern": {"type": "string", "description": "Only the lines that contain this text."},
                        "regex": {"type": "boolean", "description": "Read pattern as an RE2 expression."},
                        "contextLines": {"type": "integer", "description": "Lines around each match."},
                    },
                    "required": ["ref"],
                },
            },
        },
        "required": ["toolCallIds"],
    }
)
_WANTED = 'Call it again with {"toolCallIds": ["t12"]}, the refs as the stub or summary shows them.'


def recovery_tool(provider: Provider) -> dict[str, Any]:
    """The definition as a member of the provider's list of tools; for Gemini, of its `functionDeclarations`.

    Every call returns a new dict that serializes to the same bytes.
    """
    parameters = json.loads(_PARAMETERS_JSON)
    match provider:
        case "openai":
            function = {"name": NAME, "description": DESCRIPTION, "parameters": parameters}
            return {"type": "function", "function": function}
        case "openai_responses":
            definition = {"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": parameters}
            return definition | {"strict": False}
        case "anthropic":
            return {"name": NAME, "description": DESCRIPTION, "input_schema": parameters}
        case "gemini":
            return {"name": NAME, "description": DESCRIPTION, "parameters": parameters}
    raise ValueError(f"no provider {provider!r}: use openai, openai_responses, anthropic or gemini")


class ArgumentsUnclear(Exception):
    """Arguments that name nothing to read. The message is the answer for the model."""


@dataclass(frozen=True, slots=True)
class ToolQuery:
    """What a model wants to read."""

    refs: list[str]
    slices: list[Slice]


def read_arguments(arguments: Mapping[str, Any] | str | None) -> ToolQuery:
    """The query in the arguments of a tool call, parsed or as the model's text. Raises `ArgumentsUnclear`."""
    try:
        value: Any = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        raise ArgumentsUnclear(f"The arguments of {NAME} are not valid JSON. {_WANTED}") from None
    if not isinstance(value, Mapping):
        raise ArgumentsUnclear(f"The arguments of {NAME} are not an object. {_WANTED}")
    parts = [_slice(item) for item in _list(value.get("slices"), "slices")]
    refs = [_ref(item) for item in _list(value.get("toolCallIds"), "toolCallIds")]
    refs = refs or list(dict.fromkeys(part.ref for part in parts))
    if not refs:
        raise ArgumentsUnclear(f"{NAME} was called without refs. {_WANTED}")
    return ToolQuery(refs, parts)


def _list(value: Any, name: str) -> list[Any]:
    """A list; a single member and a list written as text are taken for one."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ArgumentsUnclear(f"{name} is not valid JSON. {_WANTED}") from None
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _ref(value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentsUnclear(f"A member of toolCallIds is not a text. {_WANTED}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentsUnclear(f"A member of toolCallIds holds half of a character. {_WANTED}") from None
    return value


def _slice(value: Any) -> Slice:
    try:
        ref, pattern = _ref(value["ref"]), value.get("pattern")
        if value.get("lines") is not None:
            return slices.lines(ref, *_range(value["lines"]))
        if value.get("chars") is not None:
            return slices.chars(ref, *_range(value["chars"]))
        if pattern is not None:
            around = int(value.get("contextLines") or 0)
            return slices.matches(ref, pattern, regex=value.get("regex") is True, context_lines=around)
        return Slice(ref=ref)
    except (TypeError, ValueError, LookupError, AttributeError, RequestInvalid):
        wanted = (
            '{"ref": "t12", "lines": [1, 200]}, {"ref": "t12", "chars": [1, 5000]} or {"ref": "t12", "pattern": "x"}'
        )
        raise ArgumentsUnclear(f"A member of slices is not clear. Use {wanted}.") from None


def _range(value: Any) -> tuple[int, int | None]:
    """First and last: a list of one or two numbers, a text such as `10-40`, or one number."""
    if isinstance(value, str):
        value = [end for end in value.replace("-", " ").split() if end]
    elif isinstance(value, int):
        value = [value, value]
    first, last = (*value, None, None)[:2] if 1 <= len(value) <= 2 else (None, None)
    return int(first), None if last is None else int(last)
