"""Pi session files for tests, written line by line as a host writes them."""

import json
from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.json_text import compact
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.requests import ImportResult
from tests.engine.harness import QUIET

START_MS = 1_700_000_000_000
TIME = "2023-11-14T22:13:20.000Z"


class PiWriter:
    """A file on its way. Entries are numbered e1, e2, ...; each follows the one before unless `parent` says else."""

    def __init__(self, session_id: str = "pi-1", **header: Any) -> None:
        value = {"type": "session", "version": 3, "id": session_id, "timestamp": TIME, "cwd": "/home/me"} | header
        self.lines: list[str] = [compact(value)]
        self.last: str | None = None
        self.clock = START_MS
        self._count = 0

    def raw(self, line: str) -> None:
        self.lines.append(line)

    def add(self, kind: str, *, parent: str | None = "", time: str = TIME, **members: Any) -> str:
        """An entry whose own members come last, as messages have them."""
        self._count += 1
        entry_id = f"e{self._count}"
        parent_id = self.last if parent == "" else parent
        place = {"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": time}
        self.raw(compact(place | members))
        self.last = entry_id
        return entry_id

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def message(self, **members: Any) -> str:
        return self.add("message", message={"timestamp": self.tick()} | members)

    def user(self, text: str = "go", **more: Any) -> str:
        return self.message(role="user", content=text, **more)

    def call(self, *ids: str, name: str = "bash", arguments: Any = None) -> str:
        blocks = [{"type": "toolCall", "id": one, "name": name, "arguments": arguments or {"n": 1}} for one in ids]
        return self.message(role="assistant", content=blocks)

    def result(self, tool_call_id: str, text: str = "out", name: str = "bash", **more: Any) -> int:
        content = [{"type": "text", "text": text}]
        value = {"toolCallId": tool_call_id, "toolName": name, "content": content, "isError": False} | more
        self.message(role="toolResult", **value)
        return self.clock

    def answer(self, text: str = "done") -> str:
        return self.message(role="assistant", content=[{"type": "text", "text": text}])

    def custom(self, custom_type: str, data: Any) -> str:
        return self.add("custom", customType=custom_type, data=data)

    def summary(self, text: str, refs: Sequence[Any], names: Sequence[str] = ("bash",)) -> str:
        details = {"toolCallRefs": list(refs), "toolNames": list(names), "turnIndex": 0, "timestamp": START_MS}
        kind = "context-prune-summary"
        return self.add("custom_message", customType=kind, content=text, display=False, details=details)

    @property
    def data(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode("utf-8", "surrogateescape")


def record(tool_call_id: str, time_ms: int, text: str, **more: Any) -> dict[str, Any]:
    """An index record as an extension of the host writes it."""
    value = {"toolCallId": tool_call_id, "toolName": "bash", "args": {"n": 1}, "resultText": text, "isError": False}
    return value | {"turnIndex": 0, "timestamp": START_MS, "resultTimestamp": time_ms} | more


def ref(short_id: str, tool_call_id: str, time_ms: int) -> dict[str, Any]:
    return {"shortId": short_id, "toolCallId": tool_call_id, "resultTimestamp": time_ms}


async def import_data(
    engine: Engine,
    data: bytes,
    session_id: str = "",
    files: dict[str, bytes] | None = None,
    request_id: str = "",
    is_native: bool = False,
    **config: Any,
) -> ImportResult:
    """Import a file, piece by piece."""
    file = PiFile()
    for start in range(0, len(data), 1000):
        file.add(data[start : start + 1000])
    for path, content in (files or {}).items():
        for start in range(0, len(content), 7):
            file.add_file(path, content[start : start + 7])
    file.finish()
    await engine.start()
    return await engine.import_session(
        file, session_id, config=QUIET | config, labels={}, request_id=request_id, is_native=is_native
    )


async def export_data(engine: Engine, session_id: str) -> bytes:
    return b"".join([chunk async for chunk in engine.export_session(session_id)])


def entries_of(data: bytes) -> list[dict[str, Any]]:
    """The entries of a file, without its header."""
    return [json.loads(line) for line in data.splitlines()[1:]]


def assert_linked(data: bytes) -> None:
    """Every entry names the one before it, and no two have one id."""
    entries = entries_of(data)
    ids = [entry["id"] for entry in entries]
    assert len(set(ids)) == len(ids)
    assert [entry["parentId"] for entry in entries] == [None, *ids][: len(ids)]
