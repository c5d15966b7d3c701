"""A server from its first health check to its last call."""

import asyncio

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from condense_grpc.api.condense.v1 import flush_event_pb2, flush_pb2, session_pb2, view_pb2
from condense_grpc.server.allocator import tune_allocator
from condense_grpc.server.app import SERVICES, CannotListen, CondenseServer, server_options
from condense_grpc.server.composition import Composition, compose, make_store
from condense_grpc.server.limits import Limits
from condense_grpc.settings import SettingsInvalid, load_server_settings
from tests.server.fake_engine import FakeEngine
from tests.server.running import GatedSummarizer, answer, delta, failure, rest, running, worked

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def test_health_is_told_for_the_server_and_for_each_service() -> None:
    async with running(FakeEngine()) as server:
        health = health_pb2_grpc.HealthStub(server.channel)
        for name in ("", *SERVICES):
            assert (await health.Check(health_pb2.HealthCheckRequest(service=name))).status == SERVING
        with pytest.raises(grpc.aio.AioRpcError):
            await health.Check(health_pb2.HealthCheckRequest(service="nobody"))


async def reflected(server) -> list[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    async for reply in stub.ServerReflectionInfo(iter([request])):
        return [service.name for service in reply.list_services_response.service]
    return []


async def test_tools_can_ask_for_the_contract_unless_that_is_off() -> None:
    async with running(FakeEngine()) as server:
        assert set(SERVICES) <= set(await reflected(server))
        stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="condense.v1.CondenseService")
        replies = [one async for one in stub.ServerReflectionInfo(iter([request]))]
        assert replies[0].file_descriptor_response.file_descriptor_proto
    async with running(FakeEngine(), flags={"reflection": False}) as server:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await reflected(server)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_while_a_server_stops_running_calls_end_and_new_ones_are_refused() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        history = delta(*worked(), answer("done"))
        config = {"prune_on": "PRUNE_ON_ON_DEMAND"}
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=history, config=config))
        stream = server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s"))
        await stream.read()
        await asyncio.wait_for(summarizer.begun.wait(), 5)
        watch = health_pb2_grpc.HealthStub(server.channel).Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == SERVING
        stopping = asyncio.ensure_future(server.server.stop(30))
        assert (await watch.read()).status == NOT_SERVING
        refused = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
        summarizer.gate.set()
        events = await rest(stream)
        await stopping
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
    assert refused.retry_ms
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED


async def test_a_flush_that_has_not_ended_within_the_grace_is_cancelled_and_says_so() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await server.condense.PruneMessages(
            view_pb2.PruneMessagesRequest(
                session_id="s", delta=delta(*worked(), answer("done")), config={"prune_on": "PRUNE_ON_ON_DEMAND"}
            )
        )
        stream = server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s"))
        await stream.read()
        await asyncio.wait_for(summarizer.begun.wait(), 5)
        await asyncio.wait_for(server.server.stop(0), 5)
        assert summarizer.cancelled.is_set()
        events = await asyncio.wait_for(rest(stream), 5)
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_CANCELLED


async def test_a_port_has_one_server() -> None:
    async with running(FakeEngine()) as server:
        settings = load_server_settings({"listen": server.address})
        second = CondenseServer(Composition(FakeEngine(), ()), settings)
        with pytest.raises(CannotListen, match=server.address):
            await second.start()
        await second.stop(0)


async def test_a_unix_socket_is_an_address(tmp_path) -> None:
    address = f"unix:{tmp_path}/s"
    async with running(FakeEngine(), flags={"listen": address}) as server:
        assert server.address == address
        health = health_pb2_grpc.HealthStub(server.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING


async def test_an_address_that_others_can_reach_is_warned_about(caplog) -> None:
    async with running(FakeEngine(), flags={"listen": "0.0.0.0:0"}):
        assert "reachable from other machines" in caplog.text
    caplog.clear()
    async with running(FakeEngine()):
        assert "reachable" not in caplog.text


def test_the_limits_of_both_directions_are_one() -> None:
    options = dict(server_options(load_server_settings({"max_message_bytes": 5_000_000})))
    assert options["grpc.max_receive_message_length"] == options["grpc.max_send_message_length"] == 5_000_000
    assert options["grpc.so_reuseport"] == 0


def test_a_delta_never_may_be_larger_than_a_message() -> None:
    limits = Limits.of(load_server_settings({"max_message_bytes": 5_000_000}))
    assert (limits.max_delta_bytes, limits.max_transcript_message_bytes) == (5_000_000, 5_000_000)


@pytest.mark.parametrize("address", ["", "sqlite://x", "sqlite:///", "memory:x", "postgresql://x"])
def test_a_store_that_does_not_exist_is_refused(address: str) -> None:
    with pytest.raises(SettingsInvalid, match="sqlite:///"):
        make_store(address)


@pytest.mark.parametrize(
    ("address", "kind"), [("memory:", "memory"), ("memory", "memory"), ("sqlite:///x.db", "sqlite")]
)
async def test_a_store_is_chosen_by_its_address(address: str, kind: str) -> None:
    assert make_store(address).kind == kind


async def test_the_default_store_is_in_the_users_data_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = make_store("sqlite:")
    await store.open()
    await store.close()
    assert (tmp_path / "condense-grpc" / "condense.db").exists()
    assert (tmp_path / "condense-grpc").stat().st_mode & 0o077 == 0


def test_a_summarizer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsInvalid, match="extractive"):
        compose(load_server_settings({"store": "memory:", "summarizer": "acme"}))


async def test_a_server_is_composed_of_its_settings() -> None:
    composition = compose(load_server_settings({"store": "memory:"}))
    assert (composition.engine.store_kind, composition.engine.summarizer_name) == ("memory", "extractive")
    assert [(one.name, one.is_default) for one in composition.offered] == [("extractive", True)]


def test_the_allocator_is_tuned_where_it_can_be() -> None:
    assert tune_allocator() in (True, False)
