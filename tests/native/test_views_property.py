"""Promises that hold for every history of every shape, whatever was done before."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.engine.requests import CallState
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_scan import items_at
from condense_grpc.native.validity import find_defects
from condense_grpc.native.validity_turns import Scope
from tests.engine.harness import World
from tests.native.histories import Json, Step, Work, elements_of, styles, texts_of, valid_steps
from tests.native.host import Host
from tests.native.thorough import examples

CONFIG: Json = {
    "min_batch_chars": 0,
    "spill_threshold": 1200,
    "spill_preview_bytes": 40,
    "recovery_grace_turns": 1,
    "purge_errors": {"min_arg_chars": 10, "cooldown_turns": 1},
    "chain_compression": {"rolling_window": 0},
    "protected_tools": ("keep",),
}

OPERATIONS = [
    "flush",
    "compact",
    "resend",
    "restart",
    "rewind",
    "whole",
    "query",
    "configure",
    "edit",
    "echo",
    "echo in pieces",
]
operations = st.lists(st.sampled_from(OPERATIONS), max_size=4)


def run(steps: Coroutine[Any, Any, None]) -> None:
    asyncio.run(steps)


async def play(form: NativeFormat, texts: list[str], cuts: list[int], what: list[str], **config: Any) -> Host:
    """Send a history in pieces, with other things between; every view on the way is checked."""
    world = World()
    await world.agent("s", **CONFIG, **config)
    host = Host(world.engine, form)
    host.renames = config.get("rename_repeated_ids", False)
    pieces = sorted({min(cut, len(texts)) for cut in cuts} | {len(texts)})
    for number, end in enumerate(pieces):
        await host.send(texts[len(host.texts) : end])
        await do(world, host, what[number] if number < len(what) else "flush")
        await check_view(host)
    for name in what[len(pieces) :]:
        await do(world, host, name)
        await check_view(host)
    return host


async def do(world: World, host: Host, name: str) -> None:
    texts = list(host.texts)
    match name:
        case "flush":
            async for _ in world.engine.flush(flush_request()):
                pass
        case "compact":
            async for _ in world.engine.compact("s"):
                pass
        case "restart":
            await world.restart()
            host.engine = world.engine
        case "resend":
            await host.send(texts[len(texts) // 2 :], len(texts) // 2)
        case "whole":
            await host.send(texts, 0, between=" ,\n ")
        case "rewind":
            await host.send([], len(texts) // 2)
            await host.send(texts[len(texts) // 2 :])
        case "query":
            await check_refs(host, await originals(host))
        case "configure":
            config = {"protected_tools": ("bash",), "recovery_grace_turns": 0}
            await world.engine.update_session("s", config=config, labels=None)
        case "edit":
            await edit(host, texts)
        case "echo":
            elements, shown = await shown_to(host)
            await host.send(elements, 0)
            host.echoed = True
            await check_refs(host, shown)
        case "echo in pieces":
            elements, shown = await shown_to(host)
            half = len(elements) // 2
            await host.send([], 0)
            for piece in (elements[: half // 2], elements[half // 2 : half], elements[half:]):
                await host.send(piece)
            host.echoed = True
            await check_refs(host, shown)


async def edit(host: Host, texts: list[str]) -> None:
    """The host changes what the user said in the middle, and sends everything from there on."""
    for at, text in enumerate(texts):
        changed = text.replace("stop that", "go on").replace("and now?", "and then?")
        if changed != text:
            await host.send([changed, *texts[at + 1 :]], at)
            return


async def shown_to(host: Host) -> tuple[list[str], Json]:
    """The elements of the view, and the texts behind the refs that it names."""
    view = json.dumps(await host.view())
    shown = {ref: text for ref, text in (await originals(host)).items() if re.search(rf"\b{ref}\b", view)}
    return [view[start:end] for start, end in items_at(view)], shown


async def originals(host: Host) -> Json:
    """The text behind every ref that there is."""
    listed = await host.engine.list_calls("s", 0, 1000)
    own = [one for one in listed if one.ref and one.state is not CallState.DUPLICATE]
    return {one.ref: await host.engine.read_text("s", one.record) for one in own}


async def check_refs(host: Host, known: Json) -> None:
    """Every ref gives its original by a query."""
    for ref, text in known.items():
        [facts] = await host.engine.call_facts("s", ref)
        assert await host.engine.read_text("s", facts.record) == text
        answered = (await host.engine.query("s", [ref], ())).text
        assert answered.startswith(f"## toolRef: {ref}\n") and text.split("\n")[0][:200] in answered


def flush_request() -> Any:
    from condense_grpc.engine.requests import FlushRequest

    return FlushRequest("s")


async def check_view(host: Host) -> None:
    """The view has no defect that its history has not, and none of those that are told as repaired."""
    view = await host.view()
    raw = [json.loads(text) for text in host.texts]
    # As if the history was to be sent now: a call that is still open is a defect of both then.
    scope = Scope(is_request=True, renames=host.renames)
    known = Counter(it.kind for it in find_defects(host.form, raw, scope) if not it.is_repaired)
    found = Counter(it.kind for it in find_defects(host.form, view, scope))
    assert not found - known, (found - known, raw, view)
    if raw and host.form in (NativeFormat.ANTHROPIC, NativeFormat.GEMINI) and raw[-1].get("role") == "user":
        assert view and not _ends_with_answer(view), (raw, view)


def _ends_with_answer(view: Sequence[Json]) -> bool:
    """Whether a request would ask the model to go on with its own words: a paused one, or one that waits, does not."""
    waits = re.search("tool_use|functionCall|function_call", json.dumps(view[-1]))
    return view[-1].get("role") in ("assistant", "model") and not waits


async def check_recovery(host: Host, steps: list[Step]) -> None:
    """Every result comes back to the byte."""
    wanted = [call.text for step in steps if isinstance(step, Work) for call in step.calls]
    listed = await host.engine.list_calls("s", 0, 1000)
    if host.echoed:
        return  # What was dropped from the view is no part of the history any more; its refs were checked.
    assert [await host.engine.read_text("s", one.record) for one in listed] == wanted
    assert all(one.record.tool_name for one in listed)


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), steps=valid_steps(), style=styles, what=operations)
def test_views_of_valid_histories_are_valid_and_exact(
    form: NativeFormat, data: st.DataObject, steps: list[Step], style: Json, what: list[str]
) -> None:
    """Views are valid, edits give the whole view, untouched elements stay as they are to the byte, nothing is lost."""
    texts = texts_of(elements_of(form, steps), style)
    raw = [json.loads(text) for text in texts]
    assert not find_defects(form, raw)
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))

    async def scenario() -> None:
        host = await play(form, texts, cuts, what)
        await check_recovery(host, steps)
        await host.engine.close()

    run(scenario())


def test_the_arrays_of_the_tests_are_those_of_the_reader() -> None:
    """Elements are found in a view as they were written."""
    text = '[{"a":"]},["},  {"b":[{}]} ]'
    assert [text[start:end] for start, end in items_at(text)] == ['{"a":"]},["}', '{"b":[{}]}']
