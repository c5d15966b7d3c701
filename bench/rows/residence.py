"""Sessions in memory: what an idle one takes, and how long it takes to load a long one.

Both are measured in a process that holds nothing but the engine, over a database that a server has written before.
"""

import json
import subprocess
import sys
from pathlib import Path

from bench.ground import ENVIRONMENT, Ground
from bench.histories import Shape
from bench.resident import RESIDENTS
from bench.table import Row


def memory_of_an_idle_session(rounds: int) -> Row:
    """Resident memory of sessions that were loaded, rendered, and then not used for a minute, per session."""
    with Ground() as ground:
        first = ground.session(1000, Shape.of(1000, 2_000_000))
        names = [ground.fork(first).name for _ in range(RESIDENTS + 5)]
        ground.stop()
        facts = _in_child("memory", ground.database, names)
        ground.start()
    return Row(
        "memory",
        "an idle loaded session of 1 000 messages, 2 MB",
        facts["bytes"] / 1000,
        300,
        unit="KB",
        facts={
            "sessions": RESIDENTS,
            "in_use_kb": facts["in_use_bytes"] / 1000,
            "next_view_ms": 1000 * facts["wake_seconds"],
        },
    )


def loading_a_session(rounds: int) -> Row:
    """From the first touch of a session that is not loaded to its first view."""
    with Ground() as ground:
        first = ground.session(10_000, Shape.of(10_000, 20_000_000))
        names = [ground.fork(first).name for _ in range(8)]
        ground.stop()
        facts = _in_child("load", ground.database, names)
        ground.start()
    return Row(
        "load",
        "loading 10 000 messages from SQLite, with the first view",
        1000 * facts["seconds"],
        150,
        unit="ms",
        facts={"load_alone_ms": 1000 * facts["load_seconds"]},
    )


def _in_child(what: str, database: Path, names: list[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.resident", what, str(database), *names]
    facts: dict[str, float] = json.loads(subprocess.check_output(command, text=True, env=ENVIRONMENT))
    return facts
