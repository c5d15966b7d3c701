"""The composition root: which store, which summarizer and which clock a server works with.

Stores and summarizers are imported when they are chosen, so that one whose packages are missing costs nothing, and
says what is missing when it is wanted.
"""

import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.engine import Engine, EngineOptions
from condense_grpc.engine.ports import Store
from condense_grpc.engine.residence import Residence, WriteWindow
from condense_grpc.server.allocator import give_back
from condense_grpc.server.convert.capabilities import Offered
from condense_grpc.settings import ServerSettings, SettingsInvalid
from condense_grpc.summarize.providers.names import EXTRACTIVE
from condense_grpc.summarize.setup import nothing_to_close, set_up

_DATABASE = "condense.db"


class SystemClock:
    """The clock of the machine."""

    def now_ms(self) -> int:
        """See Clock."""
        return time.time_ns() // 1_000_000


@frozen
class Composition:
    """What a server is made of. `offered`: the summarizers that sessions can name.

    `close` is awaited behind the engine's end.
    """

    engine: Engine
    offered: tuple[Offered, ...]
    close: Callable[[], Awaitable[None]] = nothing_to_close


def compose(settings: ServerSettings) -> Composition:
    """The engine that the settings ask for, not started yet. Raises SettingsInvalid."""
    clock = SystemClock()
    summaries = set_up(settings, os.environ, clock)
    engine = Engine(make_store(settings.store), summaries.summarizer, clock, engine_options(settings))
    offered = tuple(
        Offered(name, is_default=name == summaries.summarizer.name, is_remote=name != EXTRACTIVE)
        for name in summaries.offered
    )
    return Composition(engine, offered, summaries.close)


def engine_options(settings: ServerSettings) -> EngineOptions:
    """What the settings say about the engine."""
    return EngineOptions(
        concurrency=settings.summarize_concurrency,
        sessions_kept=settings.max_loaded_sessions,
        works_ahead=settings.summarize_in_background,
        residence=Residence(
            rest_seconds=settings.session_rest_seconds,
            evict_seconds=settings.session_evict_seconds,
            memory_bytes=settings.session_memory_bytes,
        ),
        window=WriteWindow(settings.max_unwritten_bytes, settings.max_unwritten_messages),
        give_back=give_back,
    )


def make_store(address: str) -> Store:
    """The store at an address, not opened yet. Raises SettingsInvalid."""
    scheme, _, rest = address.partition(":")
    if scheme == "memory" and not rest:
        from condense_grpc.store.memory import MemoryStore

        return MemoryStore()
    if scheme == "sqlite" and (not rest or (rest.startswith("///") and rest != "///")):
        from condense_grpc.store.sqlite import SqliteStore

        return SqliteStore(Path(rest[3:]) if rest else default_database())
    raise SettingsInvalid(
        "store: must be sqlite:///relative/path, sqlite:////absolute/path, sqlite: (a file in the user's data folder) "
        "or memory:"
    )


def default_database() -> Path:
    """The database in the user's data folder, which is made if need be, for this user only."""
    folder = data_folder() / "condense-grpc"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / _DATABASE


def data_folder() -> Path:
    """Where programs keep the data of this user."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    chosen = os.environ.get("XDG_DATA_HOME", "")
    return Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".local" / "share"
