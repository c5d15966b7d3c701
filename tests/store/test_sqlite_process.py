"""What only a second process can show: who owns a database, and what is left when its owner is killed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from condense_grpc.engine.ports import Changes
from condense_grpc.store.errors import StoreInUse
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.store_samples import message, row_of
from tests.store.writer_process import body_of

ROOT = Path(__file__).parents[2]


@contextmanager
def process(path: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.store.writer_process", str(path), what]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "open\n"
            yield running
        finally:
            running.kill()


async def test_second_owner_is_refused_until_the_first_is_dead(tmp_path: Path) -> None:
    """Another process, a link to the file, the same process: all are told; SIGKILL frees the database."""
    path, link, other_name = tmp_path / "s.sqlite", tmp_path / "link.sqlite", tmp_path / "hard.sqlite"
    link.symlink_to(path)
    path.touch(0o600)
    other_name.hardlink_to(path)
    with process(path, "hold") as owner:
        for name in (path, link, other_name):
            with pytest.raises(StoreInUse, match="another running process"):
                await SqliteStore(name).open()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        store = SqliteStore(link)
        await store.open()
        for name in (path, other_name):
            with pytest.raises(StoreInUse):
                await SqliteStore(name).open()
        await store.close()
        again = SqliteStore(other_name)
        await again.open()
        await again.close()


@pytest.mark.parametrize("acknowledged", [1, 17, 60])
async def test_everything_acknowledged_survives_a_kill(tmp_path: Path, acknowledged: int) -> None:
    """Killed in the middle of writes: each session has at least what was acknowledged, in whole writes, readable."""
    path = tmp_path / "s.sqlite"
    with process(path, "write") as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(acknowledged)]
        writer.kill()
        lines += writer.stdout.read().splitlines(keepends=True)
    known = {session_id: int(length) for session_id, length in (line.split() for line in lines if line.endswith("\n"))}
    assert known
    store = SqliteStore(path)
    await store.open()
    for session_id, length in known.items():
        loaded = await store.load(session_id)
        assert loaded is not None
        nodes = [one.node for one in loaded.messages]
        assert length <= loaded.row.length <= length + 2
        assert nodes == list(range(1, loaded.row.length + 1))
        assert loaded.row.version == 1 + loaded.row.length // 2
        assert await store.read_bodies(session_id, nodes) == {node: body_of(session_id, node) for node in nodes}
        await store.write(Changes(loaded.row, [message(loaded.row.length + 1)]))
    await store.create(row_of("new"))
    await store.close()


def test_full_disk_is_unavailable_and_passes(tmp_path: Path) -> None:
    """A write that the disk refuses changes nothing; when there is room again, the same store goes on."""
    with process(tmp_path / "s.sqlite", "full") as writer:
        assert writer.stdout is not None
        assert writer.stdout.read().splitlines() == ["StoreUnavailable", "full, as before: True", "written again: True"]
        assert writer.wait() == 0
