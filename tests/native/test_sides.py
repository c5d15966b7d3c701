"""Where roles alternate: what stands in the place of the user's when nothing is left there, and what must not."""

import json
from typing import Any

import pytest

from condense_grpc.domain.edits import Drop, InsertKind
from condense_grpc.engine.requests import FlushRequest
from condense_grpc.native.changes import Inserted
from condense_grpc.native.formats import NativeFormat as F
from condense_grpc.native.slots import NOTICE
from tests.engine.harness import World
from tests.native.host import Host
from tests.native.test_views_property import CONFIG, check_view

LONG = "word " * 80
TEXT = {"type": "text", "text": "x"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}


def uses(*ids: str, before: Any = ()) -> Any:
    calls = [{"type": "tool_use", "id": one, "name": "bash", "input": {}} for one in ids]
    return {"role": "assistant", "content": [*before, *calls]}


def results(*ids: str, behind: Any = ()) -> Any:
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": f"{one} {LONG}"} for one in ids]
    return {"role": "user", "content": [*blocks, *behind]}


def said(*blocks: Any) -> Any:
    return {"role": "assistant", "content": list(blocks or [TEXT])}


def asked(text: str = "do it") -> Any:
    return {"role": "user", "content": text}


NOTED = {"role": "user", "content": [{"type": "text", "text": NOTICE}]}


async def host_of(form: F = F.ANTHROPIC, **config: Any) -> Host:
    world = World()
    await world.agent("s", **CONFIG | config)
    host = Host(world.engine, form)
    host.renames = config.get("rename_repeated_ids", False)
    return host


async def view_of(*elements: Any, form: F = F.ANTHROPIC) -> list[Any]:
    """The view of a history; also that it is no worse."""
    host = await host_of(form)
    await host.send([json.dumps(element) for element in elements])
    await check_view(host)
    return await host.view()


async def flushed(host: Host) -> list[Any]:
    async for _ in host.engine.flush(FlushRequest("s")):
        pass
    await check_view(host)
    return await host.view()


async def test_a_history_that_was_cut_off_still_begins_with_the_user() -> None:
    """A host that keeps the last messages begins with results: where these stood, the user says why."""
    rest = [said(), asked()]
    assert await view_of(results("a"), *rest) == [NOTED, *rest]
    assert await view_of(results("a")) == [NOTED]
    assert await view_of(results("a", behind=[TEXT]), *rest) == [{"role": "user", "content": [TEXT]}, *rest]


async def test_two_answers_do_not_meet() -> None:
    """Neither behind one that waits for a result, nor behind one that says something."""
    for before in (uses("a"), said()):
        assert await view_of(asked(), before, results("b"), said()) == [asked(), before, NOTED, said()]
    turn = [asked(), uses("a"), results("a")]
    assert await view_of(*turn, results("b"), said()) == [*turn, said()]


async def test_a_place_that_nobody_misses_stays_empty() -> None:
    """The results of the call may still come, or have come in another element."""
    assert await view_of(asked(), uses("a"), results("b")) == [asked(), uses("a")]
    assert await view_of(asked(), uses("a"), results("b"), results("a")) == [asked(), uses("a"), results("a")]


async def test_a_notice_stays_where_it_is() -> None:
    """What follows changes nothing before it."""
    host = await host_of()
    history = [json.dumps(element) for element in (asked(), said(), results("a"), asked("more"), said())]
    seen: list[Any] = []
    for element in history[:3]:
        await host.send([element])
        seen = await host.view()
    assert seen[-1] == NOTED
    await host.send(history[3:])
    assert await host.view() == [
        *seen[:2],
        {"role": "user", "content": [*NOTED["content"], TEXT | {"text": "more"}]},
        said(),
    ]


async def test_edits_tell_what_it_is() -> None:
    """The element goes, and a notice comes."""
    host = await host_of()
    await host.send([json.dumps(element) for element in (results("a"), said())])
    await host.view()
    assert [(edit.message_index, edit.change) for edit in host.edits] == [
        (-1, Inserted(InsertKind.NOTICE)),
        (0, Drop(0)),
    ]


async def test_gemini_has_notices_too() -> None:
    """Whatever role the results had."""
    told = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
    answer = {"role": "model", "parts": [{"text": "x"}]}
    for role in ("user", "function"):
        view = await view_of({"role": role, "parts": [told]}, answer, form=F.GEMINI)
        assert view == [{"role": "user", "parts": [{"text": NOTICE}]}, answer]


async def test_what_the_user_says_beside_results_begins_a_turn() -> None:
    """So it does not matter for signatures whether it stands in an element of its own."""
    unsigned = {"functionCall": {"name": "f", "args": {}, "id": "a"}}
    answered = {"functionResponse": {"name": "f", "response": {"output": "x"}, "id": "a"}}
    signed = {"functionCall": {"name": "f", "args": {}, "id": "b"}, "thoughtSignature": "c2ln"}
    history = [
        {"role": "user", "parts": [{"text": "x"}]},
        {"role": "model", "parts": [unsigned]},
        {"role": "user", "parts": [answered]},
        {"role": "user", "parts": [{"text": "and now?"}]},
        {"role": "model", "parts": [signed]},
    ]
    assert (await view_of(*history, form=F.GEMINI))[2] == {"role": "user", "parts": [answered, {"text": "and now?"}]}


