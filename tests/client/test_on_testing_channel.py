"""The blocking client on grpcio's own test channel: what it puts on the wire, call by call."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import grpc
import grpc_testing
import pytest
from grpc_status import rpc_status

from condense_grpc.api.condense.v1 import condense_service_pb2, flush_event_pb2, query_pb2, view_pb2
from condense_grpc.client import ClientOptions, CondenseClient, errors
from tests.client.fake_server import Refusal, completed_event
from tests.client.harness import QUICK
from tests.client.messages import turn

SERVICE = condense_service_pb2.DESCRIPTOR.services_by_name["CondenseService"]
METHODS = SERVICE.methods_by_name


@pytest.fixture
def channel() -> Any:
    return grpc_testing.channel([SERVICE], grpc_testing.strict_fake_time(0))


@pytest.fixture
def client(channel: Any) -> CondenseClient:
    return CondenseClient.over(channel, token="secret", options=ClientOptions(retry=QUICK, call_timeout_seconds=7))


def called(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Runs the client while the test plays the server: in a daemon, so that a failed test does not hang."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def test_a_prune_is_one_call(channel: Any, client: CondenseClient) -> None:
    """With its metadata, and the answer read into a view."""
    pending = called(client.session("s1").prune, turn())
    metadata, request, call = channel.take_unary_unary(METHODS["PruneMessages"])
    assert {"authorization": "Bearer secret", "x-condense-session": "s1"}.items() <= dict(metadata).items()
    assert len(request.delta.messages.messages) == 4
    response = view_pb2.PruneMessagesResponse(transcript_length=4, transcript_etag="e", status_line="line")
    call.terminate(response, (), grpc.StatusCode.OK, "")
    assert pending.result(20).status_line == "line"


def test_a_disagreement_about_the_length_is_an_error(channel: Any, client: CondenseClient) -> None:
    """Positions would mean something else on the two sides, so nothing is applied."""
    pending = called(client.session("s1").prune, turn())
    _, _, call = channel.take_unary_unary(METHODS["PruneMessages"])
    call.terminate(view_pb2.PruneMessagesResponse(transcript_length=9), (), grpc.StatusCode.OK, "")
    with pytest.raises(errors.CondenseError, match="do not agree"):
        pending.result(20)


def test_a_refused_call_with_a_wish_is_made_again(channel: Any, client: CondenseClient) -> None:
    """Details come out of the trailing metadata."""
    pending = called(client.session("s1").query, ["t1"])
    refusal = Refusal("REVISION_CONFLICT", grpc.StatusCode.ABORTED, retry_seconds=0.0)
    status = rpc_status.to_status(refusal.status())
    _, _, call = channel.take_unary_unary(METHODS["QueryToolCall"])
    call.terminate(None, status.trailing_metadata, status.code, status.details)
    _, request, call = channel.take_unary_unary(METHODS["QueryToolCall"])
    assert list(request.refs) == ["t1"]
    call.terminate(query_pb2.QueryToolCallResponse(text="block"), (), grpc.StatusCode.OK, "")
    assert pending.result(20).text == "block"


def test_a_flush_follows_its_stream(channel: Any, client: CondenseClient) -> None:
    """Event by event to the last one."""
    pending = called(client.session("s1").flush().wait)
    _, request, call = channel.take_unary_stream(METHODS["FlushBatches"])
    assert request.session_id == "s1" and request.attach
    call.send_response(flush_event_pb2.FlushBatchesResponse(event=completed_event()))
    call.terminate((), grpc.StatusCode.OK, "")
    assert pending.result(20) == completed_event().completed
