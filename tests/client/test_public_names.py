"""The client's face: its names, what it loads, and what it shares with the rest of the package."""

import json
import subprocess
import sys

from condense_grpc import client
from condense_grpc.client import ClientOptions, recovery
from condense_grpc.domain.recovery import TOOL_NAME
from condense_grpc.server.convert import capabilities
from condense_grpc.settings import load_server_settings

NAMES = {
    *("ANTHROPIC", "NEVER_RETRY", "OPENAI", "PI", "PROTOBUF", "Answer", "AsyncCondenseClient", "AsyncFlushStream"),
    *("AsyncSession", "ClientOptions", "CondenseClient", "CondenseError", "ContextUsage", "DeadlineExceeded"),
    *("FlushCompleted", "FlushEvent", "FlushStream", "FlushTrigger", "MessageAdapter", "MessageInvalid", "RetryPolicy"),
    *("Session", "SessionConfig", "SessionNotFound", "Turn", "TurnKind", "Unavailable", "View", "errors"),
    *("native", "recovery_tool", "slices"),
}


def test_the_public_names() -> None:
    """A name that goes breaks callers; one that comes has to stay."""
    assert set(client.__all__) == NAMES
    assert all(hasattr(client, name) for name in NAMES)


def test_the_client_loads_grpc_and_protobuf_alone() -> None:
    """In a fresh interpreter nothing else of the package, and nothing else that is installed."""
    code = "import sys, json; import condense_grpc.client; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = json.loads(done.stdout)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("condense_grpc.")}
    assert rooms == {"api", "client"}
    foreign = {"sqlalchemy", "msgspec", "click", "rich", "pydantic", "zstandard", "grpc_status", "google.rpc"}
    assert not foreign & set(loaded)


def test_the_recovery_tool_is_the_same_on_both_sides() -> None:
    """An agent may take the definition from the client or from the server."""
    assert recovery.NAME == TOOL_NAME
    assert recovery.DESCRIPTION == capabilities.TOOL_DESCRIPTION
    schema = json.dumps(client.recovery_tool("anthropic")["input_schema"])
    assert schema == json.dumps(capabilities.TOOL_PARAMETERS)


def test_client_and_server_have_the_same_limit() -> None:
    """A limit on one side alone fails in the middle of a call."""
    assert ClientOptions().max_message_bytes == load_server_settings().max_message_bytes
    arguments = dict(ClientOptions().channel_arguments())
    assert arguments["grpc.max_receive_message_length"] == arguments["grpc.max_send_message_length"]
    assert arguments["grpc.keepalive_time_ms"] >= 10_000
