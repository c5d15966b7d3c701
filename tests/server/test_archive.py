"""The archive over the wire: lists, pins, searches, expressions."""

from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    diagnostics_pb2,
    flush_event_pb2,
    query_pb2,
    session_pb2,
    summary_pb2,
    tool_call_pb2,
    view_pb2,
)
from tests.server.running import Running, answer, call, delta, failure, result, running, user, worked

LONG = "word " * 600
SUMMARIZED, PENDING = tool_call_pb2.TOOL_CALL_STATE_SUMMARIZED, tool_call_pb2.TOOL_CALL_STATE_PENDING
LIST, PIN = tool_call_pb2.ListToolCallsRequest, tool_call_pb2.PinToolCallsRequest


async def session(server: Running) -> None:
    """Two summarized turns and one that waits."""
    history = [*worked(2), answer("done")]
    config = {"chain_compression": {"enabled": False}, "prune_on": "PRUNE_ON_ON_DEMAND"}
    await server.sessions.CreateSession(session_pb2.CreateSessionRequest(session_id="s", config=config))
    flush = flush_event_pb2.FlushBatchesRequest(session_id="s", delta=delta(*history))
    assert [one async for one in server.condense.FlushBatches(flush)]
    late = [call("late", name="grep", arguments_json='{"q":"Needle"}'), result("late", f"{LONG}\na Needle", "grep")]
    await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*late, base=6)))


async def listed(server: Running, **fields: Any) -> list[tool_call_pb2.ListToolCallsResponse]:
    pages = [await server.sessions.ListToolCalls(LIST(session_id="s", **fields))]
    while pages[-1].next_page_token:
        request = LIST(session_id="s", page_token=pages[-1].next_page_token, **fields)
        pages.append(await server.sessions.ListToolCalls(request))
    return pages


async def test_calls_are_listed_under_their_summaries() -> None:
    """With everything of summary and record, on pages of any size."""
    async with running() as server:
        await session(server)
        [whole] = await listed(server)
        pages = await listed(server, page_size=1)
        [pending] = await listed(server, states=[PENDING])
        [one] = await listed(server, summary_id="s2")
        wrong = await failure(server.sessions.ListToolCalls(LIST(session_id="s", page_token="x")))
        unknown = await server.sessions.ListToolCalls(LIST(session_id="s", states=[77]))
    assert [group.summary.summary_id for group in whole.groups] == ["s1", "s2", ""]
    assert not whole.groups[2].HasField("summary")
    first = whole.groups[0]
    assert first.summary.kind == summary_pb2.SUMMARY_KIND_BATCH
    assert first.summary.refs == [first.records[0].ref] == ["t1"]
    assert (first.records[0].state, first.records[0].arguments_json) == (SUMMARIZED, '{"command":"ls"}')
    assert first.summary.source_chars == first.records[0].text_chars > first.summary.summary_chars > 0
    assert [record.tool_call_id for page in pages for group in page.groups for record in group.records] == [
        "c0",
        "c1",
        "late",
    ]
    assert [page.groups[0].summary.text for page in pages[:2]] == [group.summary.text for group in whole.groups[:2]]
    assert [group.records[0].tool_call_id for group in (*pending.groups, *one.groups)] == ["late", "c1"]
    assert wrong.reason == "PAGE_TOKEN_INVALID"
    assert not unknown.groups


async def test_summaries_and_blocks_are_listed() -> None:
    async with running() as server:
        await session(server)
        update = session_pb2.UpdateSessionRequest(session_id="s", config={"chain_compression": {"enabled": True}})
        await server.sessions.UpdateSession(update)
        compact = flush_event_pb2.CompactChainsRequest(session_id="s")
        events = [one.event async for one in server.condense.CompactChains(compact)]
        request = summary_pb2.ListSummariesRequest(session_id="s", page_size=2)
        first = await server.sessions.ListSummaries(request)
        request.page_token = first.next_page_token
        rest = await server.sessions.ListSummaries(request)
        chains = await server.sessions.ListSummaries(
            summary_pb2.ListSummariesRequest(session_id="s", kinds=[summary_pb2.SUMMARY_KIND_CHAIN])
        )
    assert [one.summary_id for one in (*first.summaries, *rest.summaries)] == ["s1", "s2", "b1"]
    assert [one.block_id for one in first.summaries] == ["b1", "b1"]
    assert first.summaries[0].create_time.seconds > 1_700_000_000
    assert first.summaries[0].transcript_length == 6
    [block] = chains.summaries
    assert (block.summary_id, list(block.refs), block.turn_index) == ("b1", ["t1", "t2"], -1)
    made = next(event.chain_compressed for event in events if event.HasField("chain_compressed"))
    assert (made.start_index, made.final_index) == (0, 5)


