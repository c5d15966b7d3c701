"""The calls of every turn, over the wire and with a real engine."""

import json
import threading
from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    diagnostics_pb2,
    edit_pb2,
    flush_event_pb2,
    flush_pb2,
    message_pb2,
    query_pb2,
    session_pb2,
    tool_call_pb2,
    transcript_pb2,
    usage_pb2,
    view_pb2,
)
from condense_grpc.server import condense_servicer
from condense_grpc.server.convert.view import write_prune
from condense_grpc.server.workers import LARGE_BYTES
from tests.server.running import answer, call, delta, failure, result, running, text_part, user, worked

ON_DEMAND = {"prune_on": "PRUNE_ON_ON_DEMAND"}


def prune(*messages: message_pb2.Message, base: int = 0, **fields: object) -> view_pb2.PruneMessagesRequest:
    fields = {"config": ON_DEMAND, **fields}
    return view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*messages, base=base), **fields)


def flush(**fields: object) -> flush_event_pb2.FlushBatchesRequest:
    return flush_event_pb2.FlushBatchesRequest(session_id="s", **fields)


async def events_of(stream: object) -> list[flush_event_pb2.FlushEvent]:
    return [answer.event async for answer in stream]  # type: ignore[attr-defined]


async def test_a_turn_from_raw_history_to_stubs_and_back_to_the_original() -> None:
    history = [*worked(2), answer("done")]
    async with running() as server:
        raw = await server.condense.PruneMessages(prune(*history))
        events = await events_of(server.condense.FlushBatches(flush()))
        pruned = await server.condense.PruneMessages(prune(base=len(history), known_revision=raw.revision))
        again = await server.condense.PruneMessages(
            view_pb2.PruneMessagesRequest(session_id="s", known_revision=pruned.revision)
        )
        full = await server.condense.PruneMessages(
            view_pb2.PruneMessagesRequest(session_id="s", view=view_pb2.VIEW_FULL)
        )
        stubs = [edit.replace_result for edit in pruned.edits if edit.HasField("replace_result")]
        query = query_pb2.QueryToolCallRequest(session_id="s", refs=[stubs[0].ref, "nope"])
        read = await server.condense.QueryToolCall(query)
    assert (raw.created, raw.pruned, list(raw.edits)) == (True, False, [])
    assert raw.transcript_length == len(history)
    kinds = [event.WhichOneof("event") for event in events]
    assert (kinds[0], kinds[-1]) == ("started", "completed")
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    assert [event.sequence for event in events] == sorted({event.sequence for event in events})
    assert pruned.pruned
    assert pruned.applied.summarized_results == len(stubs) == 2
    assert pruned.applied.inserted_summaries == 2
    assert pruned.reclaim.after_chars < pruned.reclaim.before_chars
    assert pruned.cache.breaks_cache
    assert (again.unchanged, list(again.edits)) == (True, [])
    assert len(full.messages) == len(history) + 2
    assert {edit.insert_after.kind for edit in pruned.edits if edit.HasField("insert_after")} == {
        edit_pb2.INSERT_KIND_SUMMARY
    }
    original = history[2].tool_result.parts[0].text.text
    [block] = read.results[0].blocks
    assert (read.results[0].found, block.text, block.total_chars) == (True, original, len(original))
    assert block.record.state == tool_call_pb2.TOOL_CALL_STATE_SUMMARIZED
    assert block.record.text_bytes == len(original.encode())
    assert (read.results[1].requested, read.results[1].found) == ("nope", False)
    assert read.text == f"{block.block_text}\n\n---\n\n{read.results[1].blocks[0].block_text}"


async def test_an_unknown_session_is_not_found_unless_it_may_be_made() -> None:
    async with running() as server:
        request = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x"), create=False))
        missing = await failure(server.condense.PruneMessages(request))
        nothing = await failure(server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s")))
    assert missing.reason == nothing.reason == "SESSION_NOT_FOUND"


async def test_a_base_that_does_not_match_says_where_the_server_is() -> None:
    async with running() as server:
        first = await server.condense.PruneMessages(prune(user("a"), answer("b")))
        beyond = await failure(server.condense.PruneMessages(prune(user("c"), base=3)))
        other = prune(user("c"), base=2)
        other.delta.base_etag = "no such etag"
        wrong = await failure(server.condense.PruneMessages(other))
    for found in (beyond, wrong):
        assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "TRANSCRIPT_MISMATCH")
        assert (found.metadata["serverLength"], found.metadata["serverEtag"]) == ("2", first.transcript_etag)


