"""Plain dicts in the shape of a provider: they are sent as they are, and come back as the very same objects."""

import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from condense_grpc.api.condense.v1 import edit_pb2
from condense_grpc.client import AsyncCondenseClient, ClientOptions, MessageInvalid, native
from condense_grpc.client.arrangement import EditNotUnderstood
from condense_grpc.client.native_view import apply_native_edits, read_native_view
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.validity import find_defects
from condense_grpc.native.validity_turns import Scope
from condense_grpc.server.app import CondenseServer
from condense_grpc.server.composition import compose
from condense_grpc.settings import load_server_settings
from condense_grpc.testing.pi_conversion import converted
from tests.cli.session_sample import sample_session


@asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[AsyncCondenseClient]:
    """A client of a server in memory."""
    settings = load_server_settings({"listen": "127.0.0.1:0", "store": "memory:"})
    composition = compose(settings)
    await composition.engine.start()
    server = CondenseServer(composition, settings)
    try:
        async with AsyncCondenseClient(await server.start(), options=ClientOptions(**options)) as client:
            yield client
    finally:
        await server.stop(0)
        await composition.engine.close(0)


@pytest.mark.parametrize("form", NativeFormat)
@pytest.mark.parametrize("options", [{}, {"unary_delta_bytes": 2000, "chunk_bytes": 1500}], ids=["deltas", "uploads"])
async def test_a_session_turn_by_turn(form: NativeFormat, options: dict[str, Any]) -> None:
    """Views are valid, untouched dicts are identical, dicts are never changed, and every original comes back."""
    messages = sample_session()
    groups = converted(messages, form)
    async with connected(**options) as client:
        session, history = client.session("s1", adapter=native(form.value)), []
        for message, elements in zip(messages, groups, strict=True):
            if message["role"] == "assistant":
                before = copy.deepcopy(history)
                view = await session.prune(history)
                assert history == before
                assert not find_defects(form, view.messages, Scope(is_request=True))
                edited = {edit.message_index for edit in view.edits if edit.native_json}
                own = [item for at, item in enumerate(history) if at not in edited]
                raw_ids = {id(item) for item in history}
                assert {id(item) for item in view.messages} & raw_ids <= {id(item) for item in own}
                shown = [item for item in own if any(item is one for one in view.messages)]
                dropped = {edit.message_index for edit in view.edits if edit.HasField("drop")}
                assert len(shown) == len(own) - len(dropped - edited)
            history += elements
            if message["role"] == "assistant" and not any(block["type"] == "toolCall" for block in message["content"]):
                await session.flush(history).wait()
        view = await session.prune(history)
        assert view.pruned and view.applied.inserted_summaries
        originals = [message["content"][0]["text"] for message in messages if message["role"] == "toolResult"]
        answer = await session.query(["t1", "t2"])
        assert [record.ref for record in answer.records] == ["t1", "t2"]
        for ref in ("t1", "t2", "t3"):
            assert "".join([piece async for piece in session.read(ref)]) in originals


async def test_edits_that_are_not_known_are_asked_for_as_a_view() -> None:
    """An edit of a newer kind makes the client ask for the whole view."""
    newer = edit_pb2.Edit(message_index=0)
    with pytest.raises(EditNotUnderstood):
        apply_native_edits([{"role": "user"}], [newer])
    with pytest.raises(EditNotUnderstood):
        apply_native_edits([{"role": "user"}], [edit_pb2.Edit(message_index=3, drop={})])
    history = [{"role": "user", "content": "é"}, {"role": "user", "content": "b"}]
    shown = read_native_view(native("openai-chat"), history, json.dumps([*history, {"role": "x"}]).encode())
    assert shown[0] is history[0] and shown[1] is history[1] and shown[2] == {"role": "x"}


async def test_cache_marks_may_wander() -> None:
    """A mark that moves to the newest message with every request leaves no branch, and its traces go with it."""
    mark = {"cache_control": {"type": "ephemeral"}}
    groups = converted(sample_session(), NativeFormat.ANTHROPIC)
    history: list[Any] = []
    async with connected() as client:
        session = client.session("s1", adapter=native("anthropic"))
        for elements in groups:
            history += elements
            marked = copy.deepcopy(history)
            if isinstance(marked[-1]["content"], list):
                marked[-1]["content"][-1] |= mark
            view = await session.prune(marked)
            if history[-1]["role"] == "assistant":
                await session.flush(marked).wait()
                view = await session.prune(marked)
            sent = json.dumps(view.messages)
            assert sent.count("cache_control") <= 1
        assert view.applied.inserted_chains or view.applied.summarized_results


async def test_what_is_no_object_is_refused_by_its_place() -> None:
    """Before anything is sent."""
    async with connected() as client:
        session = client.session("s1", adapter=native("gemini"))
        with pytest.raises(MessageInvalid, match="message 1"):
            await session.prune([{"role": "user"}, "text"])
    with pytest.raises(ValueError, match="anthropic, gemini"):
        native("smoke signals")
