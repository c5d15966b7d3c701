"""Sessions over the wire: made, found, changed, listed, copied, removed."""

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from condense_grpc.api.condense.v1 import config_pb2, session_pb2, tool_call_pb2, usage_pb2, view_pb2
from tests.server.running import Running, answer, call, delta, failure, result, running, user, worked

CREATE, GET = session_pb2.CreateSessionRequest, session_pb2.GetSessionRequest
UPDATE, LIST = session_pb2.UpdateSessionRequest, session_pb2.ListSessionsRequest


async def test_a_session_is_made_once() -> None:
    async with running() as server:
        request = CREATE(session_id="s", labels={"team": "a"}, request_id="r1", config={"min_batch_chars": 5})
        made = (await server.sessions.CreateSession(request)).session
        again = (await server.sessions.CreateSession(request)).session
        request.request_id = "r2"
        taken = await failure(server.sessions.CreateSession(request))
        got = (await server.sessions.GetSession(GET(session_id="s"))).session
    assert made == again == got
    assert (dict(made.labels), made.config.min_batch_chars, made.config.spill_threshold) == ({"team": "a"}, 5, 65_536)
    assert made.create_time.seconds > 1_700_000_000
    assert (taken.code, taken.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SESSION_ALREADY_EXISTS")


async def test_the_server_chooses_an_id_where_there_is_none() -> None:
    async with running() as server:
        ids = {(await server.sessions.CreateSession(CREATE())).session.session_id for _ in range(3)}
        same = {(await server.sessions.CreateSession(CREATE(request_id="r"))).session.session_id for _ in range(3)}
    assert len(ids) == 3
    assert len(same) == 1


async def test_operators_set_the_defaults_of_new_sessions(tmp_path) -> None:
    from condense_grpc.settings import load_server_settings

    file = tmp_path / "condense.toml"
    file.write_text("[session]\nmin_batch_chars = 77\n[session.chain_compression]\nrolling_window = 9\n")
    settings = load_server_settings({}, {}, file)
    assert settings.session_defaults == {"min_batch_chars": 77, "chain_compression": {"rolling_window": 9}}
    async with running(session_defaults=settings.session_defaults) as server:
        made = (await server.sessions.CreateSession(CREATE(config={"chain_compression": {"enabled": False}}))).session
        request = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x")))
        await server.condense.PruneMessages(request)
        by_delta = (await server.sessions.GetSession(GET(session_id="s"))).session
    assert (made.config.min_batch_chars, by_delta.config.min_batch_chars) == (77, 77)
    assert (made.config.chain_compression.rolling_window, made.config.chain_compression.enabled) == (9, False)


async def test_an_update_changes_what_is_present_or_what_its_mask_names() -> None:
    async with running() as server:
        await server.sessions.CreateSession(CREATE(session_id="s", labels={"a": "1"}, config={"min_batch_chars": 5}))
        present = await server.sessions.UpdateSession(UPDATE(session_id="s", config={"spill_threshold": 9}))
        masked = await server.sessions.UpdateSession(
            UPDATE(
                session_id="s", config={"spill_threshold": 1}, update_mask=FieldMask(paths=["config.min_batch_chars"])
            )
        )
        cleared = await server.sessions.UpdateSession(UPDATE(session_id="s", update_mask=FieldMask(paths=["labels"])))
        wrong = await failure(
            server.sessions.UpdateSession(UPDATE(session_id="s", update_mask=FieldMask(paths=["config.nope"])))
        )
        unknown = await failure(
            server.sessions.UpdateSession(UPDATE(session_id="s", config={"summarizer_model": "acme"}))
        )
    first, second = present.session, masked.session
    assert (first.config.min_batch_chars, first.config.spill_threshold, dict(first.labels)) == (5, 9, {"a": "1"})
    assert (second.config.min_batch_chars, second.config.spill_threshold) == (1000, 9)
    assert dict(cleared.session.labels) == {}
    assert wrong.reason == "REQUEST_INVALID"
    assert (unknown.reason, unknown.metadata["available"]) == ("SUMMARIZER_UNKNOWN", "default,extractive")


async def test_triggers_are_set_and_cleared() -> None:
    async with running() as server:
        await server.sessions.CreateSession(CREATE(session_id="s", config={"auto_budget_threshold": 0.5}))
        there = (await server.sessions.GetSession(GET(session_id="s"))).session.config
        update = UPDATE(session_id="s", config={"auto_budget_threshold": 0})
        gone = (await server.sessions.UpdateSession(update)).session.config
    assert there.auto_budget_threshold == 0.5
    assert not gone.HasField("auto_budget_threshold")


async def pages(server: Running, **fields: object) -> list[list[str]]:
    found, token = [], ""
    while True:
        page = await server.sessions.ListSessions(LIST(page_token=token, **fields))
        found.append([session.session_id for session in page.sessions])
        token = page.next_page_token
        if not token:
            return found


async def test_sessions_are_listed_page_by_page_in_the_order_of_code_points() -> None:
    names = ["b", "a", "B", "é", "a2", "\U0001f600", "ａ"]
    async with running() as server:
        for name in names:
            await server.sessions.CreateSession(CREATE(session_id=name, labels={"odd": str(len(name) % 2)}))
        by_three = await pages(server, page_size=3)
        exact = await pages(server, page_size=7)
        labelled = await pages(server, page_size=2, labels={"odd": "0"})
        later = await pages(server, updated_since={"seconds": 2**40})
        token = (await server.sessions.ListSessions(LIST(page_size=1))).next_page_token
        misused = await failure(server.sessions.ListSessions(LIST(page_token=token, labels={"odd": "0"})))
    assert [name for page in by_three for name in page] == sorted(names)
    assert [len(page) for page in by_three] == [3, 3, 1]
    assert [len(page) for page in exact] == [7]
    assert labelled == [["a2"]]
    assert later == [[]]
    assert (misused.reason, misused.violations[0][0]) == ("PAGE_TOKEN_INVALID", "page_token")


async def test_a_session_is_removed_and_its_absence_can_be_fine() -> None:
    request = session_pb2.DeleteSessionRequest
    async with running() as server:
        await server.sessions.CreateSession(CREATE(session_id="s"))
        first = await server.sessions.DeleteSession(request(session_id="s"))
        again = await failure(server.sessions.DeleteSession(request(session_id="s")))
        fine = await server.sessions.DeleteSession(request(session_id="s", allow_missing=True))
    assert (first.deleted, again.reason, fine.deleted) == (True, "SESSION_NOT_FOUND", False)


async def test_a_fork_has_the_history_up_to_its_base_and_a_life_of_its_own() -> None:
    fork = session_pb2.ForkSessionRequest
    async with running() as server:
        await server.sessions.CreateSession(CREATE(session_id="s", labels={"a": "1"}))
        await server.condense.PruneMessages(
            view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("a"), answer("b"), user("c")))
        )
        copy = (await server.sessions.ForkSession(fork(session_id="s", new_session_id="t", base_length=2))).session
        whole = (await server.sessions.ForkSession(fork(session_id="s", labels={"b": "2"}))).session
        beyond = await failure(server.sessions.ForkSession(fork(session_id="s", base_length=9)))
        negative = await failure(server.sessions.ForkSession(fork(session_id="s", base_length=-1)))
        missing = await failure(server.sessions.ForkSession(fork(session_id="nobody")))
    assert (copy.session_id, copy.transcript_length, dict(copy.labels)) == ("t", 2, {"a": "1"})
    assert (whole.transcript_length, dict(whole.labels)) == (3, {"b": "2"})
    assert [one.reason for one in (beyond, negative, missing)] == [
        "TRANSCRIPT_MISMATCH",
        "REQUEST_INVALID",
        "SESSION_NOT_FOUND",
    ]


