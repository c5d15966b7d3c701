"""What the OpenAI Responses API refuses in its `input` items."""

from collections.abc import Iterable
from typing import Any

from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.fields import objects_in
from condense_grpc.native.openai_responses import CALLS, OUTPUTS, REFERENCE, is_of_model, kind_of
from condense_grpc.native.validity_turns import Defects, Json, Scope, is_blank_text

_ROLES = ("user", "assistant", "system", "developer")
_NAMED = ("function_call", "custom_tool_call")
_TEXT_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def responses_defects(elements: Iterable[Json], scope: Scope) -> list[Violation]:
    """See Validator."""
    defects = Defects(scope)
    answer: list[tuple[int, Json]] = []
    refers = False
    for position, item in enumerate(elements):
        defects.names(position, text_or_empty(item.get("id")) and f"item:{item['id']}")
        if is_of_model(item):
            answer.append((position, item))
            continue
        _check_answer(defects, answer)
        refers = any(kind_of(one) == REFERENCE for _, one in answer) if answer else refers
        answer = []
        kind = kind_of(item)
        if kind in OUTPUTS:
            name = "approval_request_id" if kind == "mcp_approval_response" else "call_id"
            if kind in _TEXT_OUTPUTS and not isinstance(item.get("output"), str | list):
                defects.add(ViolationKind.MALFORMED, position, what="output has to be a text or a list of parts")
            call_id = text_or_empty(item.get(name))
            if not refers or defects.has_call(call_id):
                defects.answers(position, call_id)
        else:
            defects.interrupts()
            if kind == "message":
                _check_message(defects, position, item)
    _check_answer(defects, answer)
    return defects.finished()


def _check_answer(defects: Defects, answer: list[tuple[int, Json]]) -> None:
    """One answer of the model: its calls, and that something follows each reasoning."""
    if not answer:
        return
    calls = [(position, item) for position, item in answer if kind_of(item) in CALLS]
    ids = [text_or_empty(item.get(_id_name(item))) for _, item in calls]
    # An id that stands for two calls is told once, as one that must be unique in the whole history.
    defects.asks(answer[0][0], ids, repeatable=ids)
    for (position, item), call_id in zip(calls, ids, strict=True):
        defects.names(position, call_id, renamed=True)
        if not call_id:
            defects.lacks_id(position)
        if kind_of(item) == "function_call" and not isinstance(item.get("arguments"), str):
            defects.add(ViolationKind.MALFORMED, position, call_id, "arguments has to be a text")
        if kind_of(item) in _NAMED and is_blank_text(item.get("name")):
            defects.add(ViolationKind.MALFORMED, position, call_id, "a call has to have a name")
    last, item = answer[-1]
    if kind_of(item) == "reasoning":
        defects.add(ViolationKind.BROKEN_REASONING, last, what="nothing that it belongs to follows")
    for position, item in answer:
        if kind_of(item) == "message":
            _check_message(defects, position, item)
        elif kind_of(item) == "reasoning" and not isinstance(item.get("summary"), list):
            defects.add(ViolationKind.BROKEN_REASONING, position, what="reasoning has to have a list as its summary")
        elif not kind_of(item):
            defects.add(ViolationKind.MALFORMED, position, what="an item has to have a type")


def _id_name(item: Json) -> str:
    return "id" if kind_of(item) == "mcp_approval_request" else "call_id"


def _check_message(defects: Defects, position: int, item: Json) -> None:
    content: Any = item.get("content")
    if not isinstance(content, str) and (not isinstance(content, list) or len(objects_in(content)) != len(content)):
        defects.add(ViolationKind.MALFORMED, position, what="content has to be a text or a list of parts")
        return
    if item.get("role") not in _ROLES:
        defects.add(ViolationKind.MALFORMED, position, what="no role that the API knows")
    other = "input_" if item.get("role") == "assistant" else "output_"
    for kind in (text_or_empty(part.get("type")) for part in objects_in(content)):
        if not kind or kind.startswith(other):
            what = f"{kind} is of the other side" if kind else "a part has to have a type"
            defects.add(ViolationKind.MALFORMED, position, what=what)
    parts = objects_in(content) if isinstance(content, list) else [{"text": content}]
    if all("text" in part and is_blank_text(part["text"]) for part in parts):
        defects.add(ViolationKind.EMPTY_CONTENT, position)
