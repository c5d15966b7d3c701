"""Histories in the shapes of providers, drawn at random: the work of an agent, written as each provider wants it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from condense_grpc.native.formats import NativeFormat

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call with its result. `extra`: members that no rule knows."""

    id: str
    name: str
    arguments: Json
    text: str
    is_error: bool = False
    as_list: bool = False
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True)
class User:
    text: str
    as_list: bool = False


@dataclass(frozen=True)
class Work:
    """Calls with their results; then perhaps something that the user says meanwhile."""

    calls: Sequence[Call]
    thinking: str = ""
    text: str = ""
    steering: str = ""


@dataclass(frozen=True)
class Answer:
    text: str
    thinking: str = ""


Step = User | Work | Answer


def _extra(value: Json, extra: Json) -> Json:
    return value | extra


# Writers: the elements of a step


def chat(step: Step) -> list[Json]:
    match step:
        case User():
            content: Any = [{"type": "text", "text": step.text}] if step.as_list else step.text
            return [{"role": "user", "content": content}]
        case Answer():
            thinking = {"reasoning_content": step.thinking} if step.thinking else {}
            return [{"role": "assistant", "content": step.text, **thinking}]
    value: Json = {"role": "assistant", "content": step.text or None}
    if step.thinking:
        value["reasoning_content"] = step.thinking
    value["tool_calls"] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in step.calls
    ]
    results = []
    for call in step.calls:
        content = [{"type": "text", "text": call.text}] if call.as_list else call.text
        results.append(_extra({"role": "tool", "tool_call_id": call.id, "content": content}, call.extra))
    steering = [{"role": "user", "content": step.steering}] if step.steering else []
    return [value, *results, *steering]


def responses(step: Step) -> list[Json]:
    match step:
        case User():
            content: Any = [{"type": "input_text", "text": step.text}] if step.as_list else step.text
            return [{"type": "message", "role": "user", "content": content}]
        case Answer():
            return [*_reasoning(step.thinking), _said(step.text)]
    items = [*_reasoning(step.thinking), *([_said(step.text)] if step.text else [])]
    for call in step.calls:
        items.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
        )
    for call in step.calls:
        output: Any = [{"type": "input_text", "text": call.text}] if call.as_list else call.text
        items.append(_extra({"type": "function_call_output", "call_id": call.id, "output": output}, call.extra))
    return items + ([{"role": "user", "content": step.steering}] if step.steering else [])


def _said(text: str) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _reasoning(thinking: str) -> list[Json]:
    return [{"type": "reasoning", "summary": [], "encrypted_content": thinking}] if thinking else []


def anthropic(step: Step) -> list[Json]:
    match step:
        case User():
            content: Any = [{"type": "text", "text": step.text}] if step.as_list else step.text
            return [{"role": "user", "content": content}]
        case Answer():
            return [{"role": "assistant", "content": [*_thought(step.thinking), {"type": "text", "text": step.text}]}]
    blocks = [*_thought(step.thinking), *([{"type": "text", "text": step.text}] if step.text else [])]
    results: list[Json] = []
    for call in step.calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
        inner: Any = [{"type": "text", "text": call.text}] if call.as_list else call.text
        result: Json = {"type": "tool_result", "tool_use_id": call.id, "content": inner}
        results.append(_extra(result | ({"is_error": True} if call.is_error else {}), call.extra))
    steering = [{"type": "text", "text": step.steering}] if step.steering else []
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": [*results, *steering]}]


def _thought(thinking: str) -> list[Json]:
    return [{"type": "thinking", "thinking": thinking, "signature": "sig=="}] if thinking else []


def gemini(step: Step) -> list[Json]:
    match step:
        case User():
            return [{"role": "user", "parts": [{"text": step.text}]}]
        case Answer():
            thought = [{"text": step.thinking, "thought": True}] if step.thinking else []
            return [{"role": "model", "parts": [*thought, {"text": step.text}]}]
    parts: list[Json] = [{"text": step.text}] if step.text else []
    results: list[Json] = []
    for number, call in enumerate(step.calls):
        part: Json = {"functionCall": {"name": call.name, "args": call.arguments}}
        result: Json = {"functionResponse": {"name": call.name}}
        if call.id:
            part["functionCall"]["id"] = result["functionResponse"]["id"] = call.id
        if not number:
            part["thoughtSignature"] = "c2ln"
        label = "error" if call.is_error else "output"
        result["functionResponse"]["response"] = {label: call.text}
        parts.append(part)
        results.append(_extra(result, call.extra))
    steering = [{"text": step.steering}] if step.steering else []
    return [{"role": "model", "parts": parts}, {"role": "user", "parts": [*results, *steering]}]