async def test_tool_calls_are_listed_in_groups_page_by_page() -> None:
    history = [user("a")]
    for number in range(5):
        history += [call(f"c{number}"), result(f"c{number}", f"{number}")]
    request = tool_call_pb2.ListToolCallsRequest
    async with running() as server:
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*history)))
        found, token, sizes = [], "", []
        while token or not found:
            page = await server.sessions.ListToolCalls(request(session_id="s", page_size=2, page_token=token))
            records = [record for group in page.groups for record in group.records]
            found, token, sizes = found + records, page.next_page_token, [*sizes, len(records)]
        none = await server.sessions.ListToolCalls(
            request(session_id="s", states=[tool_call_pb2.TOOL_CALL_STATE_SUMMARIZED])
        )
        unknown = await server.sessions.ListToolCalls(request(session_id="s", states=[99]))
    assert [record.tool_call_id for record in found] == [f"c{number}" for number in range(5)]
    assert sizes == [2, 2, 1]
    assert {record.state for record in found} == {tool_call_pb2.TOOL_CALL_STATE_PENDING}
    assert found[3].text_chars == found[3].text_bytes == 1
    assert list(none.groups) == list(unknown.groups) == []


async def test_usage_is_judged_against_the_window() -> None:
    request = usage_pb2.RecordUsageRequest
    async with running() as server:
        await server.sessions.CreateSession(
            CREATE(session_id="s", config={"auto_budget_threshold": 0.5, "prune_on": config_pb2.PRUNE_ON_ON_DEMAND})
        )
        history = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*worked(), answer("done")))
        await server.condense.PruneMessages(history)
        unknown = await server.sessions.RecordUsage(request(session_id="s"))
        low = await server.sessions.RecordUsage(request(session_id="s", usage={"tokens": 100, "context_window": 1000}))
        high = await server.sessions.RecordUsage(request(session_id="s", usage={"tokens": 600, "context_window": 1000}))
    assert not unknown.HasField("usage_fraction")
    assert (low.usage_fraction, low.advice.started) == (0.1, False)
    assert (high.usage_fraction, high.advice.started) == (0.6, True)


@pytest.mark.parametrize("request_id", ["x" * 257, "a\0b"])
async def test_a_request_id_has_a_form(request_id: str) -> None:
    async with running() as server:
        found = await failure(server.sessions.CreateSession(CREATE(request_id=request_id)))
    assert (found.reason, found.metadata["field"]) == ("REQUEST_INVALID", "request_id")