async def test_a_delta_without_payload_leaves_the_transcript_and_can_make_a_session() -> None:
    bare = transcript_pb2.TranscriptDelta(create_if_missing=True)
    async with running() as server:
        made = await server.condense.PruneMessages(
            view_pb2.PruneMessagesRequest(session_id="s", delta=bare, config={"min_batch_chars": 7})
        )
        await server.condense.PruneMessages(prune(user("a")))
        kept = await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=bare))
        found = await server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"))
    assert (made.created, made.transcript_length) == (True, 0)
    assert (kept.created, kept.transcript_length) == (False, 1)
    assert found.session.config.min_batch_chars == 7


async def test_an_empty_payload_ends_the_transcript_at_its_base() -> None:
    async with running() as server:
        await server.condense.PruneMessages(prune(user("a"), answer("b"), user("c")))
        cut = await server.condense.PruneMessages(prune(base=1))
    assert cut.transcript_length == 1


async def test_a_dry_run_changes_nothing() -> None:
    async with running() as server:
        dry = await server.condense.PruneMessages(prune(*worked(), dry_run=True))
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
    assert dry.transcript_length == 3
    assert (list(dry.edits), dry.created) == ([], False)
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_a_configuration_is_looked_at_only_when_a_session_may_be_made() -> None:
    wrong = {"min_batch_chars": -1}
    async with running() as server:
        refused = await failure(server.condense.PruneMessages(prune(user("a"), config=wrong)))
        await server.condense.PruneMessages(prune(user("a")))
        request = view_pb2.PruneMessagesRequest(
            session_id="s", delta=delta(user("b"), base=1, create=False), config=wrong
        )
        fine = await server.condense.PruneMessages(request)
    assert (refused.reason, refused.violations) == (
        "CONFIG_INVALID",
        [("config.min_batch_chars", "must be a number, at least 0, not -1")],
    )
    assert fine.transcript_length == 2


async def test_what_is_wrong_with_a_history_is_reported_and_does_not_fail() -> None:
    async with running() as server:
        reply = await server.condense.PruneMessages(prune(user("a"), result("nobody", "x")))
    assert [(one.kind, one.message_index, one.tool_call_id) for one in reply.violations] == [
        (transcript_pb2.VIOLATION_KIND_STRAY_RESULT, 1, "nobody")
    ]
    assert reply.violations[0].detail


async def test_a_history_in_chunks_is_one_delta() -> None:
    history = worked(3)
    chunks = [transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(history[0]), config=ON_DEMAND)]
    chunks += [
        transcript_pb2.AppendMessagesRequest(delta={"messages": transcript_pb2.MessageList(messages=[one])})
        for one in history[1:]
    ]
    async with running() as server:
        first = await server.condense.AppendMessages(iter(chunks))
        again = await server.condense.AppendMessages(iter(chunks))
        whole = await server.condense.PruneMessages(prune(*history))
    assert (first.created, again.created) == (True, False)
    assert first.transcript_length == len(history)
    assert first.transcript_etag == again.transcript_etag == whole.transcript_etag
    assert first.revision == whole.revision
    assert first.advice.pending_batches == whole.advice.pending_batches


@pytest.mark.parametrize(
    ("chunks", "reason", "field"),
    [
        ([], "REQUEST_INVALID", "delta"),
        ([{"session_id": "s", "delta": delta(user("a"))}, {"session_id": "other"}], "REQUEST_INVALID", "session_id"),
        ([{"delta": delta(user("a"))}], "SESSION_ID_INVALID", "session_id"),
        ([{"session_id": "s", "delta": {"base_length": -1}}], "REQUEST_INVALID", "delta.base_length"),
        (
            [{"session_id": "s", "delta": delta(user("a"))}, {"delta": delta(message_pb2.Message())}],
            "MESSAGE_INVALID",
            "delta.messages.messages[0].kind",
        ),
    ],
)
async def test_a_stream_that_is_wrong_anywhere_appends_nothing(chunks, reason: str, field: str) -> None:
    requests = [transcript_pb2.AppendMessagesRequest(**chunk) for chunk in chunks]
    async with running() as server:
        found = await failure(server.condense.AppendMessages(iter(requests)))
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
    assert (found.reason, found.metadata["field"]) == (reason, field)
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_a_message_of_a_later_chunk_is_counted_over_the_stream() -> None:
    chunks = [{"session_id": "s", "delta": delta(user("a"), user("b"))}, {"delta": delta(message_pb2.Message())}]
    async with running() as server:
        found = await failure(
            server.condense.AppendMessages(iter([transcript_pb2.AppendMessagesRequest(**one) for one in chunks]))
        )
    assert found.metadata["messageIndex"] == "2"


