"""Histories that nobody put in order: calls, results and what is said stand in any order, with few ids for many calls.

What can happen to a history that a host cuts, joins, repeats or interrupts is in here; most of it is broken.
"""

import copy
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from condense_grpc.native.formats import NativeFormat
from tests.native.histories import WRITERS, Answer, Call, Json, User, Work

IDS = ["a", "b", "c", ""]
_short = st.sampled_from(["ok", "hm", "so"])
_output = st.sampled_from(["ok", "日本語" * 5, "line 1\nline 2\n" * 20, "x" * 1300])


@st.composite
def _calls(draw: st.DrawFn, number: int, ids: Sequence[str]) -> list[Call]:
    found = []
    for one in draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3)):
        call_id = f"{one}{number}" if one and draw(st.booleans()) else one
        name, is_error = (
            draw(st.sampled_from(["bash", "bash", "read", "keep", "context_tree_query"])),
            draw(st.booleans()),
        )
        found.append(Call(call_id, name, {"path": "x" * 20}, draw(_output), is_error, draw(st.booleans())))
    return found


def _halves(form: NativeFormat, work: Work) -> tuple[list[Json], list[Json]]:
    """The elements that ask, and those that answer."""
    elements = WRITERS[form](work)
    if form is NativeFormat.OPENAI_RESPONSES:
        at = next(at for at, item in enumerate(elements) if item["type"] == "function_call_output")
    else:
        at = 1
    return elements[:at], elements[at:]


_THOUGHT: Json = {"type": "thinking", "thinking": "so", "signature": "sig=="}
_SEARCH: Json = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
_FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
_IMAGE: Json = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
_TEXT: Json = {"type": "text", "text": "ok"}
_USE: Json = {"type": "tool_use", "id": "a", "name": "bash", "input": {}}
_RESULT: Json = {"type": "tool_result", "tool_use_id": "a"}
_SIGNED: Json = {"functionCall": {"name": "bash", "args": {}, "id": "a"}, "thoughtSignature": "c2ln"}
_UNSIGNED: Json = {"function_call": {"name": "bash", "args": {}}}
_RESPONSE: Json = {"functionResponse": {"name": "bash", "response": {"output": "ok"}}}
_FUNCTION: Json = {"name": "f", "arguments": "{}"}


def _chat_message(role: str, content: Any, **more: Any) -> Json:
    return {"role": role, "content": content, **more}


ODDITIES: dict[NativeFormat, list[Json]] = {
    NativeFormat.ANTHROPIC: [
        {"role": role, "content": content}
        for role, contents in {
            "assistant": [
                "",
                " ",
                [],
                "ok",
                [_THOUGHT],
                [_TEXT, _THOUGHT],
                [_SEARCH],
                [_FOUND, _TEXT],
                [_SEARCH, _FOUND, _TEXT],
                [_TEXT, _USE, _TEXT],
                [_THOUGHT, _SEARCH, _USE],
                [_RESULT],
            ],
            "user": ["", [], [_IMAGE], [_TEXT, _RESULT], [_RESULT, _TEXT, _RESULT], [_USE], [{"type": "text"}]],
        }.items()
        for content in contents
    ],
    NativeFormat.GEMINI: [
        *(
            {"role": role, "parts": parts}
            for role, parts in [
                ("model", []),
                ("model", [_UNSIGNED]),
                ("model", [_SIGNED, _UNSIGNED]),
                ("model", [{"text": "so", "thought": True}]),
                ("model", [{"text": "", "thoughtSignature": "c2ln"}]),
                ("model", [{"text": "ok"}, _SIGNED, {"text": "ok"}]),
                ("user", []),
                ("user", [{"text": ""}]),
                ("user", [{"text": "ok"}, _RESPONSE]),
                ("user", [_RESPONSE, {"text": "ok"}, _RESPONSE]),
                ("function", [_RESPONSE]),
                ("tool", [_RESPONSE, _RESPONSE]),
            ]
        ),
        {"parts": [{"text": "ok"}]},
    ],
    NativeFormat.OPENAI_CHAT: [
        _chat_message("assistant", None, reasoning_content="so"),
        _chat_message("assistant", "", refusal="no"),
        _chat_message("assistant", "ok", tool_calls=[]),
        _chat_message("assistant", None, function_call=_FUNCTION),
        _chat_message("function", "ok", name="f"),
        _chat_message("tool", [{"type": "text", "text": "ok"}], tool_call_id="a"),
        _chat_message("user", [_TEXT, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
        _chat_message("user", ""),
        _chat_message("developer", "note"),
    ],
    NativeFormat.OPENAI_RESPONSES: [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "item_reference", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "kept", "output": "ok" * 50},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "compaction", "encrypted_content": "x"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": ""},
        {"role": "developer", "content": "note"},
        {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "ok" * 50},
        {"type": "computer_call", "call_id": "a", "action": {"type": "wait"}},
        {"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot"}},
        {"type": "mcp_approval_request", "id": "a", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    ],
    NativeFormat.PI: [
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "so"}]},
        {"role": "user", "content": ""},
        {"role": "user", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        {"role": "custom", "customType": "note", "content": "note", "display": True},
        {"role": "bashExecution", "command": "ls", "output": "ok"},
    ],
}
"""Elements of each shape that stand at its edges, right and wrong ones."""


def _notice(form: NativeFormat) -> Json:
    return (
        {"role": "system", "parts": [{"text": "note"}]}
        if form is NativeFormat.GEMINI
        else {"role": "system", "content": "note"}
    )


@st.composite
def loose_elements(draw: st.DrawFn, form: NativeFormat) -> list[Json]:
    """Up to some twenty pieces."""
    ids = IDS if draw(st.integers(0, 3)) == 0 else IDS[:3]
    kinds = st.sampled_from(["user", "answer", "turn", "turn", "turn", "asks", "answers", "notice", "odd"])
    elements: list[Json] = []
    for number, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=16))):
        if kind == "user":
            elements += WRITERS[form](User(draw(_short), draw(st.booleans())))
        elif kind == "answer":
            elements += WRITERS[form](Answer(draw(_short), draw(st.sampled_from(["", "so"]))))
        elif kind == "notice":
            elements.append(_notice(form))
        elif kind == "odd":
            elements.append(copy.deepcopy(draw(st.sampled_from(ODDITIES[form]))))
        else:
            maybe = st.sampled_from(["", "", "hm"])
            work = Work(draw(_calls(number, ids)), draw(maybe), draw(maybe), draw(maybe))
            asks, answers = _halves(form, work)
            elements += [] if kind == "answers" else asks
            elements += [] if kind == "asks" else answers
    return elements
