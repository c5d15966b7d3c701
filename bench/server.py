"""The server that is measured: the real one with an instant summarizer, and the yardsticks beside it.

    python -m bench.server sqlite:///path [key=value ...]

It prints the address at which it listens, and runs until it is told to stop. Further settings are those of
`condense-grpc serve`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from condense_grpc.api.condense.v1.query_pb2 import QueryToolCallResponse
from condense_grpc.api.condense.v1.view_pb2 import PruneMessagesRequest
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.ports import FuseRequest, SummaryEvent, SummaryReply, SummaryRequest
from condense_grpc.server.app import serve
from condense_grpc.server.composition import Composition, SystemClock, engine_options, make_store
from condense_grpc.server.convert.capabilities import Offered
from condense_grpc.settings import load_server_settings

YARDSTICKS = "bench.Yardsticks"
KINDS: dict[str, type[Message]] = {
    "NoOp": Empty,
    "EchoRequest": PruneMessagesRequest,
    "EchoAnswer": QueryToolCallResponse,
}
"""The yardsticks: each takes a message of its kind and gives it back."""


class InstantSummarizer:
    """Answers at once, so that a flush shows what everything else costs."""

    name = "instant"
    can_fuse = False

    async def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        lines = (f"- [[{n}:{call.tool_name}]] read" for n, call in enumerate(request.batch.calls, 1))
        yield SummaryReply("\n".join(lines))

    async def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        yield SummaryReply(request.text)


async def _same(request: Any, context: Any) -> Any:
    return request


def yardsticks() -> grpc.GenericRpcHandler:
    """The handlers of the yardsticks."""
    methods = {
        name: grpc.unary_unary_rpc_method_handler(_same, kind.FromString, kind.SerializeToString)
        for name, kind in KINDS.items()
    }
    return grpc.method_handlers_generic_handler(YARDSTICKS, methods)


def main(store: str, *arguments: str) -> None:
    """Run the server."""
    env = {f"CONDENSE_{name.upper()}": value for name, _, value in (one.partition("=") for one in arguments)}
    flags = {"listen": "127.0.0.1:0", "store": store, "log_level": "warning"}
    settings = load_server_settings(flags, env)
    summarizer = InstantSummarizer()
    engine = Engine(make_store(settings.store), summarizer, SystemClock(), engine_options(settings))
    composition = Composition(engine, (Offered(summarizer.name, is_default=True),))
    asyncio.run(
        serve(
            settings,
            lambda line: print(line, flush=True),
            composition=composition,
            further=(yardsticks(),),
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