async def test_an_original_comes_in_chunks_that_end_between_characters() -> None:
    original = "é" * 1_500_000 + "end"
    data = original.encode()
    read = query_pb2.ReadToolResultRequest
    async with running() as server:
        await server.condense.PruneMessages(prune(user("a"), call("c"), result("c", original)))
        chunks = [one async for one in server.condense.ReadToolResult(read(session_id="s", ref="c"))]
        middle = [
            one
            async for one in server.condense.ReadToolResult(
                read(session_id="s", ref="c", offset_bytes=chunks[1].offset_bytes, limit_bytes=5)
            )
        ]
        behind = [
            one async for one in server.condense.ReadToolResult(read(session_id="s", ref="c", offset_bytes=10**9))
        ]
        unknown = [one async for one in server.condense.ReadToolResult(read(session_id="s", ref="t99"))]
        negative = await failure(server.condense.ReadToolResult(read(session_id="s", ref="c", offset_bytes=-1)))
    assert b"".join(chunk.data for chunk in chunks) == data
    assert all(len(chunk.data) <= 1024 * 1024 for chunk in chunks)
    assert all(chunk.data.decode() for chunk in chunks)
    assert [chunk.HasField("record") for chunk in chunks] == [True] + [False] * (len(chunks) - 1)
    assert chunks[0].record.text_bytes == chunks[0].total_bytes == len(data)
    assert middle[0].data == data[chunks[1].offset_bytes : chunks[1].offset_bytes + 5]
    assert [(chunk.found, chunk.data, chunk.total_bytes) for chunk in behind] == [(True, b"", len(data))]
    assert unknown == [query_pb2.ReadToolResultResponse(found=False)]
    assert negative.metadata["field"] == "offset_bytes"


@pytest.mark.parametrize(
    ("selection", "shown"),
    [
        ({"lines": {"start_line": 2, "line_count": 2}}, "two\nthree"),
        ({"lines": {"start_line": 3}}, "three\nfour"),
        ({"lines": {"start_line": -5, "line_count": 1}}, "one"),
        ({"chars": {"start_char": 2, "end_char": 3}}, "ne"),
        ({"pattern": {"pattern": "t"}}, "2: two\n3: three"),
        ({"pattern": {"pattern": "w", "context_lines": 1}}, "1- one\n2: two\n3- three"),
        ({"lines": {"start_line": 9}}, ""),
        ({"max_chars": 2}, "on"),
        ({}, "one\ntwo\nthree\nfour"),
    ],
)
async def test_a_part_of_an_original(selection, shown: str) -> None:
    text = "one\ntwo\nthree\nfour"
    config = {**ON_DEMAND, "spill_threshold": 1}
    async with running() as server:
        reply = await server.condense.PruneMessages(prune(user("a"), call("c"), result("c", text), config=config))
        ref = reply.edits[0].replace_result.ref
        request = query_pb2.QueryToolCallRequest(session_id="s", refs=[ref, ref], slices=[{"ref": ref, **selection}])
        reply = await server.condense.QueryToolCall(request)
    for found in reply.results:
        [block] = found.blocks
        assert (block.text, block.slice_index, block.total_lines) == (shown, 0, 4)


async def test_parts_that_are_not_text_come_back() -> None:
    image = message_pb2.Part(image=message_pb2.ImagePart(media_type="image/png", data=b"\x89PNG"), extra_json='{"a":1}')
    content = message_pb2.ToolResultMessage(tool_call_id="c", tool_name="bash", parts=[text_part("x" * 3000), image])
    history = [user("a"), call("c"), message_pb2.Message(tool_result=content), answer("b")]
    async with running() as server:
        await server.condense.PruneMessages(prune(*history))
        await events_of(server.condense.FlushBatches(flush()))
        reply = await server.condense.QueryToolCall(query_pb2.QueryToolCallRequest(session_id="s", refs=["c"]))
    assert list(reply.results[0].blocks[0].parts) == [image]


async def test_diagnostics_tell_how_a_session_is_doing() -> None:
    async with running() as server:
        usage = usage_pb2.ContextUsage(tokens=100, context_window=1000)
        await server.condense.PruneMessages(prune(*worked(2), answer("done"), usage=usage))
        before = await server.condense.GetDiagnostics(diagnostics_pb2.GetDiagnosticsRequest(session_id="s"))
        await events_of(server.condense.FlushBatches(flush()))
        after = await server.condense.GetDiagnostics(diagnostics_pb2.GetDiagnosticsRequest(session_id="s"))
    assert (before.advice.pending_batches, after.advice.pending_batches) == (2, 0)
    assert before.summarizer.primary == "extractive"
    assert after.frontier.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    [report] = after.last_flushes
    assert (report.trigger, report.outcome, report.processed_batches) == (
        flush_pb2.FLUSH_TRIGGER_MANUAL,
        flush_pb2.FLUSH_OUTCOME_SUMMARIZED,
        2,
    )
    assert after.status_line
    assert before.revision != after.revision


