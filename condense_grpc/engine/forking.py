"""Forking: a new session with the same messages, decisions and settings; from then on independent."""

from dataclasses import replace

from condense_grpc.engine.ports import Clock, SessionRow, Store
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.shielding import completed
from condense_grpc.errors import TranscriptMismatch


async def fork_session(
    store: Store, registry: Registry, clock: Clock, source_id: str, row: SessionRow, base_length: int | None
) -> None:
    """Copy the active path of a session, up to `base_length` messages, under the id, labels and request id of `row`."""
    async with registry.locked(source_id) as live:
        await registry.persist(live)
        state = live.state
        transcript = state.transcript
        length = len(transcript) if base_length is None else base_length
        if length > len(transcript):
            raise TranscriptMismatch(length, len(transcript), transcript.etag)
        commits = [commit for commit in state.decisions.commits if commit.anchor_length <= length]
        copy = replace(
            state.row,
            session_id=row.session_id,
            create_time_ms=clock.now_ms(),
            update_time_ms=clock.now_ms(),
            head_node=transcript.nodes[length - 1] if length else 0,
            head_commit=commits[-1].number if commits else 0,
            length=length,
            labels=row.labels,
            create_request_id=row.create_request_id,
        )
        nodes = transcript.nodes[:length]
        await completed(store.fork(source_id, copy, nodes, [commit.number for commit in commits]))
        failures = dict(state.failure_counts)
    async with registry.locked(row.session_id) as forked:
        forked.state.failure_counts = failures