def pi(step: Step) -> list[Json]:
    match step:
        case User():
            return [{"role": "user", "content": [{"type": "text", "text": step.text}]}]
        case Answer():
            thought = [{"type": "thinking", "thinking": step.thinking}] if step.thinking else []
            return [{"role": "assistant", "content": [*thought, {"type": "text", "text": step.text}]}]
    blocks: list[Json] = [{"type": "text", "text": step.text}] if step.text else []
    results: list[Json] = []
    for call in step.calls:
        blocks.append({"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments})
        content = [{"type": "text", "text": call.text}]
        result = {"role": "toolResult", "toolCallId": call.id, "toolName": call.name, "content": content}
        results.append(_extra({**result, "isError": call.is_error}, call.extra))
    steering = [{"role": "user", "content": step.steering}] if step.steering else []
    return [{"role": "assistant", "content": blocks}, *results, *steering]


WRITERS: dict[NativeFormat, Callable[[Step], list[Json]]] = {
    NativeFormat.OPENAI_CHAT: chat,
    NativeFormat.OPENAI_RESPONSES: responses,
    NativeFormat.ANTHROPIC: anthropic,
    NativeFormat.GEMINI: gemini,
    NativeFormat.PI: pi,
}


def elements_of(form: NativeFormat, steps: Sequence[Step]) -> list[Json]:
    return [element for step in steps for element in WRITERS[form](step)]


# Strategies

_words = st.sampled_from(
    ["ok", "líne 1\nline 2", "日本語のテキスト", "x" * 40, '\u2028 \\ "q" \x7f', "👩‍👩‍👧", "<b>&amp;"]
)
_texts = st.one_of(_words, st.builds(lambda word, count: word * count, _words, st.integers(2, 12)))
# Long enough, mostly, that a summary is shorter.
_results = st.one_of(_words, st.builds(lambda word, count: word * count, _words, st.integers(10, 60)))
_names = st.sampled_from(["bash", "read", "context_tree_query", "keep"])
_values = st.sampled_from([1, 1.5, "a", "x" * 30, None, True, [1, {"deep": [2]}], 12345678901234567890, ""])
_arguments = st.dictionaries(st.sampled_from(["path", "n", "command"]), _values, max_size=3)
MARK = {"cache_control": {"type": "ephemeral"}}
_extras = st.sampled_from([{}, {}, {}, {"x_trace": {"n": 1.0}}])


@st.composite
def _works(draw: st.DrawFn, ids: Sequence[str], marked: bool = False) -> Work:
    calls = [
        Call(
            one,
            draw(_names),
            draw(_arguments),
            draw(_results),
            draw(st.sampled_from([False, False, True])),
            draw(st.booleans()),
            draw(_extras) | (MARK if marked and not place else {}),
        )
        for place, one in enumerate(ids)
    ]
    maybe = st.sampled_from(["", "hm", "well then"])
    return Work(calls, draw(maybe), draw(maybe), draw(st.sampled_from(["", "", "", "stop that"])))


@st.composite
def valid_steps(draw: st.DrawFn, *, without_ids: bool = False) -> list[Step]:
    """Pieces of work as every provider takes them, the last perhaps still going on."""
    steps: list[Step] = []
    number = 0
    for _ in range(draw(st.integers(1, 5))):
        steps.append(User(draw(_texts), draw(st.booleans())))
        for _ in range(draw(st.integers(0, 3))):
            count = draw(st.integers(1, 3))
            ids = ["" if without_ids else f"call_{number + one}" for one in range(count)]
            # A provider takes four cache marks.
            steps.append(draw(_works(ids, marked=not without_ids and number < 4)))
            number += count
        steps.append(Answer(draw(_texts), draw(st.sampled_from(["", "so"]))))
    if draw(st.booleans()):
        steps.append(User("and now?"))
        if draw(st.booleans()):
            steps.append(draw(_works(["" if without_ids else f"call_{number}"])))
    return steps


styles = st.sampled_from(
    [
        {"separators": (",", ":")},
        {},
        {"ensure_ascii": False},
        {"indent": 1},
        {"separators": (" ,\t", " :  "), "ensure_ascii": False},
    ]
)


def texts_of(elements: Sequence[Json], style: Json) -> list[str]:
    """Each element as its host might write it."""
    return [json.dumps(element, **style) for element in elements]
