"""Bodies of messages: from memory while they are not written yet, else from a bounded cache or the store."""

from collections import OrderedDict
from collections.abc import Iterable

from condense_grpc.domain.messages import Message
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.ports import Changes, Store
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import RevisionConflict


class BodyCache:
    """The most recently used encoded bodies of all sessions, up to a number of bytes. For one event loop."""

    def __init__(self, store: Store, capacity_bytes: int = 64 * 1024 * 1024) -> None:
        self._store = store
        self._capacity_bytes = capacity_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()

    async def messages(self, state: SessionState, positions: Iterable[int]) -> dict[int, Message]:
        """The messages at these positions of the transcript."""
        transcript = state.transcript
        wanted = {transcript.nodes[position]: position for position in positions}
        encoded = await self.encoded(state, wanted)
        return {
            position: decode_message(encoded[node], transcript.skeletons[position].timestamp_ms or 0)
            for node, position in wanted.items()
        }

    async def encoded(self, state: SessionState, nodes: Iterable[int]) -> dict[int, bytes]:
        """The bytes of these nodes, of whatever branch.

        Raises RevisionConflict when the store does not have one of them any more: somebody has deleted the session.
        """
        session = (state.row.session_id, state.row.create_time_ms)
        found: dict[int, bytes] = {}
        missing: list[int] = []
        for node in nodes:
            cached = state.transcript.waiting_body(node)
            if cached is None:
                cached = self._kept.get((*session, node))
            if cached is None:
                missing.append(node)
            else:
                found[node] = cached
        if missing:
            for node, body in (await self._store.read_bodies(session[0], missing)).items():
                found[node] = body
                self._keep((*session, node), body)
            if any(node and node not in found for node in missing):
                raise RevisionConflict(session[0])
        return found

    def take_in(self, state: SessionState, changes: Changes) -> None:
        """Keep the bodies that were just written: the newest ones are asked for first."""
        bodies = {message.node: message.body for message in changes.messages} | dict(changes.bodies)
        for node, body in bodies.items():
            self._keep((state.row.session_id, state.row.create_time_ms, node), body)

    def forget(self, session_id: str) -> None:
        """Drop the bodies of a session that was deleted."""
        for key in [key for key in self._kept if key[0] == session_id]:
            self._bytes -= len(self._kept.pop(key))

    def _keep(self, key: tuple[str, int, int], body: bytes) -> None:
        if len(body) > self._capacity_bytes // 8:
            return
        previous = self._kept.pop(key, b"")
        self._kept[key] = body
        self._bytes += len(body) - len(previous)
        while self._bytes > self._capacity_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped)
