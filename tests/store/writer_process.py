"""A process that owns a store, for tests: `python -m tests.store.writer_process <database> <what>`.

`hold` opens the database, says so and waits for its end. `write` writes without end and prints each session and
number of messages once the write was acknowledged. `full` writes under a limit for the size of files until that
fails, then without it.
"""

import asyncio
import itertools
import resource
import sys
from dataclasses import replace

from condense_grpc.engine.ports import Changes, SessionRow
from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.store_samples import message, row_of


def body_of(session_id: str, node: int) -> bytes:
    return (f"{session_id} {node} " * 400).encode()


def say(line: str) -> None:
    print(line, flush=True)


async def write_without_end(store: SqliteStore, session_id: str) -> None:
    row = await store.create(row_of(session_id))
    for count in itertools.count(1):
        nodes = (2 * count - 1, 2 * count)
        new = [message(node, body_of(session_id, node)) for node in nodes]
        row = await store.write(Changes(replace(row, length=nodes[1]), new))
        say(f"{session_id} {row.length}")


async def write_until_full(store: SqliteStore) -> None:
    row = await store.create(row_of("s"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
    row = await _fill(store, row)
    found = await store.read_row("s")
    say(f"full, as before: {found == row}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    row = await store.write(Changes(row, [message(row.version)]))
    bodies = await store.read_bodies("s", range(1, row.version + 1))
    say(f"written again: {len(bodies) == row.version - 1}")


async def _fill(store: SqliteStore, row: SessionRow) -> SessionRow:
    for _ in range(1000):
        noise = b"".join(hash((row.version, n)).to_bytes(8, "big", signed=True) for n in range(2000))
        try:
            row = await store.write(Changes(row, [message(row.version, noise)]))
        except StoreUnavailable as error:
            say(type(error).__name__)
            return row
    raise AssertionError("the limit was never reached")


async def main(path: str, what: str) -> None:
    store = SqliteStore(path)
    await store.open()
    say("open")
    if what == "write":
        await asyncio.gather(*(write_without_end(store, session_id) for session_id in ("a", "b", "c")))
    elif what == "full":
        await write_until_full(store)
    else:
        await asyncio.to_thread(sys.stdin.read)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
