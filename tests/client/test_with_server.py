"""The client in front of the real server: what the provider gets is valid, and what was condensed comes back."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_OUTCOME_SUMMARIZED
from condense_grpc.client import ANTHROPIC, OPENAI, PI, AsyncCondenseClient, slices
from condense_grpc.server.app import CondenseServer
from condense_grpc.server.composition import compose
from condense_grpc.settings import load_server_settings


@asynccontextmanager
async def connected() -> AsyncIterator[AsyncCondenseClient]:
    """A client of a server in memory."""
    settings = load_server_settings({"listen": "127.0.0.1:0", "store": "memory:"})
    composition = compose(settings)
    await composition.engine.start()
    server = CondenseServer(composition, settings)
    try:
        async with AsyncCondenseClient(await server.start()) as client:
            yield client
    finally:
        await server.stop(0)
        await composition.engine.close(0)


def log(name: str) -> str:
    return "\n".join(f"{number}: {name} error in {name}.py:{number}" for number in range(120))


def openai_turn(number: int) -> list[Any]:
    ids = [f"c{number}a", f"c{number}b"]
    calls = [{"id": it, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for it in ids]
    results = [{"role": "tool", "tool_call_id": it, "content": log(it)} for it in ids]
    question, answer = {"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"a{number}"}
    return [question, {"role": "assistant", "content": None, "tool_calls": calls}, *results, answer]


def anthropic_turn(number: int) -> list[Any]:
    ids = [f"c{number}a", f"c{number}b"]
    calls = [{"type": "tool_use", "id": it, "name": "bash", "input": {}} for it in ids]
    results = [{"type": "tool_result", "tool_use_id": it, "content": log(it)} for it in ids]
    aside = {"type": "text", "text": "be quick"}
    return [
        {"role": "user", "content": f"q{number}"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [results[0], aside, results[1]]},
        {"role": "assistant", "content": [{"type": "text", "text": f"a{number}"}]},
    ]


def pi_turn(number: int) -> list[Any]:
    time, ids = number * 100, [f"c{number}a", f"c{number}b"]
    calls = [{"type": "toolCall", "id": it, "name": "bash", "arguments": {}} for it in ids]
    results = [
        {"role": "toolResult", "toolCallId": it, "toolName": "bash", "content": [{"type": "text", "text": log(it)}]}
        for it in ids
    ]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"q{number}"},
        {"role": "assistant", "content": calls},
    ]
    messages += [*results, {"role": "assistant", "content": [{"type": "text", "text": f"a{number}"}]}]
    return [message | {"timestamp": time + place} for place, message in enumerate(messages)]


def check_openai(messages: list[Any]) -> None:
    """Every call is answered once, directly behind its message, and nothing else is an answer."""
    due: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            due.remove(message["tool_call_id"])
            continue
        assert not due and (message.get("content") or message.get("tool_calls"))
        due = [call["id"] for call in message.get("tool_calls", [])]
    assert not due


def check_anthropic(messages: list[Any]) -> None:
    """Roles alternate, and the results of a message are the first blocks of the next one."""
    due: list[str] = []
    for before, message in zip([None, *messages], messages, strict=False):
        assert before is None or before["role"] != message["role"]
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text"}]
        kinds = [block["type"] for block in blocks]
        assert blocks and "tool_result" not in kinds[kinds.count("tool_result") :]
        assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == due
        due = [block["id"] for block in blocks if block["type"] == "tool_use"]


def check_pi(messages: list[Any]) -> None:
    """The pairs of Pi are those of OpenAI under other names."""
    due: list[str] = []
    for message in messages:
        if message["role"] == "toolResult":
            due.remove(message["toolCallId"])
            continue
        assert not due
        blocks = message["content"] if isinstance(message["content"], list) else []
        due = [block["id"] for block in blocks if block["type"] == "toolCall"]


SHAPES: list[Any] = [
    pytest.param(OPENAI, openai_turn, check_openai, id="openai"),
    pytest.param(ANTHROPIC, anthropic_turn, check_anthropic, id="anthropic"),
    pytest.param(PI, pi_turn, check_pi, id="pi"),
]


@pytest.mark.parametrize(("adapter", "turn", "check"), SHAPES)
async def test_a_long_session_stays_valid_and_loses_nothing(adapter: Any, turn: Any, check: Any) -> None:
    """Turn by turn: flush, view, validity, the model's own way back to an original."""
    async with connected() as client:
        session, history = client.session("s1", adapter=adapter), []
        for number in range(6):
            history += turn(number)
            completed = await session.flush(history).wait()
            assert completed.outcome == FLUSH_OUTCOME_SUMMARIZED
            view = await session.prune(history)
            check(view.messages)
            assert view.pruned and view.reclaim.after_chars < view.reclaim.before_chars / 2
            assert len(json.dumps(view.messages)) < len(json.dumps(history)) / 2
            assert history[-1] in view.messages
        assert "".join([piece async for piece in session.read("t1")]) == log("c0a")
        answer = await session.query(["t2"], [slices.lines("t2", 2, 2)])
        assert "1: c0b error" in answer.text and answer.records[0].tool_name == "bash"
        assert log("c0b")[:1000] in await session.answer_tool_call('{"toolCallIds": ["t2"]}')


async def test_a_session_that_was_deleted_elsewhere_comes_back() -> None:
    """The client notices, sends everything again, and goes on."""
    async with connected() as client:
        one, two = client.session("s1", adapter=OPENAI), client.session("s1", adapter=OPENAI)
        history = openai_turn(0)
        await one.flush(history).wait()
        assert (await one.prune(history)).pruned
        assert await two.delete()
        view = await one.prune(history + openai_turn(1))
        check_openai(view.messages)
        assert view.response.transcript_length == 10


async def test_two_clients_of_one_session_each_get_their_own_history() -> None:
    """One rewinds, the other comes back to its branch and finds what was decided there."""
    async with connected() as client:
        one, two = client.session("s1", adapter=OPENAI), client.session("s1", adapter=OPENAI)
        history = openai_turn(0)
        await one.flush(history).wait()
        before = await one.prune(history)
        assert not (await two.prune(history[:1])).pruned
        assert (await one.prune(history)).messages == before.messages
