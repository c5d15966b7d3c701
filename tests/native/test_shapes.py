"""How each shape is read into messages, and how what changes is written back."""

import json
from typing import Any

import pytest

from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    calls_of,
    text_of,
)
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_elements
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.reading import message_of, read_messages
from condense_grpc.native.shapes import SHAPES
from condense_grpc.native.unit import NativeMessage

F = NativeFormat
PNG = "iVBORw0KGgo="


def read(form: NativeFormat, elements: Any, **style: Any) -> list[NativeMessage]:
    """The messages of elements; also checks that stored bodies give the same messages and texts."""
    text = json.dumps(elements, **style)
    raw = read_elements(text.encode())
    found = read_messages(form, raw, 0, OpenCalls())
    for one in found:
        again = message_of(one.body)
        if form is NativeFormat.PI:
            again = Message(**{name: getattr(again, name) for name in again.__slots__} | {"source_json": ""})
        assert again == one.message
    assert "".join(one.body.source for one in found) == "".join(element.text for element in raw)
    assert sum(one.span.elements for one in found) == len(raw)
    return found


def messages(form: NativeFormat, elements: Any, **style: Any) -> list[Message]:
    return [one.message for one in read(form, elements, **style)]


# OpenAI Chat


def chat() -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    other = {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    return [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}]},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call, other], "x": 1.0},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "files"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "long", "name": "given"},
        {"role": "assistant", "content": "done", "refusal": None},
    ]


def test_chat_is_read() -> None:
    """Calls of both kinds, thinking, images; results get the name of their tool."""
    developer, user, asked, second, first, said = messages(F.OPENAI_CHAT, chat())
    assert (developer.role, developer.custom_role) == (Role.CUSTOM, "developer")
    assert isinstance(user.parts[0], ImagePart) and user.parts[0].media_type == "image/png"
    assert asked.parts[0] == ThinkingPart("hm")
    assert [(call.id, call.name, call.arguments_json) for call in calls_of(asked)] == [
        ("c1", "read", '{"path": "a"}'),
        ("c2", "sh", "ls"),
    ]
    assert (second.tool_name, text_of(second)) == ("sh", "files")
    assert (first.tool_name, text_of(first)) == ("given", "long")
    assert text_of(said) == "done"


def test_chat_is_changed_in_single_places() -> None:
    """Arguments are texts, content keeps its form, everything else stays to the byte."""
    shape = SHAPES[F.OPENAI_CHAT]
    texts = [json.dumps(element) for element in chat()]
    changed = json.loads(shape.with_arguments(texts[2], 1, '{"_purged":1}'))
    assert changed["tool_calls"][1]["custom"]["input"] == '{"_purged":1}'
    assert changed["tool_calls"][0] == chat()[2]["tool_calls"][0]
    assert shape.with_arguments(texts[2], 0, "{}") == texts[2].replace('"{\\"path\\": \\"a\\"}"', '"{}"')
    assert json.loads(shape.with_stub(texts[3], "S")) == chat()[3] | {"content": [{"type": "text", "text": "S"}]}
    assert shape.with_stub(texts[4], "S") == texts[4].replace("long", "S")
    assert "reasoning_content" not in shape.without_thinking(texts[2]) and '"x": 1.0' in shape.without_thinking(
        texts[2]
    )
    assert shape.with_call_id(texts[4], 0, "n") == texts[4].replace("c1", "n")
    assert json.loads(shape.with_call_id(texts[2], 1, "n"))["tool_calls"][1]["id"] == "n"
    old = '{"role": "assistant", "function_call": {"name": "f", "arguments": "x"}}'
    assert shape.with_arguments(old, 0, "{}") == old.replace('"x"', '"{}"')


def test_chat_inserts() -> None:
    """A text alone is a text; what has moved into a block stays what it was."""
    shape = SHAPES[F.OPENAI_CHAT]
    assert json.loads(shape.inserted(Message(Role.CUSTOM, (TextPart("sum"),)))) == {"role": "user", "content": "sum"}
    [user] = messages(F.OPENAI_CHAT, [chat()[1]])
    block = json.loads(
        shape.inserted(Message(Role.USER, (TextPart("b"), *user.parts, OpaquePart("x", '{"type":"x"}'))))
    )
    assert block["content"] == [{"type": "text", "text": "b"}, chat()[1]["content"][0], {"type": "x"}]


