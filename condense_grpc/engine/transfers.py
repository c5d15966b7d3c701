"""Sessions moving in and out, as Pi session files.

An import makes the whole session in one write, or nothing. An export is the state at its start; it holds no lock
while the client reads, and a few megabytes of bodies at a time.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, replace

from condense_grpc.engine.carried import carried_file
from condense_grpc.engine.config_codec import config_from_json
from condense_grpc.engine.pi_export import header_line, write_line
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.pi_import import import_file
from condense_grpc.engine.pi_plan import PlannedLine, Snapshot, plan_lines
from condense_grpc.engine.ports import Changes, SessionRow, StoredDiagnostic
from condense_grpc.engine.requests import ImportCounts, ImportResult
from condense_grpc.engine.sessions import Sessions
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.tools import Tools
from condense_grpc.errors import SessionAlreadyExists, SessionNotFound

CHUNK_BYTES = 1024 * 1024
_BATCH_CHARS = 2 * 1024 * 1024
_BATCH_LINES = 500
# What a line is taken to need whose size is not known.
_UNKNOWN_CHARS = 16 * 1024
_IMPORT_FACT = "import"
_DIAGNOSTICS_FACT = "importedDiagnostics"


class Transfers:
    """Import and export. Safe to share."""

    def __init__(self, tools: Tools, sessions: Sessions) -> None:
        self._tools = tools
        self._sessions = sessions

    async def import_session(self, row: SessionRow, file: PiFile, *, is_native: bool) -> ImportResult:
        """Make the session of `row` out of a file that is complete, or give the one that the same request made."""
        try:
            await self._make(row, file, is_native=is_native)
        except SessionAlreadyExists:
            await self._sessions.require_same_request(row)
        info = await self._sessions.get(row.session_id)
        async with self._tools.registry.locked(row.session_id) as live:
            return ImportResult(info, ImportCounts(**live.state.facts.get(_IMPORT_FACT, {})))

    async def _make(self, row: SessionRow, file: PiFile, *, is_native: bool) -> None:
        if await self._tools.store.read_row(row.session_id) is not None:
            raise SessionAlreadyExists(row.session_id)
        config, now_ms = config_from_json(row.config_json), row.create_time_ms
        made = await asyncio.to_thread(import_file, file, row.session_id, config, now_ms, is_native=is_native)
        noticed = len(made.diagnostics)
        facts = {_IMPORT_FACT: asdict(made.counts), _DIAGNOSTICS_FACT: noticed, "nextDiagnostic": noticed + 1}
        row = replace(
            row,
            head_node=made.head_node,
            head_commit=made.head_commit,
            length=made.length,
            facts_json=json.dumps(facts),
        )
        content = Changes(row, made.messages, made.commits, made.diagnostics)
        await completed(self._tools.store.create(row, content))

    async def export_session(self, session_id: str) -> AsyncGenerator[bytes, None]:
        """The file, in chunks of at most a mebibyte. Raises SessionNotFound, also when the session goes meanwhile."""
        snapshot = await self._snapshot(session_id)
        file = await asyncio.to_thread(carried_file, snapshot.commits)
        lines = await asyncio.to_thread(plan_lines, snapshot, file)
        waiting = bytearray(header_line(snapshot.row, file) + b"\n")
        start = 0
        while start < len(lines):
            batch = _batch(lines, start)
            start += len(batch)
            nodes = sorted({node for line in batch for node in line.nodes})
            bodies = await self._tools.store.read_bodies(session_id, nodes)
            if len(bodies) < len(nodes):
                raise SessionNotFound(session_id)
            waiting += await asyncio.to_thread(_written, batch, bodies)
            while len(waiting) >= CHUNK_BYTES:
                yield bytes(waiting[:CHUNK_BYTES])
                del waiting[:CHUNK_BYTES]
        if waiting:
            yield bytes(waiting)

    async def _snapshot(self, session_id: str) -> Snapshot:
        async with self._tools.registry.locked(session_id) as live:
            await self._tools.registry.persist(live)
            state = live.state
            transcript = state.transcript
            noticed = await self._diagnostics(session_id, int(state.facts.get(_DIAGNOSTICS_FACT, 0)))
            return Snapshot(
                row=state.row,
                nodes=tuple(transcript.nodes),
                times_ms=[skeleton.timestamp_ms or 0 for skeleton in transcript.skeletons],
                sizes=[skeleton.json_chars for skeleton in transcript.skeletons],
                digests=tuple(transcript.digests),
                commits=tuple(state.decisions.commits),
                diagnostics=[
                    replace(one, transcript_length=transcript.place_of(one.transcript_length)[0]) for one in noticed
                ],
            )

    async def _diagnostics(self, session_id: str, after: int) -> list[StoredDiagnostic]:
        found: list[StoredDiagnostic] = []
        while page := await self._tools.store.read_diagnostics(session_id, after, _BATCH_LINES):
            found += page
            after = page[-1].number
        return found


def _written(batch: Sequence[PlannedLine], bodies: Mapping[int, bytes]) -> bytes:
    return b"".join(write_line(line, bodies) + b"\n" for line in batch)


def _batch(lines: Sequence[PlannedLine], start: int) -> list[PlannedLine]:
    """The next lines: as many as may be in memory together, at least one."""
    batch: list[PlannedLine] = []
    chars = 0
    for line in lines[start : start + _BATCH_LINES]:
        chars += line.size + _UNKNOWN_CHARS * (len(line.nodes) if line.carried or line.entry else 0)
        if batch and chars > _BATCH_CHARS:
            break
        batch.append(line)
    return batch
