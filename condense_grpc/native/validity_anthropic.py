"""What the Anthropic Messages API, or a server of its kind, refuses in `messages`."""

import re
from collections.abc import Collection, Iterable

from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.anthropic import SERVER_CALLS, THINKING, cache_marks
from condense_grpc.native.fields import objects_in
from condense_grpc.native.validity_turns import Defects, Json, Scope, is_blank_text

MAX_MARKS = 4
_MODEL_ONLY = ("tool_use", *SERVER_CALLS, *THINKING)
_USER_ONLY = ("tool_result", "image")
_ID = re.compile(r"[a-zA-Z0-9_-]+")


def anthropic_defects(elements: Iterable[Json], scope: Scope) -> list[Violation]:
    """See Validator."""
    defects, marks = Defects(scope), scope.marks_before
    server_tools = _ServerTools(defects)
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
            server_tools.model_speaks(position, blocks)
        elif role == "user":
            _check_user(defects, position, blocks)
            server_tools.user_speaks(blocks)
        else:
            defects.is_no_side(position)
            server_tools.user_speaks([])
        if content in ("", []) or _has_empty_text(blocks):
            defects.add(ViolationKind.EMPTY_CONTENT, position)
    server_tools.finished()
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
    # An id that stands for two calls is told once, as one that must be unique in the whole history.
    defects.asks(position, ids, repeatable=ids)
    for block, call_id in zip(calls, ids, strict=True):
        defects.names(position, call_id, renamed=True)
        if not call_id:
            defects.lacks_id(position)
        elif not _ID.fullmatch(call_id):
            defects.add(ViolationKind.MALFORMED, position, call_id, "an id may have letters, digits, _ and - only")
        if not isinstance(block.get("input"), dict) or is_blank_text(block.get("name")):
            defects.add(ViolationKind.MALFORMED, position, call_id, "a call has to have a name, and an object as input")
    _check_thinking(defects, position, blocks)


def _check_thinking(defects: Defects, position: int, blocks: list[Json]) -> None:
    for block in blocks:
        name = {"thinking": "signature", "redacted_thinking": "data"}.get(str(block.get("type")))
        if name is not None and not text_or_empty(block.get(name)):
            defects.add(ViolationKind.BROKEN_REASONING, position, what=f"{block['type']} without {name}")
    if blocks and blocks[-1].get("type") in THINKING:
        defects.add(ViolationKind.BROKEN_REASONING, position, what="thinking must not be the last block")


class _ServerTools:
    """Tools of the provider, which answers them itself, before anybody else speaks.

    It may do so in an answer that goes on from the one before, when that was paused or waited for results of the host.
    """

    def __init__(self, defects: Defects) -> None:
        self._defects = defects
        self._asked: dict[str, int] = {}
        self._may_wait = False

    def model_speaks(self, position: int, blocks: list[Json]) -> None:
        """An element of the model."""
        for block in blocks:
            kind = text_or_empty(block.get("type"))
            if kind in SERVER_CALLS:
                self._asked[text_or_empty(block.get("id"))] = position
                continue
            call_id = text_or_empty(block.get("tool_use_id"))
            if kind.endswith("_tool_result") and self._asked.pop(call_id, None) is None:
                self._defects.add(ViolationKind.MALFORMED, position, what="a server tool's result without its call")
        kinds = [block.get("type") for block in blocks]
        self._may_wait = "tool_use" in kinds or bool(kinds and kinds[-1] in SERVER_CALLS)

    def user_speaks(self, blocks: list[Json]) -> None:
        """An element that is not the model's; results of the host interrupt nothing."""
        if not blocks or any(block.get("type") != "tool_result" for block in blocks):
            self._end()

    def finished(self) -> None:
        """The history ends: an answer that was paused, or waits for the host, may still go on."""
        if not self._may_wait:
            self._end()

    def _end(self) -> None:
        for position in sorted(set(self._asked.values())):
            self._defects.add(ViolationKind.MALFORMED, position, what="a server tool's call without its result")
        self._asked.clear()