async def test_pins_keep_results_verbatim() -> None:
    async with running() as server:
        await session(server)
        pinned = await server.sessions.PinToolCalls(PIN(session_id="s", refs=["t1", "late", "x"]))
        view = await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s"))
        timed = await server.sessions.PinToolCalls(PIN(session_id="s", refs=["t1"], ttl={"seconds": 60, "nanos": 1}))
        [whole] = await listed(server)
        unpinned = await server.sessions.PinToolCalls(PIN(session_id="s", refs=["t1"], unpin=True))
    assert [one.ref for one in pinned.records] == ["t1", ""]
    assert all(one.state == tool_call_pb2.TOOL_CALL_STATE_PROTECTED for one in pinned.records)
    assert all(one.HasField("pin") and not one.pin.HasField("expire_time") for one in pinned.records)
    assert list(pinned.unknown_refs) == ["x"]
    assert view.revision == pinned.revision and view.applied.summarized_results == 1
    assert timed.records[0].pin.expire_time.seconds > 1_700_000_000
    assert whole.groups[0].records[0].pin == timed.records[0].pin
    assert not unpinned.records[0].HasField("pin")


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"ttl": {"seconds": 0}}, "ttl"), ({"ttl": {"seconds": -1}}, "ttl"), ({"refs": ["x"] * 257}, "refs")],
)
async def test_pins_that_cannot_be(fields: dict[str, Any], field: str) -> None:
    async with running() as server:
        await session(server)
        found = await failure(server.sessions.PinToolCalls(PIN(**{"session_id": "s", "refs": ["t1"], **fields})))
        missing = await failure(server.sessions.PinToolCalls(PIN(session_id="nobody", refs=["t1"])))
    assert (found.reason, found.metadata["field"]) == ("REQUEST_INVALID", field)
    assert missing.reason == "SESSION_NOT_FOUND"


async def search(server: Running, query: str, **fields: Any) -> list[query_pb2.SearchToolCallsResponse]:
    request = query_pb2.SearchToolCallsRequest(session_id="s", query=query, **fields)
    return [one async for one in server.condense.SearchToolCalls(request)]


async def test_the_archive_is_searched() -> None:
    """Words in any case, expressions exactly; best matches first, with lines that a query can ask for."""
    async with running() as server:
        await session(server)
        [needle] = await search(server, "needle")
        lines = await search(server, "line", max_results=1)
        expression = await search(server, r"^a \w+$", regex=True)
        narrowed = await search(server, "needle", tool_names=["bash"])
        slices = [
            query_pb2.Slice(ref="t1", pattern=query_pb2.PatternMatch(pattern=r"^line \d$", regex=True)),
            query_pb2.Slice(ref="t1", lines=query_pb2.LineRange(start_line=1, line_count=1)),
        ]
        request = query_pb2.QueryToolCallRequest(session_id="s", refs=["t1"], slices=slices)
        blocks = (await server.condense.QueryToolCall(request)).results[0].blocks
    assert (needle.record.tool_call_id, needle.record.state, needle.matching_line_count) == ("late", PENDING, 1)
    assert (needle.lines[0].line_number, needle.lines[0].text) == (2, "a Needle")
    assert len(lines) == 1
    assert [one.record.tool_call_id for one in expression] == ["late"]
    assert narrowed == []
    assert [block.text for block in blocks] == ["1: line 0", "line 0"]


