"""What the OpenAI Chat Completions API refuses in `messages`."""

from collections.abc import Iterable
from typing import Any

from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.fields import objects_in
from condense_grpc.native.validity_turns import Defects, Json, Scope, is_blank_text

_USER_ONLY = ("image_url", "input_audio", "file")
_SPEAKERS = ("system", "developer", "user")


def chat_defects(elements: Iterable[Json], scope: Scope) -> list[Violation]:
    """See Validator."""
    defects = Defects(scope)
    for position, message in enumerate(elements):
        role = message.get("role")
        if role == "assistant":
            _check_assistant(defects, position, message)
        elif role in ("tool", "function"):
            _check_form(defects, position, message)
            defects.answers(position, text_or_empty(message.get("tool_call_id")))
        else:
            defects.interrupts()
            if role not in _SPEAKERS:
                defects.add(ViolationKind.MALFORMED, position, what="no role that the API knows")
            _check_form(defects, position, message)
            if _is_empty(message.get("content")):
                defects.add(ViolationKind.EMPTY_CONTENT, position)
    return defects.finished()


def _check_form(defects: Defects, position: int, message: Json) -> None:
    content = message.get("content")
    if isinstance(content, list):
        parts = objects_in(content)
        if not content or len(parts) != len(content):
            defects.add(ViolationKind.MALFORMED, position, what="content has to be a text or a list of parts")
        for kind in (part.get("type") for part in parts):
            if not isinstance(kind, str) or not kind:
                defects.add(ViolationKind.MALFORMED, position, what="a part has to have a type")
            elif kind in _USER_ONLY and message.get("role") != "user":
                defects.add(ViolationKind.MALFORMED, position, what=f"{kind} is for messages of the user")
    elif not isinstance(content, str):
        defects.add(ViolationKind.MALFORMED, position, what="content has to be a text or a list of parts")


def _check_assistant(defects: Defects, position: int, message: Json) -> None:
    calls: Any = message.get("tool_calls")
    listed = objects_in(calls)
    if calls is not None and (not listed or len(listed) != len(calls)):
        defects.add(ViolationKind.MALFORMED, position, what="tool_calls has to be a list of calls, not an empty one")
    old = message.get("function_call")
    defects.asks(position, [text_or_empty(call.get("id")) for call in listed] + ([""] if old else []))
    for call in listed:
        body = call.get("custom") if "function" not in call and "custom" in call else call.get("function")
        given = isinstance(body, dict) and isinstance(body.get("arguments", body.get("input")), str)
        if not given or is_blank_text(body.get("name") if isinstance(body, dict) else None):
            defects.add(
                ViolationKind.MALFORMED, position, what="a call has to have a name, and a text as its arguments"
            )
        if not text_or_empty(call.get("id")):
            defects.lacks_id(position)
    content = message.get("content")
    if content is not None:
        _check_form(defects, position, message)
    says = any(message.get(name) for name in ("refusal", "audio"))
    if not listed and not old and not says and _is_empty(content):
        defects.add(ViolationKind.EMPTY_CONTENT, position)


def _is_empty(content: Any) -> bool:
    if isinstance(content, list):
        parts = objects_in(content)
        is_blank = all(part.get("type") == "text" and is_blank_text(part.get("text")) for part in parts)
        return is_blank and len(parts) == len(content)
    return is_blank_text(content)
