"""What each provider refuses, rule by rule."""

from typing import Any

import pytest

from condense_grpc.domain.validity import ViolationKind as Kind
from condense_grpc.native.formats import NativeFormat as F
from condense_grpc.native.validity import find_defects
from condense_grpc.native.validity_turns import Scope
from condense_grpc.testing.native_validator import new_native_defects, validate_native

USER = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": "done"}


def call(*ids: str, **more: Any) -> Any:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls} | more


def tool(call_id: str) -> Any:
    return {"role": "tool", "tool_call_id": call_id, "content": "r"}


CHAT: list[tuple[str, list[Any], list[Kind]]] = [
    ("a turn", [USER, call("a", "b"), tool("b"), tool("a"), SAID], []),
    ("an open call", [USER, call("a")], []),
    ("a system prompt in the middle", [USER, SAID, {"role": "developer", "content": "x"}, USER], []),
    ("an empty result", [USER, call("a"), {"role": "tool", "tool_call_id": "a", "content": ""}], []),
    ("a refusal alone", [USER, {"role": "assistant", "content": None, "refusal": "no"}], []),
    ("no result", [USER, call("a"), SAID], [Kind.UNANSWERED_CALL]),
    ("no call", [USER, tool("a")], [Kind.ORPHAN_RESULT]),
    ("two results", [USER, call("a"), tool("a"), tool("a")], [Kind.DUPLICATE_RESULT]),
    ("something between", [USER, call("a"), USER, tool("a")], [Kind.INTERRUPTED_RESULTS]),
    ("one id twice", [USER, call("a", "a"), tool("a"), tool("a")], [Kind.REPEATED_CALL_ID]),
    ("one id again", [USER, call("a"), tool("a"), call("a"), tool("a")], []),
    ("no id", [USER, call("")], [Kind.EMPTY_ID]),
    ("no calls in the list of calls", [USER, SAID | {"tool_calls": []}], [Kind.MALFORMED]),
    (
        "arguments that are no text",
        [USER, call() | {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]}],
        [Kind.MALFORMED],
    ),
    ("an unknown role", [{"role": "narrator", "content": "x"}], [Kind.MALFORMED]),
    ("no content", [{"role": "user"}], [Kind.MALFORMED, Kind.EMPTY_CONTENT]),
    ("blank content", [{"role": "user", "content": " \n"}], [Kind.EMPTY_CONTENT]),
    ("no parts", [{"role": "user", "content": []}], [Kind.MALFORMED, Kind.EMPTY_CONTENT]),
    ("an empty answer", [USER, {"role": "assistant", "content": ""}], [Kind.EMPTY_CONTENT]),
]


def item(kind: str, **members: Any) -> Any:
    return {"type": kind, **members}


def asks(call_id: str, **more: Any) -> Any:
    return item("function_call", call_id=call_id, name="f", arguments="{}", **more)


def output(call_id: str, **more: Any) -> Any:
    return item("function_call_output", call_id=call_id, output="r", **more)


REASONING = item("reasoning", summary=[])
RESPONSES: list[tuple[str, list[Any], list[Kind]]] = [
    ("a turn", [USER, REASONING, asks("a"), asks("b"), output("a"), output("b"), SAID], []),
    ("reasoning before a message", [USER, REASONING, SAID], []),
    ("built-in tools", [USER, item("web_search_call", id="w"), SAID], []),
    ("reasoning at the end", [USER, REASONING], [Kind.BROKEN_REASONING]),
    ("reasoning before the user", [USER, REASONING, USER], [Kind.BROKEN_REASONING]),
    ("no output", [USER, asks("a"), USER], [Kind.UNANSWERED_CALL]),
    ("no call", [USER, output("a")], [Kind.ORPHAN_RESULT]),
    ("a computer without screen", [USER, item("computer_call", call_id="c", action={}), USER], [Kind.UNANSWERED_CALL]),
    ("one id again", [USER, asks("a"), output("a"), asks("a"), output("a")], [Kind.REPEATED_ID]),
    ("what the provider keeps", [USER, {"type": "item_reference", "id": "fc"}, output("a"), output("b")], []),
    (
        "what it kept before",
        [USER, {"type": "item_reference", "id": "fc"}, USER, asks("a"), output("a"), output("b")],
        [Kind.ORPHAN_RESULT],
    ),
    ("an item again", [USER, asks("a", id="fc"), output("a"), asks("b", id="fc"), output("b")], [Kind.REPEATED_ID]),
    ("an output that is no text", [USER, asks("a"), output("a") | {"output": 7}], [Kind.MALFORMED]),
    ("arguments that are no text", [USER, asks("a") | {"arguments": {}}, output("a")], [Kind.MALFORMED]),
    ("an item of no type", [USER, {}], [Kind.MALFORMED]),
    ("an empty message", [{"role": "user", "content": []}], [Kind.EMPTY_CONTENT]),
]