async def test_searches_that_cannot_be() -> None:
    async with running() as server:
        await session(server)
        request = query_pb2.SearchToolCallsRequest
        empty = await failure(server.condense.SearchToolCalls(request(session_id="s")))
        long = await failure(server.condense.SearchToolCalls(request(session_id="s", query="x" * 10_001)))
        wrong = await failure(server.condense.SearchToolCalls(request(session_id="s", query="a(b", regex=True)))
        missing = await failure(server.condense.SearchToolCalls(request(session_id="nobody", query="x")))
        pattern = query_pb2.PatternMatch(pattern="[a", regex=True)
        sliced = await failure(
            server.condense.QueryToolCall(
                query_pb2.QueryToolCallRequest(
                    session_id="s", refs=["t1"], slices=[query_pb2.Slice(ref="t1", pattern=pattern)]
                )
            )
        )
    assert (empty.reason, long.reason, missing.reason) == ("REQUEST_INVALID", "REQUEST_INVALID", "SESSION_NOT_FOUND")
    assert (wrong.code, wrong.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "PATTERN_INVALID")
    assert wrong.metadata == {"field": "query", "position": "3"}
    assert sliced.metadata == {"field": "slices[0].pattern.pattern", "position": "0"}
    assert sliced.violations[0][0] == "slices[0].pattern.pattern"


async def test_forks_are_checked_by_their_etag() -> None:
    """The base is that of the original, or nothing is copied."""
    fork = session_pb2.ForkSessionRequest
    async with running() as server:
        await session(server)
        whole = (await server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"))).session
        right = fork(session_id="s", new_session_id="a", base_etag=whole.transcript_etag, request_id="r")
        copied = (await server.sessions.ForkSession(right)).session
        wrong = [
            await failure(server.sessions.ForkSession(fork(session_id="s", new_session_id="b", **fields)))
            for fields in (
                {"base_etag": "x"},
                {"base_length": 3, "base_etag": whole.transcript_etag},
                {"base_length": 99},
                {"base_length": -1},
            )
        ]
        await server.sessions.DeleteSession(session_pb2.DeleteSessionRequest(session_id="s"))
        again = (await server.sessions.ForkSession(right)).session
        gone = await failure(server.sessions.ForkSession(fork(session_id="s", new_session_id="c")))
    assert (copied.transcript_etag, copied.revision) == (whole.transcript_etag, whole.revision)
    assert again.session_id == "a"
    assert [one.reason for one in wrong] == ["TRANSCRIPT_MISMATCH"] * 3 + ["REQUEST_INVALID"]
    assert gone.reason == "SESSION_NOT_FOUND"


async def test_path_arguments_can_be_renamed() -> None:
    """Calls that are there are judged by the new names."""
    async with running() as server:
        config = {"protected_paths": {"values": ["*.md"]}, "prune_on": "PRUNE_ON_ON_DEMAND"}
        await server.sessions.CreateSession(session_pb2.CreateSessionRequest(session_id="s", config=config))
        history = [user("x"), call("a", arguments_json='{"where":"b.md"}'), result("a", LONG)]
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*history)))
        update = session_pb2.UpdateSessionRequest(session_id="s", config={"path_arguments": {"values": ["where"]}})
        before = (await listed(server))[0].groups[0].records[0].state
        await server.sessions.UpdateSession(update)
        after = (await listed(server))[0].groups[0].records[0].state
    assert (before, after) == (PENDING, tool_call_pb2.TOOL_CALL_STATE_PROTECTED)


async def test_the_report_is_complete() -> None:
    """Usage, advice, the flushes by their ids, and where problems were met."""
    async with running() as server:
        await session(server)
        stray = view_pb2.PruneMessagesRequest(
            session_id="s", delta=delta(result("stray", "x"), base=8), usage={"tokens": 5, "context_window": 10}
        )
        await server.condense.PruneMessages(stray)
        report = await server.condense.GetDiagnostics(diagnostics_pb2.GetDiagnosticsRequest(session_id="s"))
    assert (report.usage.tokens, report.usage.context_window) == (5, 10)
    assert (report.advice.pending_batches, report.advice.running, report.running_flush_id) == (1, False, "")
    assert len(report.last_flushes) == 1 and report.last_flushes[0].flush_id
    [entry] = report.entries
    assert (entry.kind, entry.transcript_length) == (diagnostics_pb2.DIAGNOSTIC_KIND_ORPHAN_SWEEP, 9)