def test_function_calls_of_old_pair_by_order() -> None:
    """Without ids."""
    asked, answered = messages(
        F.OPENAI_CHAT,
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "r"},
        ],
    )
    assert calls_of(asked)[0].name == "f" and (answered.tool_call_id, answered.tool_name) == ("", "f")


# OpenAI Responses


def responses() -> list[Any]:
    return [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "..."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "looking"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "read", "arguments": '{"n": 1}'},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "custom_tool_call", "call_id": "b", "name": "sh", "input": "ls"},
        {"type": "function_call_output", "call_id": "a", "output": "long"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "files"}]},
        {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "u"}},
        {"type": "local_shell_call", "call_id": "d", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "d", "output": "out"},
        {"type": "shell_call", "call_id": "e", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "e", "output": [{"stdout": "o", "stderr": "e", "outcome": {}}]},
        {"type": "mcp_approval_request", "id": "m", "name": "x", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
        {"type": "compaction", "encrypted_content": "..."},
    ]


def test_an_answer_of_the_model_is_one_message() -> None:
    """Reasoning, texts, calls and items of built-in tools up to the next item of the host."""
    found = read(F.OPENAI_RESPONSES, responses())
    assert [one.span.elements for one in found] == [1, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    answer = found[1].message
    assert answer.role is Role.ASSISTANT and text_of(answer) == "looking"
    assert [(call.id, call.name) for call in calls_of(answer)] == [("a", "read"), ("b", "sh")]
    assert [part.type for part in answer.parts if isinstance(part, OpaquePart)] == ["reasoning", "web_search_call"]
    results = [one.message for one in found if one.message.role is Role.TOOL_RESULT]
    assert [(one.tool_call_id, one.tool_name, text_of(one)) for one in results] == [
        ("a", "read", "long"),
        ("b", "sh", "files"),
        ("c", "computer_call", ""),
        ("d", "local_shell_call", "out"),
        ("e", "shell_call", "o\ne"),
        ("m", "x", ""),
    ]
    assert found[-1].message.custom_role == "compaction"


def test_outputs_keep_their_form() -> None:
    """And those that can hold no text stay as they are."""
    shape, items = SHAPES[F.OPENAI_RESPONSES], responses()
    changed = [json.loads(shape.with_stub(json.dumps(item), "S")) for item in items]
    assert changed[6] == items[6] | {"output": "S"}
    assert changed[7] == items[7] | {"output": [{"type": "input_text", "text": "S"}]}
    assert changed[13]["output"][0]["stdout"] == "S"
    assert changed[9] == items[9] and changed[15] == items[15]
    assert json.loads(shape.with_arguments(json.dumps(items[3]), 0, "{}"))["arguments"] == "{}"
    assert json.loads(shape.with_arguments(json.dumps(items[8]), 0, "{}")) == items[8]
    assert shape.without_thinking(json.dumps(items[1])) == json.dumps(items[1])


# Anthropic


def test_outputs_that_say_so_have_failed() -> None:
    """Those of functions have no place for it."""
    exits: list[Any] = [{"type": "exit", "exit_code": 0}, {"type": "exit", "exit_code": 2}, {"type": "timeout"}]
    shells = [
        {"type": "shell_call_output", "call_id": f"s{number}", "output": [{"stdout": "o", "outcome": outcome}]}
        for number, outcome in enumerate(exits)
    ]
    patches = [
        {"type": "apply_patch_call_output", "call_id": f"p{number}", "status": status, "output": "o"}
        for number, status in enumerate(["completed", "failed"])
    ]
    told = {"type": "function_call_output", "call_id": "f", "output": "Error: no such file", "status": "incomplete"}
    failed = {one.tool_call_id: one.is_error for one in messages(F.OPENAI_RESPONSES, [*shells, *patches, told])}
    assert failed == {"s0": False, "s1": True, "s2": True, "p0": False, "p1": True, "f": False}


def anthropic() -> list[Any]:
    calls = [{"type": "tool_use", "id": it, "name": f"tool_{it}", "input": {"n": 1.0}} for it in ("a", "b")]
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    document = {"type": "document", "source": {"type": "url", "url": "u"}}
    server = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [thinking, {"type": "redacted_thinking", "data": "d"}, *calls]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": "long a",
                    "cache_control": {"type": "ephemeral"},
                },
                {"type": "text", "text": "by the way"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "b"}, image, document],
                    "is_error": True,
                },
                {"type": "text", "text": "and"},
                {"type": "text", "text": "so on"},
            ],
        },
        {"role": "assistant", "content": [server, found, {"type": "text", "text": "done"}]},
    ]