def uses(*ids: str, before: Any = ()) -> Any:
    calls = [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ids]
    return {"role": "assistant", "content": [*before, *calls]}


def results(*ids: str, behind: Any = (), before: Any = ()) -> Any:
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "r"} for one in ids]
    return {"role": "user", "content": [*before, *blocks, *behind]}


TEXT = {"type": "text", "text": "x"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
MARKED = TEXT | {"cache_control": {"type": "ephemeral"}}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}


def said(*blocks: Any) -> Any:
    return {"role": "assistant", "content": list(blocks)}


ANTHROPIC: list[tuple[str, list[Any], list[Kind]]] = [
    ("a turn", [USER, uses("a", "b", before=[THOUGHT]), results("b", "a", behind=[TEXT]), SAID], []),
    ("a server tool", [USER, {"role": "assistant", "content": [SEARCH, FOUND, TEXT]}], []),
    ("a paused server tool", [USER, {"role": "assistant", "content": [TEXT, SEARCH]}], []),
    ("a server tool goes on", [USER, uses("a", before=[SEARCH]), results("a"), said(FOUND, TEXT)], []),
    ("a server tool is left", [USER, said(SEARCH), USER], [Kind.MALFORMED]),
    ("the assistant begins", [SAID], [Kind.ROLE_ORDER]),
    ("the user twice", [USER, USER, SAID], [Kind.ROLE_ORDER]),
    ("the assistant twice", [USER, SAID, SAID], [Kind.ROLE_ORDER]),
    ("text before results", [USER, uses("a"), results("a", before=[TEXT])], [Kind.INTERRUPTED_RESULTS]),
    ("no result", [USER, uses("a", "b"), results("a", behind=[TEXT])], [Kind.UNANSWERED_CALL]),
    ("no call", [USER, SAID, results("a")], [Kind.ORPHAN_RESULT]),
    ("two results", [USER, uses("a"), results("a", "a")], [Kind.DUPLICATE_RESULT]),
    ("one id again", [USER, uses("a"), results("a"), uses("a"), results("a")], [Kind.REPEATED_ID]),
    ("one id twice", [USER, uses("a", "a"), results("a", "a")], [Kind.REPEATED_ID]),
    ("an id with a colon", [USER, uses("a:1"), results("a:1")], [Kind.MALFORMED]),
    (
        "input that is no object",
        [USER, {"role": "assistant", "content": [uses("a")["content"][0] | {"input": "x"}]}],
        [Kind.MALFORMED],
    ),
    ("no signature", [USER, uses("a", before=[{"type": "thinking", "thinking": "x"}])], [Kind.BROKEN_REASONING]),
    ("nothing but thinking", [USER, {"role": "assistant", "content": [THOUGHT]}], [Kind.BROKEN_REASONING]),
    ("a server tool without result", [USER, {"role": "assistant", "content": [SEARCH, TEXT]}], [Kind.MALFORMED]),
    ("a server result without call", [USER, {"role": "assistant", "content": [FOUND, TEXT]}], [Kind.MALFORMED]),
    ("five marks", [{"role": "user", "content": [MARKED] * 5}], [Kind.MALFORMED]),
    ("no content", [{"role": "user", "content": []}], [Kind.EMPTY_CONTENT]),
    ("a blank block", [{"role": "user", "content": [TEXT, {"type": "text", "text": ""}]}], [Kind.EMPTY_CONTENT]),
    ("a system message", [USER, {"role": "system", "content": "x"}], [Kind.MALFORMED]),
]


