"""What the Anthropic Messages API, or a server of its kind, refuses in `messages`."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.anthropic import THINKING, cache_marks
from condense_grpc.native.fields import objects_in
from condense_grpc.native.validity_turns import Defects, Json, Scope, is_blank_text

MAX_MARKS = 4
_MODEL_ONLY = ("tool_use", "server_tool_use", "mcp_tool_use", *THINKING)
_USER_ONLY = ("tool_result", "image")
_ID = re.compile(r"[a-zA-Z0-9_-]+")


def anthropic_defects(elements: Iterable[Json], scope: Scope) -> list[Violation]:
    """See Validator."""
    defects, marks = Defects(scope), scope.marks_before
    for position, message in enumerate(elements):
        role, content = message.get("role"), message.get("content")
        blocks: list[Json] = objects_in(content)
        if isinstance(content, str):
            blocks = [{"type": "text", "text": content}]
        is_told, marks = marks > MAX_MARKS, marks + cache_marks(message)
        if marks > MAX_MARKS and not is_told:
            defects.add(ViolationKind.MALFORMED, position, what=f"more than {MAX_MARKS} cache marks")
        if not isinstance(content, str | list) or (isinstance(content, list) and len(blocks) != len(content)):
            defects.add(ViolationKind.MALFORMED, position, what="content has to be a text or a list of blocks")
        if role == "assistant":
            _check_assistant(defects, position, blocks)
        elif role == "user":
            _check_user(defects, position, blocks)
        else:
            defects.is_no_side(position)
        if content in ("", []) or _has_empty_text(blocks):
            defects.add(ViolationKind.EMPTY_CONTENT, position)
    return defects.finished()


def _has_empty_text(blocks: list[Json]) -> bool:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    inner = [part for block in results for part in objects_in(block.get("content"))]
    texts = [block for block in (*blocks, *inner) if block.get("type") == "text"]
    return any(is_blank_text(block.get("text")) for block in texts)


def _check_side(defects: Defects, position: int, blocks: list[Json], elsewhere: Collection[str]) -> None:
    """Every block has a type, and none is of the other side."""
    for block in blocks:
        kind = block.get("type")
        if not isinstance(kind, str) or not kind:
            defects.add(ViolationKind.MALFORMED, position, what="a block has to have a type")
        elif kind in elsewhere:
            defects.add(ViolationKind.MALFORMED, position, what=f"{kind} is of the other side")


def _check_user(defects: Defects, position: int, blocks: list[Json]) -> None:
    defects.speaks(position, "user", begins=True)
    _check_side(defects, position, blocks, _MODEL_ONLY)
    for block in blocks:
        if block.get("type") == "tool_result":
            defects.answers(position, text_or_empty(block.get("tool_use_id")))
        else:
            defects.interrupts()


def _check_assistant(defects: Defects, position: int, blocks: list[Json]) -> None:
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    defects.speaks(position, "assistant", begins=False, waits=bool(calls))
    _check_side(defects, position, blocks, _USER_ONLY)
    ids = [text_or_empty(block.get("id")) for block in calls]
    defects.asks(position, ids)
    for block, call_id in zip(calls, ids, strict=True):
        defects.names(position, call_id, renamed=True)
        if not call_id:
            defects.lacks_id(position)
        elif not _ID.fullmatch(call_id):
            defects.add(ViolationKind.MALFORMED, position, call_id, "an id may have letters, digits, _ and - only")
        if not isinstance(block.get("input"), dict) or is_blank_text(block.get("name")):
            defects.add(ViolationKind.MALFORMED, position, call_id, "a call has to have a name, and an object as input")
    _check_thinking(defects, position, blocks)
    _check_server_tools(defects, position, blocks)


def _check_thinking(defects: Defects, position: int, blocks: list[Json]) -> None:
    for block in blocks:
        name = {"thinking": "signature", "redacted_thinking": "data"}.get(str(block.get("type")))
        if name is not None and not text_or_empty(block.get(name)):
            defects.add(ViolationKind.BROKEN_REASONING, position, what=f"{block['type']} without {name}")
    if blocks and blocks[-1].get("type") in THINKING:
        defects.add(ViolationKind.BROKEN_REASONING, position, what="thinking must not be the last block")


def _check_server_tools(defects: Defects, position: int, blocks: list[Json]) -> None:
    """Tools of the provider are answered within the message; only the last one may wait, when it was paused."""
    asked: list[Any] = []
    for block in blocks:
        kind = text_or_empty(block.get("type"))
        if kind in ("server_tool_use", "mcp_tool_use"):
            asked.append(block.get("id"))
        elif kind.endswith("_tool_result"):
            if block.get("tool_use_id") not in asked:
                defects.add(ViolationKind.MALFORMED, position, what="a server tool's result without its call")
            else:
                asked.remove(block.get("tool_use_id"))
    if asked and blocks[-1].get("id") not in asked:
        defects.add(ViolationKind.MALFORMED, position, what="a server tool's call without its result")