@pytest.mark.parametrize("style", [{}, {"indent": 2}, {"separators": (" ,", ": ")}])
def test_a_user_message_is_a_message_for_each_result(style: Any) -> None:
    """And one for each run of other blocks; together they are the element, to the byte."""
    found = read(F.ANTHROPIC, anthropic(), **style)
    assert [one.message.role.value for one in found] == [
        *("user", "assistant", "toolResult", "user", "toolResult", "user", "assistant")
    ]
    assert [one.span.elements for one in found] == [1, 1, 1, 0, 0, 0, 1]
    assert [one.span.parts for one in found] == [None, None, 1, 1, 1, 2, None]
    assert [one.message.tool_name for one in found if one.message.tool_name] == ["tool_a", "tool_b"]
    second = found[4].message
    assert second.is_error and text_of(second) == "b"
    assert [type(part) for part in second.parts] == [TextPart, ImagePart, OpaquePart]
    asked = found[1].message
    assert asked.parts[0] == ThinkingPart("hm", "s") and asked.parts[1] == ThinkingPart("", "d", True)
    assert calls_of(asked)[0].arguments_json == '{"n":1.0}'
    assert [part.type for part in found[-1].message.parts if isinstance(part, OpaquePart)] == [
        "server_tool_use",
        "web_search_tool_result",
    ]
    assert not calls_of(found[-1].message)


def test_anthropic_blocks_are_changed_in_single_places() -> None:
    """A stub keeps id and mark, and is no error."""
    shape = SHAPES[F.ANTHROPIC]
    first, _, second, *_ = anthropic()[2]["content"]
    assert json.loads(shape.with_stub(json.dumps(first), "S")) == first | {"content": "S"}
    stub = json.loads(shape.with_stub(json.dumps(second), "S"))
    assert stub == second | {"content": [{"type": "text", "text": "S"}], "is_error": False}
    call = json.dumps(anthropic()[1]["content"][2])
    assert shape.with_arguments(call, 0, '{"_purged":1}') == call.replace('{"n": 1.0}', '{"_purged":1}')
    assert json.loads(shape.with_call_id(call, 0, "z"))["id"] == "z"
    assert json.loads(shape.with_call_id(json.dumps(first), 0, "z"))["tool_use_id"] == "z"


# Gemini


def gemini(with_ids: bool = False) -> list[Any]:
    def named(name: str, number: int, **more: Any) -> dict[str, Any]:
        return {"name": name, **more} | ({"id": f"g{number}"} if with_ids else {})

    return [
        {"parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": named("read", 1, args={"n": 1}), "thoughtSignature": "s"},
                {"function_call": named("sh", 2, args={})},
                {"functionCall": named("read", 3)},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": named("sh", 2, response={"output": "files"})},
                {"functionResponse": named("read", 1, response={"error": "no such file"})},
                {
                    "function_response": named(
                        "read",
                        3,
                        response={"lines": [1, 2]},
                        parts=[{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    )
                },
                {"text": "hurry"},
            ],
        },
        {"role": "model", "parts": [{"text": "done"}, {"text": "", "thoughtSignature": "t"}]},
    ]


