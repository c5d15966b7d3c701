"""Sessions as a whole: made, listed, changed, forked, removed."""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from condense_grpc.domain.config import SessionConfig, merge
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.config_codec import config_to_json
from condense_grpc.engine.forking import forked_facts, state_at, taken_along
from condense_grpc.engine.offloading import offloaded
from condense_grpc.engine.ports import SessionFilter, SessionRow
from condense_grpc.engine.repath import find_paths
from condense_grpc.engine.requests import Delta, SessionInfo
from condense_grpc.engine.session_info import info_of_row, session_info
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.tools import Tools
from condense_grpc.errors import SessionAlreadyExists, SessionNotFound, TranscriptMismatch

Maker: TypeAlias = Callable[[], SessionRow]


@frozen
class ForkBase:
    """What to copy: a session, up to a length of its client's history (None: all) that ends with this etag, if any."""

    source_id: str
    length: int | None = None
    etag: str = ""
    keeps_labels: bool = False


class Sessions:
    """The use cases about whole sessions. Safe to share."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._store, self._registry = tools.store, tools.registry

    def new_row(
        self, session_id: str, config: Mapping[str, Any], labels: Mapping[str, str], request_id: str = ""
    ) -> SessionRow:
        """The row of a session that is to be made; an empty id has one made, the same for the same request."""
        now_ms = self._tools.clock.now_ms()
        return SessionRow(
            session_id or _made_id(request_id),
            now_ms,
            now_ms,
            labels=dict(labels),
            config_json=config_to_json(merge(SessionConfig(), dict(config))),
            create_request_id=request_id,
        )

    async def create(self, row: SessionRow) -> SessionInfo:
        """Make a session, or give the one that the same request made before."""
        try:
            await self._registry.create(row)
        except SessionAlreadyExists:
            await self.require_same_request(row)
        return await self.get(row.session_id)

    async def require_same_request(self, row: SessionRow) -> None:
        """A repeated creation is fine when it is the same request."""
        existing = await self._store.read_row(row.session_id)
        asked = row.create_request_id
        if existing is None or not asked or existing.create_request_id != asked:
            raise SessionAlreadyExists(row.session_id)

    def maker(self, session_id: str, delta: Delta | None, create: Mapping[str, Any] | None = None) -> Maker | None:
        """What makes the session of a request when there is none; None if it does not ask for that.

        `create`: the settings for it when the request brings no delta.
        """
        if delta is not None:
            return partial(self._row_for, session_id, delta) if delta.create_if_missing else None
        return None if create is None else partial(self.new_row, session_id, create, {})

    def _row_for(self, session_id: str, delta: Delta) -> SessionRow:
        """Whoever builds on messages has to send them again."""
        if delta.base_length:
            raise TranscriptMismatch(delta.base_length, 0, "")
        return self.new_row(session_id, delta.config, {})

    async def get(self, session_id: str) -> SessionInfo:
        """One session. Raises SessionNotFound."""
        async with self._registry.locked(session_id) as live:
            return await session_info(self._tools.bodies, live.state)

    async def list(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionInfo]:
        """Sessions by id, those behind `after_id` first.

        One that is not loaded is told by what its row says of it. One whose row says nothing (it was never at rest
        since it changed: a process has ended before) is loaded.
        """
        found: list[SessionInfo] = []
        for row in await self._store.list_rows(where, after_id, limit):
            session_id, info = row.session_id, None
            if self._registry.find(session_id) is None:
                info = self._registry.find_info(session_id) or info_of_row(row)
            try:
                found.append(info or await self.get(session_id))
            except SessionNotFound:
                continue
        return found

    async def update(self, session_id: str, config: Mapping[str, Any], labels: Mapping[str, str] | None) -> SessionInfo:
        """Change settings and labels."""
        async with self._registry.locked(session_id) as live:
            state = live.state
            merged = merge(state.config, dict(config))
            has_other_paths = merged.path_arguments != state.config.path_arguments
            if has_other_paths:
                await self._registry.persist(live)
                skeletons = await find_paths(self._tools.bodies, state, merged.path_arguments)
                state.take_paths(merged, skeletons)
            before = state.config, dict(state.row.labels)
            state.configure(merged, None if labels is None else dict(labels))
            try:
                await self._registry.persist(live)
            except Exception:
                # A change that was refused must not come true by a later write.
                if has_other_paths:
                    self._registry.discard(live)
                state.configure(*before)
                raise
            return await session_info(self._tools.bodies, state)

    async def fork(self, base: ForkBase, row: SessionRow) -> SessionInfo:
        """Copy the active path of a session, up to a base, and all that was decided; the rest is as `row` says."""
        try:
            failures = await self._copy(base, row)
        except SessionNotFound:
            # The answer to a request that was made before does not need the original any more.
            if await self._store.read_row(row.session_id) is None:
                raise
            await self.require_same_request(row)
            return await self.get(row.session_id)
        except SessionAlreadyExists:
            await self.require_same_request(row)
            return await self.get(row.session_id)
        async with self._registry.locked(row.session_id) as forked:
            forked.state.failure_counts = failures
            return await session_info(self._tools.bodies, forked.state)

    async def _copy(self, base: ForkBase, row: SessionRow) -> dict[str, int]:
        """Copy in the store; the failure counts of the source, which the store does not know."""
        async with self._registry.locked(base.source_id) as live:
            await self._registry.persist(live)
            state, transcript = live.state, live.state.transcript
            end = transcript.element_count if base.length is None else base.length
            length = transcript.check_base(end, base.etag)
            if length < len(transcript):
                state = await offloaded(len(transcript), lambda: state_at(live.state, length))
            taken = partial(taken_along, state)
            nodes, commits = await offloaded(len(transcript) + transcript.left_count, taken)
            copy = replace(
                state.row,
                session_id=row.session_id,
                create_time_ms=row.create_time_ms,
                update_time_ms=row.update_time_ms,
                head_node=state.transcript.head_node,
                head_commit=state.decisions.head,
                length=length,
                labels=state.row.labels if base.keeps_labels else row.labels,
                create_request_id=row.create_request_id,
                facts_json=json.dumps(forked_facts(state)),
            )
            await completed(self._store.fork(base.source_id, copy, nodes, commits))
            return dict(state.failure_counts)


def _made_id(request_id: str) -> str:
    seed = hashlib.sha256(request_id.encode()).hexdigest() if request_id else secrets.token_hex(16)
    return f"s-{seed[:24]}"
