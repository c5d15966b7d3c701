"""Native histories on the wire: payloads, edits, whole views, chunks, and what is refused."""

import json
from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    edit_pb2,
    flush_event_pb2,
    session_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.pi_conversion import converted
from tests.cli.session_sample import sample_session
from tests.server.running import Failure, failure, running

FORMATS = {
    NativeFormat.PI: transcript_pb2.MESSAGE_FORMAT_PI,
    NativeFormat.OPENAI_CHAT: transcript_pb2.MESSAGE_FORMAT_OPENAI_CHAT,
    NativeFormat.OPENAI_RESPONSES: transcript_pb2.MESSAGE_FORMAT_OPENAI_RESPONSES,
    NativeFormat.ANTHROPIC: transcript_pb2.MESSAGE_FORMAT_ANTHROPIC,
    NativeFormat.GEMINI: transcript_pb2.MESSAGE_FORMAT_GEMINI,
}
ANTHROPIC = transcript_pb2.MESSAGE_FORMAT_ANTHROPIC


def native(data: bytes, form: Any = ANTHROPIC, base: int = 0, **more: Any) -> transcript_pb2.TranscriptDelta:
    payload = transcript_pb2.NativeMessages(format=form, json=data)
    return transcript_pb2.TranscriptDelta(base_length=base, create_if_missing=True, native=payload, **more)


def prune(delta: Any = None, **more: Any) -> view_pb2.PruneMessagesRequest:
    return view_pb2.PruneMessagesRequest(session_id="s", delta=delta, **more)


@pytest.mark.parametrize("form", NativeFormat)
async def test_edits_and_whole_views_say_the_same(form: NativeFormat) -> None:
    """As any client in any language would apply them."""
    elements = [element for group in converted(sample_session(), form) for element in group]
    texts = [json.dumps(element, ensure_ascii=False) for element in elements]
    async with running() as server:
        delta = native(f"[{', '.join(texts)}]".encode(), FORMATS[form])
        first = await server.condense.PruneMessages(prune(delta))
        assert first.transcript_length == len(elements) and first.created
        async for _ in server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s", attach=True)):
            pass
        edits = await server.condense.PruneMessages(prune())
        full = await server.condense.PruneMessages(prune(view=view_pb2.VIEW_FULL))
        again = await server.condense.PruneMessages(prune(known_revision=edits.revision))
    assert edits.pruned and not edits.messages and not edits.native_json and not full.edits
    assert f"[{','.join(applied(texts, edits.edits))}]".encode() == full.native_json
    assert again.unchanged and not again.edits and again.revision == full.revision


def applied(texts: list[str], edits: Any) -> list[str]:
    elements, gone = list(texts), set()
    behind: dict[int, list[str]] = {}
    for edit in edits:
        if edit.native_json:
            elements[edit.message_index] = edit.native_json.decode()
        if edit.HasField("part_index"):
            continue
        if edit.HasField("drop"):
            gone.add(edit.message_index)
        elif edit.HasField("insert_after"):
            behind.setdefault(edit.message_index, []).append(edit.insert_after.native_json.decode())
    view = list(behind.get(-1, ()))
    for index, element in enumerate(elements):
        view += [] if index in gone else [element]
        view += behind.get(index, ())
    return view


async def refused(request: Any) -> Failure:
    async with running() as server:
        found = await failure(server.condense.PruneMessages(request))
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
        assert missing.reason == "SESSION_NOT_FOUND"
        return found


async def test_text_that_is_no_json_is_named_by_element_and_byte() -> None:
    """And nothing is created."""
    found = await refused(prune(native('[{"role":"user","content":"é"},{"role":}]'.encode())))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NATIVE_JSON_INVALID")
    assert found.metadata == {
        "field": "delta.native.json",
        "format": "MESSAGE_FORMAT_ANTHROPIC",
        "elementIndex": "1",
        "offset": "40",
    }
    assert "element 1" in found.message
    whole = await refused(prune(native(b'{"role":"user"}')))
    assert whole.metadata["offset"] == "0" and "elementIndex" not in whole.metadata
    text = await refused(prune(native(b"[\xff]")))
    assert "not UTF-8" in text.message


async def test_chunks_are_one_history() -> None:
    """Each is an array of its own; faults count over all of them; forms do not mix."""

    def chunk(data: bytes, form: Any = ANTHROPIC, **more: Any) -> transcript_pb2.AppendMessagesRequest:
        return transcript_pb2.AppendMessagesRequest(delta=native(data, form), **more)

    user, said = b'[{"role":"user","content":"a"}]', b'[{"role":"assistant","content":"b"}]'
    async with running() as server:
        done = await server.condense.AppendMessages(iter([chunk(user, session_id="s"), chunk(said), chunk(b"[]")]))
        assert (done.transcript_length, done.created) == (2, True)
        bad = await failure(server.condense.AppendMessages(iter([chunk(user, session_id="s"), chunk(b"[{},7]")])))
        assert (bad.reason, bad.metadata["elementIndex"]) == ("NATIVE_JSON_INVALID", "2")
        mixed = [chunk(user, session_id="s"), chunk(said, transcript_pb2.MESSAGE_FORMAT_PI)]
        assert (await failure(server.condense.AppendMessages(iter(mixed)))).reason == "REQUEST_INVALID"
        typed = transcript_pb2.AppendMessagesRequest(delta={"messages": {"messages": [{"user": {}}]}})
        assert (await failure(server.condense.AppendMessages(iter([chunk(user, session_id="s"), typed])))).reason == (
            "REQUEST_INVALID"
        )


async def test_violations_and_tokens_are_told() -> None:
    """With what views repair, and what the tokens are."""
    history = [
        {"role": "user", "content": "漢字"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": ""},
    ]
    async with running() as server:
        audit = await server.condense.PruneMessages(prune(native(json.dumps(history).encode()), dry_run=True))
        kinds = [(one.kind, one.message_index, one.repaired) for one in audit.violations]
        assert kinds == [
            (transcript_pb2.VIOLATION_KIND_ROLE_ORDER, 1, True),
            (transcript_pb2.VIOLATION_KIND_EMPTY_CONTENT, 2, False),
        ]
        assert "user twice in a row" in audit.violations[0].detail
        assert audit.reclaim.token_basis == view_pb2.TOKEN_BASIS_SCRIPTS
        answer = await server.condense.PruneMessages(
            prune(native(json.dumps(history).encode()), view=view_pb2.VIEW_FULL)
        )
    assert answer.pruned and len(json.loads(answer.native_json)) == 2


async def test_renamed_calls_are_told() -> None:
    """As edits of their own."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "f", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "r"}]}
    history = [{"role": "user", "content": "a"}, call, result, call, result]
    async with running(session_defaults={"rename_repeated_ids": True}) as server:
        answer = await server.condense.PruneMessages(prune(native(json.dumps(history).encode())))
    renames = [(one.message_index, one.part_index, one.rename_call.new_tool_call_id) for one in answer.edits]
    assert renames == [(3, 0, "x_2"), (4, 0, "x_2")]
    assert json.loads(answer.edits[0].native_json)["content"][0]["id"] == "x_2"


async def test_every_format_is_offered() -> None:
    """And every change can be written."""
    async with running() as server:
        offered = await server.capabilities.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest())
    assert set(offered.formats) == set(FORMATS.values())
    changes = {field.name for field in edit_pb2.Edit.DESCRIPTOR.oneofs_by_name["change"].fields}
    assert changes == {
        *("replace_result", "purge_arguments", "drop", "strip_thinking", "insert_after", "move_after", "rename_call")
    }