@pytest.mark.parametrize("with_ids", [False, True])
def test_gemini_results_find_their_calls(with_ids: bool) -> None:
    """By ids, or without them by the function, in order; a call without id gets one that is nowhere written."""
    found = messages(F.GEMINI, gemini(with_ids))
    asked = calls_of(found[1])
    results = [one for one in found if one.role is Role.TOOL_RESULT]
    assert [one.tool_call_id for one in results] == [asked[1].id, asked[0].id, asked[2].id]
    assert len({call.id for call in asked}) == 3 and all(call.id for call in asked)
    assert [text_of(one) for one in results] == ["files", "no such file", '{"lines":[1,2]}']
    assert [one.is_error for one in results] == [False, True, False]
    assert isinstance(results[2].parts[1], ImagePart)
    thought = found[1].parts[0]
    assert isinstance(thought, ThinkingPart) and thought.text == "hm"
    assert asked[2].arguments_json is None


def test_gemini_parts_are_changed_in_single_places() -> None:
    """Under the names that the host uses."""
    shape, contents = SHAPES[F.GEMINI], gemini(True)
    parts = [json.dumps(part) for part in contents[2]["parts"]]
    assert json.loads(shape.with_stub(parts[0], "S"))["functionResponse"]["response"] == {"output": "S"}
    assert json.loads(shape.with_stub(parts[1], "S"))["functionResponse"]["response"] == {"output": "S"}
    third = json.loads(shape.with_stub(parts[2], "S"))["function_response"]
    assert third == {"name": "read", "response": {"output": "S"}, "id": "g3"}
    call = json.dumps(contents[1]["parts"][1])
    purged = json.loads(shape.with_arguments(call, 0, '{"_purged":1}'))
    assert purged["functionCall"]["args"] == {"_purged": 1} and purged["thoughtSignature"] == "s"
    assert json.loads(shape.with_call_id(call, 0, "z"))["functionCall"]["id"] == "z"


# Pi


def test_pi_is_read_with_its_time() -> None:
    """And its stubs are those of the rules."""
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "sh", "timestamp": 5, "details": {"big": 1}}
    result["content"] = [{"type": "text", "text": "long"}]
    call = {"type": "toolCall", "id": "c", "name": "sh", "arguments": {"n": 1.0}}
    asked = {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, call], "timestamp": 4}
    first, second = messages(F.PI, [asked, result])
    assert (first.timestamp_ms, second.timestamp_ms, text_of(second)) == (4, 5, "long")
    shape = SHAPES[F.PI]
    assert json.loads(shape.with_stub(json.dumps(result), "S")) == {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "sh",
        "content": [{"type": "text", "text": "S"}],
        "isError": False,
        "timestamp": 5,
    }
    text = json.dumps(asked)
    assert shape.with_arguments(text, 0, "{}") == text.replace('{"n": 1.0}', "{}")
    assert json.loads(shape.without_thinking(text))["content"] == [call]
    assert json.loads(shape.with_call_id(text, 0, "z"))["content"][1]["id"] == "z"
    assert json.loads(shape.with_call_id(json.dumps(result), 0, "z"))["toolCallId"] == "z"
    assert json.loads(shape.inserted(Message(Role.USER, (TextPart("b"),), 7)))["timestamp"] == 7


@pytest.mark.parametrize("form", NativeFormat)
def test_odd_elements_are_read_all_the_same(form: NativeFormat) -> None:
    """Whatever has the wrong form counts as absent."""
    odd = [
        {},
        {"role": 7, "content": 7},
        {"role": "assistant", "content": {"a": 1}, "tool_calls": [None, {}], "parts": [1, {}]},
        {"role": "user", "content": [None, {"type": "tool_result"}], "parts": ["x", {"functionResponse": {}}]},
        {"type": "function_call", "call_id": [], "arguments": {}},
        {"role": "model", "parts": [{"functionCall": {"args": 7}}]},
    ]
    found = messages(form, odd)
    assert len(found) >= 5
    assert all(isinstance(call, ToolCallPart) for one in found for call in calls_of(one))
