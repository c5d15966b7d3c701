"""The server: building it, running it until it is told to stop, and stopping it without losing anything.

A stop goes from outside to inside: health says NOT_SERVING, new calls are refused, running ones may end within the
grace, what is left is cancelled (a flush then keeps what it has committed), and the engine writes what it has accepted.
"""

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    capabilities_service_pb2,
    condense_service_pb2,
    session_service_pb2,
)
from condense_grpc.domain.config import SessionConfig, merge
from condense_grpc.server.admission import Admission
from condense_grpc.server.allocator import tune_allocator
from condense_grpc.server.capabilities_servicer import CapabilitiesServicer
from condense_grpc.server.collector import tune_collector
from condense_grpc.server.composition import Composition, compose
from condense_grpc.server.condense_servicer import CondenseServicer
from condense_grpc.server.convert.capabilities import Capabilities
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.delta import DeltaReader
from condense_grpc.server.convert.enums import STORE_KIND
from condense_grpc.server.huge_pages import use_huge_pages
from condense_grpc.server.interceptor import ErrorInterceptor
from condense_grpc.server.limits import Limits
from condense_grpc.server.session_servicer import SessionServicer
from condense_grpc.server.wire import Wire
from condense_grpc.server.workers import Workers, tune_switching
from condense_grpc.settings import ServerSettings

logger = logging.getLogger(__name__)

_LAST_WORDS_SECONDS = 1.0

CONDENSE = condense_service_pb2.DESCRIPTOR.services_by_name["CondenseService"]
SESSIONS = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
CAPABILITIES = capabilities_service_pb2.DESCRIPTOR.services_by_name["CapabilitiesService"]
SERVICES = tuple(service.full_name for service in (CONDENSE, SESSIONS, CAPABILITIES))

_LOOPBACK = ("127.", "localhost", "[::1]", "unix:")


class CannotListen(Exception):
    """The address cannot be used."""


def server_options(settings: ServerSettings) -> list[tuple[str, int]]:
    """The options of the channel: one finite limit in both directions, one server per port, probes of dead peers."""
    return [
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", settings.keepalive_seconds * 1000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        # Clients may probe as often as the lowest setting allows, also between calls.
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ]


class CondenseServer:
    """One gRPC server in front of one engine, which the caller starts before and closes after it.

    `further`: handlers of services that are not part of the contract. `inner`: interceptors between the translation
    of errors and the methods; what they raise is told as if the method had.
    """

    def __init__(
        self,
        composition: Composition,
        settings: ServerSettings,
        further: Sequence[grpc.GenericRpcHandler] = (),
        inner: Sequence[grpc.aio.ServerInterceptor] = (),
    ) -> None:
        engine = composition.engine
        limits = Limits.of(settings)
        configs = ConfigReader(tuple(one.name for one in composition.offered), settings.session_defaults)
        self._settings = settings
        self._engine = engine
        self._admission = Admission(settings.max_concurrent_calls)
        self._workers = Workers(settings.worker_threads)
        self._health = health.aio.HealthServicer()
        store = capabilities_pb2.StoreKind.Name(STORE_KIND.write(engine.store_kind))
        interceptor = ErrorInterceptor(self._admission, {"STORE_UNAVAILABLE": {"store": store}})
        self._server = grpc.aio.server(interceptors=[interceptor, *inner], options=server_options(settings))
        capabilities = Capabilities(
            version=version("condense-grpc"),
            limits=limits,
            store_kind=engine.store_kind,
            summarizers=composition.offered,
            default_config=merge(SessionConfig(), configs.new_defaults()),
        )
        wire = Wire(self._workers, settings.max_message_bytes)
        handlers = (
            wire.handler(CONDENSE, CondenseServicer(engine, DeltaReader(limits, configs, engine.recollect))),
            wire.handler(SESSIONS, SessionServicer(engine, configs, limits)),
            wire.handler(CAPABILITIES, CapabilitiesServicer(capabilities)),
            *further,
        )
        self._server.add_generic_rpc_handlers(handlers)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.reflection:
            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    async def start(self) -> str:
        """Listen; the address at which it does, with the port that it got. Raises CannotListen."""
        wanted = self._settings.listen
        try:
            port = self._server.add_insecure_port(wanted)
        except RuntimeError:
            raise CannotListen(
                f"cannot listen on {wanted}: it is in use or not an address of this machine; choose another --listen"
            ) from None
        if not wanted.startswith(_LOOPBACK):
            logger.warning("%s is reachable from other machines, without encryption and without credentials", wanted)
        await self._server.start()
        for name in ("", *SERVICES):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return wanted if wanted.startswith("unix:") else f"{wanted.rpartition(':')[0]}:{port}"

    async def stop(self, grace_seconds: float) -> None:
        """Let running calls end within the grace, then cancel them. Idempotent."""
        await self._health.enter_graceful_shutdown()
        self._engine.end_watches()
        if not await self._admission.drain(grace_seconds):
            logger.warning("calls were cancelled because they had not ended within the grace")
            # The streams of flushes end by their own last event before every call is cut off.
            await self._engine.stop_flushes()
            await self._admission.drain(_LAST_WORDS_SECONDS)
        await self._server.stop(None)
        self._workers.close()


async def serve(
    settings: ServerSettings,
    announce: Callable[[str], None],
    *,
    composition: Composition | None = None,
    further: Sequence[grpc.GenericRpcHandler] = (),
    inner: Sequence[grpc.aio.ServerInterceptor] = (),
) -> None:
    """Run a server until SIGTERM or SIGINT. `announce` gets one line when it listens.

    `composition` stands in place of the one that the settings ask for; for `further` and `inner` see CondenseServer. A
    second signal ends the process at once. Raises SettingsInvalid, CannotListen, and what a store raises when it
    cannot be opened.
    """
    tune_allocator()
    tune_switching()
    composition = composition or compose(settings)
    loop = asyncio.get_running_loop()
    stopped = _stop_signal(loop)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(composition.close)
        await composition.engine.start()
        grace = _Grace(loop, settings.shutdown_grace_seconds)
        stack.push_async_callback(lambda: composition.engine.close(grace.left()))
        server = CondenseServer(composition, settings, further, inner)
        stack.push_async_callback(lambda: server.stop(grace.left()))
        address = await server.start()
        tune_collector()
        use_huge_pages()
        engine = composition.engine
        announce(
            f"condense-grpc {version('condense-grpc')} listening on {address} "
            f"(store {engine.store_kind}, summarizer {engine.summarizer_name})"
        )
        await stopped.wait()
        logger.info("stopping")


class _Grace:
    """The time for a stop; it runs from the first question on, for all that has to be stopped together."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._end: float | None = None

    def left(self) -> float:
        """What is left of it in seconds."""
        if self._end is None:
            self._end = self._loop.time() + self._seconds
        return max(0.0, self._end - self._loop.time())


def _stop_signal(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT, which also gives both back their usual effect."""
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(name)

    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop)
    return stopped