async def test_a_response_without_id_may_answer_a_call_that_has_one() -> None:
    """By its function; a call without id comes first."""
    call = {"functionCall": {"name": "f", "args": {}}}
    named = {"functionCall": {"name": "f", "args": {}, "id": "a"}}
    told = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
    other = {"functionResponse": {"name": "f", "response": {"output": "x"}, "id": "a"}}
    for calls, answers in (([named], [told]), ([named, call], [told, other]), ([named, call], [told, told])):
        history = [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": answers},
        ]
        assert await view_of(*history, form=F.GEMINI) == history


@pytest.mark.parametrize("waiting", [[said(TEXT, SEARCH)], [uses("b", before=[SEARCH]), results("b")]])
async def test_nobody_speaks_while_a_tool_of_the_provider_is_at_work(waiting: list[Any]) -> None:
    """A summary stands before the answer that was paused, also when that goes on."""
    host = await host_of(chain_compression={"enabled": False})
    history = [asked(), uses("a"), results("a"), *waiting]
    await host.send([json.dumps(element) for element in history])
    view = await flushed(host)
    assert [it["role"] for it in view[3:]] == [it["role"] for it in waiting] and view[3] == waiting[0]
    assert all(block["type"] == "tool_result" for it in view[4:] for block in it["content"])
    assert "Summarized tool refs" in json.dumps(view[2])
    await host.send([json.dumps(said(FOUND, TEXT))])
    grown = await host.view()
    assert grown[:3] == view[:3]
    await check_view(host)


async def test_no_notice_stands_in_an_answer_that_goes_on() -> None:
    """What comes then belongs to it, also when it waits for a result that is not there, or an id comes again."""
    for last in (said(FOUND, TEXT), said(), uses("a"), uses("a", before=[FOUND])):
        view = await view_of(asked(), said(SEARCH), uses("a"), results("b"), last)
        assert view == [asked(), said(SEARCH, *uses("a")["content"], *last["content"])]


async def test_a_paused_answer_is_no_end_of_work() -> None:
    """The service does not flush by itself before it has gone on."""
    world = World()
    await world.agent("s", **CONFIG, prune_on="agent-message")
    host = Host(world.engine, F.ANTHROPIC)
    await host.send([json.dumps(element) for element in (asked(), uses("a"), results("a"), said(SEARCH))])
    await world.idle()
    assert not (await host.engine.diagnostics("s")).flushes
    await host.send([json.dumps(said(FOUND, TEXT))])
    await world.idle()
    assert [it.trigger for it in (await host.engine.diagnostics("s")).flushes] == ["message-end"]
    await check_view(host)


async def test_a_call_of_such_a_tool_is_not_dropped_without_its_answer() -> None:
    """The chain stays as it is; one whose answer goes with the call is compressed."""
    torn = [asked(), uses("a", before=[SEARCH]), results("a"), said(FOUND, TEXT), asked("next")]
    whole = [asked(), uses("a", before=[SEARCH]), results("a"), uses("b", before=[FOUND]), results("b"), said()]
    for history, is_compressed in ((torn, False), ([*whole, asked("next")], True)):
        host = await host_of()
        await host.send([json.dumps(element) for element in history])
        assert ("compressed-chain" in json.dumps(await flushed(host))) is is_compressed


async def test_what_the_provider_keeps_is_not_ours_to_judge() -> None:
    """An output behind a reference may answer a call that the host does not send; it stays, and so does its chain."""
    told = {"type": "function_call_output", "call_id": "kept", "output": LONG}
    call = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": "{}"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    host = await host_of(F.OPENAI_RESPONSES)
    history = [
        asked(),
        {"type": "item_reference", "id": "fc_1"},
        {"type": "item_reference", "id": "fc_2"},
        told,
        told | {"call_id": "other"},
        call,
        told | {"call_id": "a"},
        answer,
        asked("next"),
    ]
    for element in history:
        await host.send([json.dumps(element)])
    view = await flushed(host)
    assert view[:6] == history[:6] and history[4] in view and call in view
    assert "Summarized" in json.dumps(view)


async def test_a_result_without_id_gets_one_where_ids_of_results_are() -> None:
    """It belongs to a call with an empty id, the second of which gets a new one."""
    bare = {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}
    call = {"type": "function_call", "name": "bash", "arguments": "{}"}
    told = {"type": "function_call_output", "output": "x"}
    for form, turn in ((F.ANTHROPIC, [uses(""), bare]), (F.OPENAI_RESPONSES, [call, told])):
        host = await host_of(form, rename_repeated_ids=True)
        await host.send([json.dumps(element) for element in (asked(), *turn, *turn)])
        await check_view(host)
        assert json.dumps((await host.view())[3:]).count('"_2"') == 2


async def test_approvals_get_new_ids_like_other_calls() -> None:
    """Request and response name each other by members of their own."""
    host = await host_of(F.OPENAI_RESPONSES, rename_repeated_ids=True)
    pair = [
        {"type": "mcp_approval_request", "id": "a", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    ]
    await host.send([json.dumps(element) for element in [*pair, *pair]])
    await check_view(host)
    assert [item.get("id") or item["approval_request_id"] for item in await host.view()] == ["a", "a", "a_2", "a_2"]