async def test_a_preview_says_what_a_flush_would_take() -> None:
    async with running() as server:
        await server.condense.PruneMessages(prune(*worked(2), answer("done")))
        events = await events_of(server.condense.FlushBatches(flush(dry_run=True)))
        after = await server.condense.GetDiagnostics(diagnostics_pb2.GetDiagnosticsRequest(session_id="s"))
    assert [event.WhichOneof("event") for event in events] == ["started", "completed"]
    assert [list(batch.tool_names) for batch in events[0].started.batches] == [["bash"], ["bash"]]
    assert events[1].completed.outcome == flush_pb2.FLUSH_OUTCOME_UNSPECIFIED
    assert after.advice.pending_batches == 2


async def test_chains_are_compacted_on_request() -> None:
    history = [*worked(2), answer("done"), user("next")]
    async with running() as server:
        await server.condense.PruneMessages(prune(*history))
        events = await events_of(server.condense.CompactChains(flush_event_pb2.CompactChainsRequest(session_id="s")))
        reply = await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s"))
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_COMPRESSED
    [chain] = [event.chain_compressed for event in events if event.HasField("chain_compressed")]
    assert list(events[-1].completed.block_ids) == [chain.block_id]
    assert reply.applied.inserted_chains == 1


async def test_events_that_are_there_at_once_come_in_one_response_if_a_client_likes() -> None:
    """The same events in the same order as one by one, in fewer responses."""
    history = [*worked(5), answer("done"), user("next")]
    async with running() as server:
        for name in ("single", "joint"):
            await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id=name, delta=delta(*history)))
        single = [one async for one in server.condense.FlushBatches(flush_of("single"))]
        joint = [one async for one in server.condense.FlushBatches(flush_of("joint", joint_events=True))]
        again = server.condense.CompactChains(
            flush_event_pb2.CompactChainsRequest(session_id="joint", joint_events=True)
        )
        compacted = [event async for one in again for event in (one.event, *one.further_events)]
    events = [event for one in joint for event in (one.event, *one.further_events)]
    assert [len(one.further_events) for one in single] == [0] * len(single)
    assert _told(events) == _told([one.event for one in single])
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert len(joint) < len(events)
    assert compacted[-1].HasField("completed")


def flush_of(session_id: str, **fields: Any) -> flush_event_pb2.FlushBatchesRequest:
    return flush_event_pb2.FlushBatchesRequest(session_id=session_id, **fields)


def _told(events: list[flush_event_pb2.FlushEvent]) -> list[tuple[str | None, list[str]]]:
    """Without progress, which comes when there is time."""
    told = [(event.WhichOneof("event"), list(event.batch_finished.refs)) for event in events]
    return [one for one in told if one[0] != "batch_progress"]


async def test_the_recovery_tool_is_defined_by_a_schema() -> None:
    from condense_grpc.api.condense.v1 import capabilities_pb2

    async with running() as server:
        reply = await server.capabilities.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest())
    assert reply.recovery_tool.name == "context_tree_query"
    assert json.loads(reply.recovery_tool.parameters_json)["required"] == ["toolCallIds"]
    assert [(one.name, one.is_default, one.is_remote) for one in reply.summarizers] == [("extractive", True, False)]
    assert reply.store_kind == capabilities_pb2.STORE_KIND_MEMORY
    assert reply.default_config.min_batch_chars == 1000
    assert reply.version


async def test_the_definition_of_the_tool_is_the_same_as_in_the_client() -> None:
    client = pytest.importorskip("condense_grpc.client.recovery_tool")
    from condense_grpc.server.convert.capabilities import TOOL_DESCRIPTION, TOOL_PARAMETERS

    ours = {"name": "context_tree_query", "description": TOOL_DESCRIPTION, "parameters": TOOL_PARAMETERS}
    assert json.dumps(client.recovery_tool("openai")["function"]) == json.dumps(ours)


async def test_a_long_answer_is_written_aside_however_few_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """To copy a single message of some megabytes holds up everybody as much as to copy many small ones."""
    threads: list[int] = []

    def watched(*args: Any) -> bytes:
        threads.append(threading.get_ident())
        return write_prune(*args)

    monkeypatch.setattr(condense_servicer, "write_prune", watched)
    native = {"format": transcript_pb2.MESSAGE_FORMAT_PI}
    async with running() as server:
        for text in ("short", "x" * LARGE_BYTES):
            pi = [{"role": "user", "content": text}]
            elements = transcript_pb2.NativeMessages(json=json.dumps(pi).encode(), **native)
            in_shape = transcript_pb2.TranscriptDelta(create_if_missing=True, native=elements)
            for view in (view_pb2.VIEW_EDITS, view_pb2.VIEW_FULL):
                await server.condense.PruneMessages(prune(user(text), view=view))
                await server.condense.PruneMessages(
                    view_pb2.PruneMessagesRequest(session_id="native", delta=in_shape, view=view)
                )
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [True] * 6 + [False] * 2
