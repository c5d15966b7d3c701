"""The Python client: the caller keeps its raw history, and asks the service what to send to the model instead.

`CondenseClient` blocks, `AsyncCondenseClient` runs on asyncio; both share all logic. A session sends only what is new
in the caller's list, recovers by itself from lost answers and from a server that knows less, and applies the server's
edits to the caller's own message objects, in whichever of the shipped shapes (or one of the caller's) they are.

Needs grpcio and protobuf, and nothing else of this package.
"""

from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.flush_event_pb2 import FlushCompleted, FlushEvent
from condense_grpc.api.condense.v1.flush_pb2 import FlushTrigger
from condense_grpc.api.condense.v1.usage_pb2 import ContextUsage
from condense_grpc.client import errors, slices
from condense_grpc.client.adapters import ANTHROPIC, OPENAI, PI, PROTOBUF, MessageAdapter, Turn, TurnKind, native
from condense_grpc.client.async_client import AsyncCondenseClient, AsyncFlushStream, AsyncSession
from condense_grpc.client.errors import CondenseError, DeadlineExceeded, MessageInvalid, SessionNotFound, Unavailable
from condense_grpc.client.options import ClientOptions
from condense_grpc.client.recovery import recovery_tool
from condense_grpc.client.retry import NEVER_RETRY, RetryPolicy
from condense_grpc.client.sync_client import CondenseClient, FlushStream, Session
from condense_grpc.client.view import Answer, View

__all__ = [
    "ANTHROPIC",
    "NEVER_RETRY",
    "OPENAI",
    "PI",
    "PROTOBUF",
    "Answer",
    "AsyncCondenseClient",
    "AsyncFlushStream",
    "AsyncSession",
    "ClientOptions",
    "CondenseClient",
    "CondenseError",
    "ContextUsage",
    "DeadlineExceeded",
    "FlushCompleted",
    "FlushEvent",
    "FlushStream",
    "FlushTrigger",
    "MessageAdapter",
    "MessageInvalid",
    "RetryPolicy",
    "Session",
    "SessionConfig",
    "SessionNotFound",
    "Turn",
    "TurnKind",
    "Unavailable",
    "View",
    "errors",
    "native",
    "recovery_tool",
    "slices",
]