def model(*parts: Any) -> Any:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> Any:
    return {"role": "user", "parts": list(parts)}


def fc(name: str, signature: str = "") -> Any:
    return {"functionCall": {"name": name, "args": {}}} | ({"thoughtSignature": signature} if signature else {})


def fr(name: str) -> Any:
    return {"functionResponse": {"name": name, "response": {"output": "r"}}}


WORDS = {"text": "x"}
GEMINI: list[tuple[str, list[Any], list[Kind]]] = [
    (
        "a turn",
        [user(WORDS), model(fc("f"), fc("g"), fc("f")), user(fr("f"), fr("f"), fr("g"), WORDS), model(WORDS)],
        [],
    ),
    ("a role of its own", [user(WORDS), model(fc("f")), {"role": "function", "parts": [fr("f")]}, model(WORDS)], []),
    ("a signature alone", [user(WORDS), model({"text": "", "thoughtSignature": "s"})], []),
    ("the model begins", [model(WORDS)], [Kind.ROLE_ORDER]),
    ("the user twice", [user(WORDS), user(WORDS)], [Kind.ROLE_ORDER]),
    ("too few responses", [user(WORDS), model(fc("f"), fc("f")), user(fr("f")), model(WORDS)], [Kind.UNANSWERED_CALL]),
    ("too many responses", [user(WORDS), model(fc("f")), user(fr("f"), fr("f"))], [Kind.DUPLICATE_RESULT]),
    ("another function", [user(WORDS), model(fc("f")), user(fr("g"))], [Kind.ORPHAN_RESULT]),
    (
        "a step without signature",
        [user(WORDS), model(fc("f", "s")), user(fr("f")), model(fc("f")), user(fr("f"))],
        [Kind.BROKEN_REASONING],
    ),
    (
        "an earlier one without",
        [user(WORDS), model(fc("f")), user(fr("f")), model(WORDS), user(WORDS), model(fc("f", "s")), user(fr("f"))],
        [],
    ),
    ("no parts", [user()], [Kind.EMPTY_CONTENT]),
    ("an empty text", [user({"text": ""})], [Kind.EMPTY_CONTENT]),
    ("a part of nothing", [user({})], [Kind.EMPTY_CONTENT]),
    ("parts that are no list", [{"role": "user", "parts": "x"}], [Kind.MALFORMED]),
    (
        "arguments that are no object",
        [user(WORDS), model({"functionCall": {"name": "f", "args": []}})],
        [Kind.MALFORMED],
    ),
    ("an unknown role", [{"role": "system", "parts": [WORDS]}], [Kind.MALFORMED]),
]
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
ELSEWHERE: list[tuple[F, str, list[Any], list[Kind]]] = [
    (F.ANTHROPIC, "a call of the user", [uses("a") | {"role": "user"}], [Kind.MALFORMED]),
    (F.ANTHROPIC, "thinking of the user", [{"role": "user", "content": [THOUGHT]}], [Kind.MALFORMED]),
    (F.ANTHROPIC, "a result of the model", [USER, results("a") | {"role": "assistant"}], [Kind.MALFORMED]),
    (F.ANTHROPIC, "a block without type", [{"role": "user", "content": [{"text": "x"}]}], [Kind.MALFORMED]),
    (F.OPENAI_CHAT, "a part without type", [{"role": "user", "content": [{"text": "x"}]}], [Kind.MALFORMED]),
    (F.OPENAI_CHAT, "a picture of the user", [{"role": "user", "content": [PICTURE]}], []),
    (F.OPENAI_CHAT, "a picture of a tool", [USER, call("a"), tool("a") | {"content": [PICTURE]}], [Kind.MALFORMED]),
    (F.OPENAI_RESPONSES, "no role", [{"type": "message", "content": "x"}], [Kind.MALFORMED]),
    (F.OPENAI_RESPONSES, "an unknown role", [{"role": "tool", "content": "x"}], [Kind.MALFORMED]),
    (
        F.OPENAI_RESPONSES,
        "an output of the user",
        [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}],
        [Kind.MALFORMED],
    ),
    (
        F.OPENAI_RESPONSES,
        "an input of the model",
        [USER, {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        [Kind.MALFORMED],
    ),
    (F.OPENAI_RESPONSES, "a part without type", [{"role": "user", "content": [{"text": "x"}]}], [Kind.MALFORMED]),
    (F.OPENAI_RESPONSES, "a call without name", [USER, asks("a") | {"name": ""}], [Kind.MALFORMED]),
    (F.OPENAI_RESPONSES, "no summary", [USER, {"type": "reasoning", "id": "r"}, asks("a")], [Kind.BROKEN_REASONING]),
    (F.GEMINI, "a call of the user", [user(fc("f"))], [Kind.MALFORMED]),
    (F.GEMINI, "a response of the model", [user(WORDS), model(fr("f"))], [Kind.MALFORMED]),
]
ALL = [
    pytest.param(form, history, kinds, id=f"{form.value}: {name}")
    for form, table in (
        (F.OPENAI_CHAT, CHAT),
        (F.OPENAI_RESPONSES, RESPONSES),
        (F.ANTHROPIC, ANTHROPIC),
        (F.GEMINI, GEMINI),
    )
    for name, history, kinds in table
] + [pytest.param(form, history, kinds, id=f"{form.value}: {name}") for form, name, history, kinds in ELSEWHERE]


@pytest.mark.parametrize(("form", "history", "kinds"), ALL)
def test_each_rule(form: F, history: list[Any], kinds: list[Kind]) -> None:
    """A history with one defect, and what is told of it."""
    assert sorted(one.kind for one in find_defects(form, history)) == sorted(kinds)


def test_a_request_has_no_open_calls() -> None:
    """A history may, while the agent works."""
    for form, history in (
        (F.OPENAI_CHAT, [USER, call("a")]),
        (F.OPENAI_RESPONSES, [USER, asks("a")]),
        (F.ANTHROPIC, [USER, uses("a")]),
        (F.GEMINI, [user(WORDS), model(fc("f"))]),
        (F.PI, [USER, {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "f"}]}]),
    ):
        assert not validate_native(form, history)
        assert [one.kind for one in validate_native(form, history, is_request=True)] == [Kind.UNANSWERED_CALL]


def test_what_views_repair_is_told() -> None:
    """Stray results go, neighbours are joined, repeated ids are renamed if that is set."""
    twice = [USER, uses("a"), results("a"), uses("a"), results("a")]
    assert not find_defects(F.ANTHROPIC, twice)[0].is_repaired
    assert find_defects(F.ANTHROPIC, twice, Scope(renames=True))[0].is_repaired
    assert find_defects(F.ANTHROPIC, [USER, USER])[0].is_repaired
    assert not find_defects(F.ANTHROPIC, [SAID])[0].is_repaired
    assert not find_defects(F.ANTHROPIC, [USER, uses("a"), uses("b")])[-1].is_repaired
    assert find_defects(F.OPENAI_CHAT, [tool("a")])[0].is_repaired


def test_views_are_judged_against_their_histories() -> None:
    """Defects that the history has too are not the view's; those that should be repaired are."""
    assert not new_native_defects(F.OPENAI_CHAT, [call("a"), SAID], [call("a"), SAID])
    assert new_native_defects(F.OPENAI_CHAT, [USER, SAID], [call("a"), SAID])
    assert new_native_defects(
        F.ANTHROPIC, [USER, USER], b'[{"role":"user","content":"a"},{"role":"user","content":"b"}]'
    )
